// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quantize/linear.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Linear, StepIsShortAndJustBelowTwiceTheBound) {
  for (double bound = 1e-280; bound < 1e280; bound *= 1.37) {
    const double step = short_step(bound);
    int exponent;
    const double mantissa = std::frexp(step, &exponent) * 256;
    EXPECT_EQ(mantissa, std::floor(mantissa));
    EXPECT_LE(step, 2 * bound * (1 - 0x1p-9));
    EXPECT_GT(step, 2 * bound * (1 - 0x1p-9) * (1 - 0x1p-7));
  }
}

TEST(Linear, TightIsBelowTheBound) {
  for (const double bound : {0.1, 1e-3, 1.0, 0x1p-30, 3.3e37}) {
    EXPECT_LT(double(tight<float>(bound)), bound);
    EXPECT_LT(tight<double>(bound), bound);
    EXPECT_GT(double(tight<float>(bound)), bound * (1 - 4e-7));
  }
}

// Any prediction at all: the value comes back within the bound, or is refused and left alone.
TEST(Linear, NeverBreaksTheBound) {
  for_each_type([]<class T>(std::type_identity<T>) {
    std::mt19937_64 random(6);
    for (const double bound : {1e-6, 1e-3, 0.1, 0.5, 1.0, 7.9, 1e5, 1e300}) {
      const LinearGrid<T> grid(bound);
      for (int i = 0; i < 20000; ++i) {
        const T value = i % 2 ? from_bits<T>(random()) : make_value<T>(std::sin(double(i)) * 3);
        const auto predicted = i % 3 ? Predicted<T>(make_value<T>(std::cos(double(i)) * 3))
                                     : Predicted<T>(from_bits<T>(random()));
        T decoded = value;
        Code<T> code = 0;
        if (grid.quantize(decoded, predicted, code)) {
          ASSERT_LE(exact_error(value, decoded), (long double)(bound))
              << name_of(dtype_of<T>()) << " " << bound;
          ASSERT_EQ(bits_of(grid.recover(predicted, code)), bits_of(decoded));
          ASSERT_NE(code, std::numeric_limits<Code<T>>::min());
        } else {
          ASSERT_EQ(bits_of(value), bits_of(decoded));
        }
      }
    }
  });
}

TEST(Linear, IntegersAreSpacedByTwiceTheBoundPlusOne) {
  const LinearGrid<i16> grid(3.7);
  EXPECT_EQ(grid.step, 7);
  for (int x = -32768; x <= 32767; ++x) {
    i16 value = i16(x);
    i32 code;
    ASSERT_TRUE(grid.quantize(value, u64(0), code));
    ASSERT_LE(std::abs(int(value) - x), 3);
  }
}

TEST(Linear, NegativeZeroBecomesZero) {
  const LinearGrid<float> grid(0.1);
  float x = -0.0f;
  i32 q;
  ASSERT_TRUE(grid.quantize(x, 0.0f, q));
  EXPECT_EQ(bits_of(x), 0u);
}

// Without a second try, an f32 has the codes that its own arithmetic finds and no others; and for
// types that have no such arithmetic nothing changes.
TEST(Linear, WithoutASecondTryOnlyTheArithmeticOfFloatCounts) {
  const LinearParams once{.step = StepRule::power_of_two, .bins = 65536, .second = 0},
      twice{.step = StepRule::power_of_two, .bins = 65536};
  const LinearGrid<float> first(0x1p-8, once), second(0x1p-8, twice);
  std::mt19937_64 random(6);
  size_t only_second = 0;
  for (int i = 0; i < 200000; ++i) {
    const float value = 30 + float(random() % 1000000) * 0x1p-17f, predicted = float(random() % 300);
    float a = value, b = value;
    i32 p = 0, q = 0;
    const bool has_first = first.quantize(a, predicted, p), has_second = second.quantize(b, predicted, q);
    only_second += has_second && !has_first;
    if (!has_first) continue;
    ASSERT_TRUE(has_second);
    ASSERT_EQ(p, q);
    ASSERT_EQ(bits_of(a), bits_of(b));
  }
  EXPECT_GT(only_second, 0u);
  const LinearGrid<double> wide(0x1p-8, once);
  double x = 1.0;
  i64 code = 0;
  EXPECT_TRUE(wide.quantize(x, 0.9, code));
}

}  // namespace
}  // namespace leeway::test
