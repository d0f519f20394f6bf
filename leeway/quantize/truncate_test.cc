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
