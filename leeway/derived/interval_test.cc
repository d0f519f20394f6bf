// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/derived/interval.h"

#include <random>

#include "tests/support.h"

namespace leeway::derived {
namespace {

TEST(Interval, NeighboursOfNumbers) {
  EXPECT_EQ(above(1.0), 1 + 0x1p-52);
  EXPECT_EQ(below(1.0), 1 - 0x1p-53);
  EXPECT_EQ(above(0.0), 0x1p-1074);
  EXPECT_EQ(below(-0.0), -0x1p-1074);
  EXPECT_EQ(above(-0x1p-1074), 0);
  EXPECT_EQ(below(kInfinite), std::numeric_limits<double>::max());
  EXPECT_EQ(above(std::nan("")), kInfinite);
}

// Every operation encloses what long double finds for numbers of its operands.
TEST(Interval, EnclosesResults) {
  std::mt19937_64 random(1);
  const auto value = [&] {
    return std::ldexp(std::uniform_real_distribution<double>(-1, 1)(random), int(random() % 60) - 30);
  };
  for (int i = 0; i < 20000; ++i) {
    const double a = value(), b = value(), c = value(), d = value();
    const Interval x{std::min(a, b), std::max(a, b)}, y{std::min(c, d), std::max(c, d)};
    const long double p = a + (static_cast<long double>(b) - a) * 0.37L, q = d;
    const auto encloses = [](Interval result, long double found) {
      return static_cast<long double>(result.lo) <= found && found <= static_cast<long double>(result.hi);
    };
    EXPECT_TRUE(encloses(x + y, p + q));
    EXPECT_TRUE(encloses(x - y, p - q));
    EXPECT_TRUE(encloses(x * y, p * q));
    EXPECT_TRUE(encloses(x / y, p / q));
    EXPECT_TRUE(encloses(power(x, 2), p * p));
    EXPECT_TRUE(encloses(power(x, 3), p * p * p));
    EXPECT_TRUE(encloses(sqrt(abs(x)), sqrtl(fabsl(p))));
    EXPECT_TRUE(encloses(log(abs(x)), logl(fabsl(p))));
    const Interval part{x.lo * 0x1p-24, x.hi * 0x1p-24};
    EXPECT_TRUE(encloses(exp(part), expl(p * 0x1p-24L)));
  }
}

TEST(Interval, LogarithmAndExponentialAreNearlyExact) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 50000; ++i) {
    const double v = std::ldexp(1 + double(random() >> 11) * 0x1p-53, int(random() % 600) - 300);
    EXPECT_NEAR(double(logarithm(v) / logl(v)), 1, 0x1p-50);
    const double e = (double(random() >> 11) * 0x1p-53 - 0.5) * 1400;
    EXPECT_NEAR(double(exponential(e) / expl(e)), 1, 0x1p-49);
  }
  EXPECT_EQ(logarithm(1), 0);
  EXPECT_EQ(exponential(0), 1);
  EXPECT_EQ(exponential(-kInfinite), 0);
  EXPECT_EQ(logarithm(0), -kInfinite);
}

TEST(Interval, WhatIsNotDefinedHasNoEnd) {
  EXPECT_FALSE((Interval{1, 2} / Interval{-1, 1}).is_bounded());
  EXPECT_FALSE(sqrt(Interval{-1, 4}).is_bounded());
  EXPECT_FALSE(log(Interval{0, 4}).is_bounded());
  EXPECT_EQ((Interval{0, 0} * Interval::all()).hi, 0x1p-1074);
}

}  // namespace
}  // namespace leeway::derived
