// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stage/bound.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Bound, LimitsAreJoined) {
  const Bound bound = Bound::abs(0.5) && Bound::psnr(80);
  EXPECT_EQ(to_string(bound), "abs=0.5,psnr=80");
  EXPECT_TRUE(bound.has(BoundKind::abs));
  EXPECT_FALSE(bound.has(BoundKind::rel));
  EXPECT_EQ(to_string(Bound()), "");
  EXPECT_EQ(to_string(Bound::lossless()), "lossless");
}

TEST(Bound, ValuesThatMakeNoSenseAreRefused) {
  for (const double value : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    for (u8 id = 1; is_bound_kind(id); ++id) {
      const BoundKind kind = BoundKind(id);
      if (kind == BoundKind::lossless)
        EXPECT_NO_THROW(Bound().add(kind, value));
      else
        EXPECT_THROW(Bound().add(kind, value), Error) << name_of(kind) << " " << value;
    }
}

TEST(Bound, NamesAreFound) {
  for (u8 id = 1; is_bound_kind(id); ++id)
    EXPECT_EQ(parse_bound_kind(name_of(BoundKind(id))), BoundKind(id));
  EXPECT_FALSE(is_bound_kind(0));
  EXPECT_FALSE(is_bound_kind(9));
  try {
    parse_bound_kind("absolute");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "there is no bound 'absolute'; there are abs, rel, psnr, l2, lossless, ratio, "
                 "rate, pointwise");
  }
}

TEST(Bound, WhatMustBeKnownToResolveIt) {
  struct Case {
    Bound bound;
    bool range, measurement, size, lasting;
  };
  for (const Case& c : {Case{Bound::abs(1), false, false, false, true},
                        Case{Bound::rel(1), true, false, false, false},
                        Case{Bound::psnr(50), true, true, false, false},
                        Case{Bound::l2(1), false, true, false, false},
                        Case{Bound::lossless(), false, false, false, true},
                        Case{Bound::ratio(10), true, false, true, false},
                        Case{Bound::rate(4), true, false, true, false},
                        Case{Bound::pointwise(0.01), true, false, false, true}}) {
    EXPECT_EQ(c.bound.needs_range(), c.range) << to_string(c.bound);
    EXPECT_EQ(c.bound.needs_measurement(), c.measurement) << to_string(c.bound);
    EXPECT_EQ(c.bound.wants_size(), c.size) << to_string(c.bound);
    EXPECT_EQ(c.bound.is_lasting(), c.lasting) << to_string(c.bound);
  }
}

TEST(Bound, RelativeBoundsAreNeverRoundedUp) {
  for (const double rel : {1e-12, 1e-3, 0.3, 1.0})
    for (const double size : {1e-30, 1.0, 3.7e11, 1e300}) {
      const double bound = relative_bound(rel, Range::of(-size / 3, size));
      const long double exact = (long double)(rel) * ((long double)(size) + size / 3);
      EXPECT_LE((long double)(bound), exact);
      EXPECT_GE((long double)(bound), exact * (1 - 1e-14L));
    }
  constexpr double kMost = std::numeric_limits<double>::max();
  EXPECT_GT(relative_bound(1e-3, Range::of(-kMost, kMost)), 1e-3 * kMost);
  EXPECT_GT(relative_bound(1, Range::of(-kMost, kMost)), 0.99 * kMost);
}

TEST(Bound, RangesOfLongIntegersAreExact) {
  constexpr i64 kLow = std::numeric_limits<i64>::min(), kHigh = std::numeric_limits<i64>::max();
  EXPECT_EQ(Range::of(kHigh - 1, kHigh).size(), 1);
  EXPECT_EQ(Range::of(kLow, kLow + 3).size(), 3);
  EXPECT_LE(Range::of(kLow, kHigh).size(), 0x1p64);
  Range range = Range::of(kHigh - 5, kHigh - 4);
  range.join(Range::of(kHigh - 2, kHigh));
  EXPECT_EQ(range.size(), 5);
}

TEST(Bound, UsableBoundsAreNormal) {
  EXPECT_EQ(usable_bound(1e-291), 0);
  EXPECT_EQ(usable_bound(0), 0);
  EXPECT_EQ(usable_bound(std::nan("")), 0);
  EXPECT_EQ(usable_bound(0.25), 0.25);
  EXPECT_EQ(usable_bound(std::numeric_limits<double>::infinity()), 1e300);
}

TEST(Bound, ShortenedKeepsTwentyBits) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const double x = std::ldexp(1 + double(random() >> 11) * 0x1p-53, int(random() % 600) - 300);
    const double y = shortened(x);
    EXPECT_LE(y, x);
    EXPECT_GT(y, x * (1 - 0x1p-18));
    EXPECT_EQ(shortened(y), y);
    EXPECT_EQ(bits_of(y) & ((u64(1) << 33) - 1), 0u);
  }
}

}  // namespace
}  // namespace leeway::test
