// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quantize/truncate.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Truncate, DropsWhatTheBoundAllows) {
  const auto rounded = [](float x, double bound) {
    i32 code;
    EXPECT_TRUE(TruncateGrid<float>(bound, 0).quantize(x, 0.0f, code));
    return x;
  };
  EXPECT_EQ(rounded(1000.3f, 1), 1000.0f);
  EXPECT_EQ(rounded(-1000.3f, 1), -1000.0f);
  EXPECT_EQ(rounded(1023.9f, 1), 1024.0f);
  EXPECT_EQ(rounded(1.0f, 1e-12), 1.0f);
  std::mt19937 random(2);
  for (int i = 0; i < 100000; ++i) {
    const float x = std::bit_cast<float>(u32(random()));
    if (!std::isfinite(x)) continue;
    const double bound = std::exp2(double(random() % 60) - 30);
    float y = x;
    i32 code;
    const TruncateGrid<float> grid(bound, 0);
    if (!grid.quantize(y, 0.0f, code)) continue;
    EXPECT_LE(std::abs(double(x) - double(y)), bound);
    EXPECT_EQ(grid.recover(0.0f, code), y);
    float again = y;
    EXPECT_TRUE(grid.quantize(again, 0.0f, code));
    EXPECT_EQ(bits_of(again), bits_of(y));
  }
}

TEST(Truncate, KeepsSoManyBits) {
  float x = 3.14159f;
  i32 code = 0;
  EXPECT_TRUE(TruncateGrid<float>(1, 16).quantize(x, 0.0f, code));
  EXPECT_EQ(x, 3.140625f);
  EXPECT_EQ(code, 0x4049);
  x = 3e30f;
  EXPECT_FALSE(TruncateGrid<float>(1, 16).quantize(x, 0.0f, code));  // beyond the bound
}

TEST(Truncate, TreatsBothSignsAlike) {
  for (const int bits : {0, 12, 16}) {
    const TruncateGrid<float> grid(1e-2, bits);
    for (const float x : {3.14159f, 1e-3f, 0.0f, 2.999f}) {
      float up = x, down = -x;
      i32 code = 0, mirrored = 0;
      ASSERT_EQ(grid.quantize(up, 0.0f, code), grid.quantize(down, 0.0f, mirrored));
      EXPECT_EQ(code, -mirrored);
      EXPECT_EQ(up, -down);
    }
  }
}

// The array forms give what the scalar definition gives, bit for bit.
template <class T>
void check_arrays() {
  std::mt19937_64 random(6);
  for (const int bits : {0, 9, 14, 20, 33})
    for (const double bound : {1e-30, 1e-6, 0.3, 1e9, 1e39}) {
      const TruncateGrid<T> grid(bound, bits);
      std::vector<T> values(1000);
      for (T& x : values) {
        x = std::bit_cast<T>(Bits<T>(random()));
        if (random() % 3) x = T(std::ldexp(double(i64(random())), int(random() % 60) - 90));
        if (random() % 40 == 0) x = T(random() % 2 ? -0.0 : 1e-40);
        if (!std::isfinite(x)) x = 1;
      }
      std::vector<T> expected = values, whole = values, plane(values.size());
      std::vector<Code<T>> codes(values.size()), expected_codes(values.size());
      Patches<T> exact, expected_exact;
      const double error = grid.quantize(std::span(whole), std::span(codes), exact);
      const double expected_error = quantize_one_by_one(
          grid, std::span(expected), std::span(expected_codes), expected_exact, 0, 0);
      EXPECT_EQ(error, expected_error);
      EXPECT_EQ(codes, expected_codes);
      EXPECT_EQ(exact.count(), expected_exact.count());
      EXPECT_EQ(std::memcmp(whole.data(), expected.data(), whole.size() * sizeof(T)), 0);
      std::vector<T> back(values.size());
      grid.recover(std::span<const Code<T>>(codes), std::span(back));
      for (size_t i = 0; i < back.size(); ++i)
        EXPECT_EQ(bits_of(back[i]), bits_of(grid.recover(Predicted<T>(0), codes[i])));
      double plane_error = 0;
      const Plane<const std::byte> rows{reinterpret_cast<const std::byte*>(values.data()), 10,
                                        100 * sizeof(T), 100, sizeof(T)};
      if (grid.quantize_plane(rows, plane.data(), codes.data(), plane_error)) {
        EXPECT_EQ(exact.count(), 0u);
        EXPECT_EQ(codes, expected_codes);
        EXPECT_EQ(plane_error, expected_error);
        EXPECT_EQ(std::memcmp(plane.data(), expected.data(), plane.size() * sizeof(T)), 0);
      }
    }
}
TEST(Truncate, ArraysAreAsTheDefinitionSays) {
  check_arrays<float>();
  check_arrays<double>();
}

// Of the few bits kept, rounding must not carry into the sign: the value would become -0, and 0
// when compressed again.
TEST(Truncate, RoundingDoesNotReachTheSign) {
  const auto check = []<class T>(std::type_identity<T>) {
    for (const int bits : {1, 2, 3})
      for (const double x : {9999.0, -9999.0, 60000.0}) {
        T value = T(x);
        Code<T> code;
        const bool has_code = TruncateGrid<T>(1e5, bits).quantize(value, Predicted<T>(0), code);
        EXPECT_TRUE(!has_code || double(value) != 0 || !std::signbit(double(value))) << bits;
      }
  };
  check(std::type_identity<f16>());
  check(std::type_identity<bf16>());
  check(std::type_identity<float>());
  check(std::type_identity<double>());
}

TEST(Truncate, WholeStreams) {
  for (const Shape& shape : {Shape{500}, Shape{30, 40}, Shape{5, 6, 7}})
    for (const std::string recipe :
         {"sz3-truncation", "truncate:bits=12+raw", "truncate+lorenzo+huffman", "truncate+blocks"})
      for_each_type([&]<class T>(std::type_identity<T>) {
        for (const Texture texture : kTextures)
          for (const double bound : {1e-3, 0.7, 20.0})
            check_round_trip(make_field<T>(shape, texture), shape,
                             options_for<T>(Bound::abs(bound), recipe));
      });
  EXPECT_THROW(parse_recipe("lorenzo+truncate+huffman"), Error);
}

}  // namespace
}  // namespace leeway::test
