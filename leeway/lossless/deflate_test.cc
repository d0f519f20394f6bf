// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/lossless/deflate.h"

#include "leeway/lossless/lossless_test.h"

namespace leeway::test {
namespace {

TEST(Deflate, RoundTripsAndSurvivesDamage) {
  check_lossless(Deflate());
  check_lossless(Deflate{.params = {.level = 1}});
  check_lossless(Deflate{.params = {.level = 12}});
}

TEST(Deflate, RefusesMoreThanTheLimit) { check_limit(Deflate()); }

}  // namespace
}  // namespace leeway::test
