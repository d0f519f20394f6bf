// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/lossless/zstd.h"

#include "leeway/lossless/lossless_test.h"

namespace leeway::test {
namespace {

TEST(Zstd, RoundTripsAndSurvivesDamage) {
  check_lossless(Zstd());
  Zstd strong;
  strong.params.level = 19;
  check_lossless(strong);
}

TEST(Zstd, RefusesMoreThanTheLimit) { check_limit(Zstd()); }

}  // namespace
}  // namespace leeway::test
