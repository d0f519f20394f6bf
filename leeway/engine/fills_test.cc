// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/fills.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Fills, DeclaredOnesAreBitPatternsOfTheType) {
  CompressOptions options;
  options.fills = {-9999, 1e20};
  EXPECT_EQ(declared_fills(options, DType::f32),
            (std::vector<u64>{bits_of(-9999.0f), bits_of(1e20f)}));
  EXPECT_EQ(declared_fills(options, DType::f64),
            (std::vector<u64>{bits_of(-9999.0), bits_of(1e20)}));
  options.fills = {-1};
  EXPECT_EQ(declared_fills(options, DType::i16), std::vector<u64>{0xffff});
}

TEST(Fills, PatternsMayBeSignExtendedAndAreListedOnce) {
  CompressOptions options;
  options.fills = {-5};
  options.fill_bits = {u64(i64(-5)), 0xfb, 7};
  EXPECT_EQ(declared_fills(options, DType::i8), (std::vector<u64>{0xfb, 7}));
}

TEST(Fills, ATypeMustHaveTheValue) {
  CompressOptions options;
  for (const double fill : {0.5, -1.0, 256.0, 1e30, std::nan("")}) {
    options.fills = {fill};
    EXPECT_THROW(declared_fills(options, DType::u8), Error) << fill;
  }
  options.fills = {0x1p63};
  EXPECT_THROW(declared_fills(options, DType::i64), Error);
  EXPECT_EQ(declared_fills(options, DType::u64), std::vector<u64>{u64(1) << 63});
}

TEST(Fills, TextIsExactForLongIntegers) {
  CompressOptions options;
  declare_fill(options, DType::i64, "-9223372036854775807");
  declare_fill(options, DType::u64, "18446744073709551615");
  EXPECT_EQ(options.fill_bits, (std::vector<u64>{u64(-9223372036854775807), ~u64(0)}));
  declare_fill(options, DType::f32, "1e20");
  EXPECT_EQ(options.fills, std::vector<double>{1e20});
  for (const char* text : {"", "nothing", "1e20x", " 5", "0x10"})
    EXPECT_THROW(declare_fill(options, DType::f32, text), Error) << text;
}

TEST(Fills, TheRangeLeavesThemOut) {
  std::vector<float> values{3,     -2,    1e20f,         5,
                            1e20f, -9999, std::nanf(""), std::numeric_limits<float>::infinity()};
  CompressOptions options;
  options.fills = {-9999};
  const auto range = value_range(view_of(values.data(), {values.size()}), options);
  ASSERT_TRUE(range);
  EXPECT_EQ(range->min, -2);
  EXPECT_EQ(range->max, 5);
  EXPECT_EQ(range->fills, (std::vector<u64>{bits_of(-9999.0f), bits_of(1e20f)}));
  options.detect_fills = false;
  EXPECT_EQ(value_range(view_of(values.data(), {values.size()}), options)->max, 1e20f);
  const std::vector<float> none(4, std::nanf(""));
  EXPECT_FALSE(value_range(view_of(none.data(), {none.size()}), options));
}

// A host sees an array only in parts: the extremes of all parts have the range of the whole.
TEST(Fills, ExtremesOfPartsHaveTheRangeOfTheWhole) {
  for (const Texture texture : {Texture::smooth, Texture::hostile, Texture::constant}) {
    const Shape shape{48, 20};
    const auto values = make_field<float>(shape, texture);
    const CompressOptions options;
    const View whole = view_of(values.data(), shape);
    std::vector<float> found;
    for (u64 first = 0; first < 48; first += 16) {
      const Array part = extremes(whole.part(slab(shape, first, 16)), options);
      EXPECT_LE(part.shape().size(), 16u);
      for (const float value : part.as<float>()) found.push_back(value);
    }
    const auto range = value_range(whole, options),
               joined = value_range(view_of(found.data(), {found.size()}), options);
    ASSERT_EQ(range.has_value(), joined.has_value());
    EXPECT_EQ(range->min, joined->min);
    EXPECT_EQ(range->max, joined->max);
    EXPECT_EQ(range->fills, joined->fills);
  }
}

}  // namespace
}  // namespace leeway::test
