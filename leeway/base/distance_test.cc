// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/base/distance.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Distance, IsNeverSaidToBeLess) {
  const u64 large = (u64(1) << 60) + 1;
  EXPECT_EQ(rounded_up(large), 0x1p60 + 256);
  EXPECT_EQ(rounded_down(large), 0x1p60);
  EXPECT_EQ(rounded_up(u64(1) << 60), 0x1p60);
  EXPECT_EQ(rounded_up(std::numeric_limits<u64>::max()), 0x1p64);
  EXPECT_EQ(rounded_down(std::numeric_limits<u64>::max()), 0x1p64 - 2048);
  EXPECT_EQ(error_between(std::numeric_limits<i64>::min(), std::numeric_limits<i64>::max()),
            0x1p64);
  EXPECT_EQ(error_between(1.0, 0x1p-60), 1.0);                        // a little less
  EXPECT_EQ(error_between(1.0, -0x1p-60), std::nextafter(1.0, 2.0));  // a little more
  EXPECT_EQ(error_between(-0x1p-60f, 1.0f), std::nextafter(1.0, 2.0));
  EXPECT_EQ(error_between(3.5f, -1.25f), 4.75);
  EXPECT_TRUE(std::isnan(error_between(1.0, double(NAN))));
  EXPECT_TRUE(std::isnan(error_between(double(NAN), 1.0)));
  EXPECT_EQ(error_between(1.7e308, -1.7e308), INFINITY);
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const auto a = from_bits<float>(random()), b = from_bits<float>(random());
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    const double error = error_between(a, b);
    EXPECT_GE((long double)error, exact_error(a, b));
    EXPECT_LE(std::nextafter(error, 0.0), exact_error(a, b));
  }
}

TEST(Distance, RangesAreExactOrRoundedDown) {
  const auto lowest = std::numeric_limits<i64>::min(), highest = std::numeric_limits<i64>::max();
  EXPECT_EQ(Range::of(lowest, highest).size(), 0x1p64 - 2048);
  EXPECT_EQ(Range::of(lowest, i64(lowest + 3)).size(), 3);
  EXPECT_EQ(Range::of(u64(highest), u64(highest) + 130).size(), 130);
  EXPECT_EQ(Range::of(i8(-128), i8(127)).size(), 255);
  EXPECT_EQ(Range::of(-1.7e308, 1.7e308).size(), std::numeric_limits<double>::max());
  EXPECT_GT(relative_bound(0.1, Range::of(-1.7e308, 1.7e308)), 3.39e307);
  Range parts = Range::of(highest, highest);
  parts.join(Range::of(i64(highest - 5), i64(highest - 2)));
  EXPECT_EQ(parts.size(), 5);
}

}  // namespace
}  // namespace leeway::test
