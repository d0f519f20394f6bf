// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/lossless/shuffle.h"

#include <algorithm>

#include "leeway/lossless/lossless_test.h"

namespace leeway::test {
namespace {

TEST(Shuffle, RoundTripsAndSurvivesDamage) {
  for (const int bytes : {2, 3, 4, 8, 16}) check_lossless(Shuffle{.params = {.bytes = bytes}});
}

TEST(Shuffle, RefusesMoreThanTheLimit) { check_limit(Shuffle()); }

TEST(Shuffle, PutsBytesOfEqualWeightTogether) {
  Writer out;
  Shuffle{.params = {.bytes = 2}}.compress(Bytes{1, 10, 2, 20, 3, 30, 4}, out);
  EXPECT_TRUE(std::ranges::equal(out.bytes(), Bytes{1, 2, 3, 10, 20, 30, 4}));
}

}  // namespace
}  // namespace leeway::test
