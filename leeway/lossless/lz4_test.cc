// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/lossless/lz4.h"

#include "leeway/lossless/lossless_test.h"

namespace leeway::test {
namespace {

TEST(Lz4, RoundTripsAndSurvivesDamage) {
  check_lossless(Lz4());
  check_lossless(Lz4{.params = {.level = 1}});
  check_lossless(Lz4{.params = {.level = 12}});
}

TEST(Lz4, RefusesMoreThanTheLimit) { check_limit(Lz4()); }

}  // namespace
}  // namespace leeway::test
