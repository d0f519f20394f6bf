// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/preprocess/transpose.h"

#include <algorithm>
#include <numeric>

#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Transpose, MovesValuesFlagsAndShape) {
  std::vector<int> values(24);
  std::iota(values.begin(), values.end(), 0);
  std::vector<u8> special(24);
  special[5] = 1;
  Field<int> field{values.data(), Shape{2, 3, 4}};
  const Transpose stage{.params = {.order = 231}};
  Writer side;
  stage.forward(field, special, side);
  EXPECT_EQ(field.shape, (Shape{3, 4, 2}));
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[1], 12);
  EXPECT_EQ(values[2], 1);
  EXPECT_EQ(size_t(std::ranges::find(special, 1) - special.begin()),
            size_t(std::ranges::find(values, 5) - values.begin()));
  Reader again(side.bytes()), in(side.bytes());
  EXPECT_EQ(stage.inner_shape(Shape{2, 3, 4}, again), field.shape);
  stage.backward(field, in);
  EXPECT_EQ(field.shape, (Shape{2, 3, 4}));
  for (int i = 0; i < 24; ++i) EXPECT_EQ(values[size_t(i)], i);
}

TEST(Transpose, MakesTheSmoothestAxisTheFastest) {
  std::vector<float> values(20 * 30);
  std::mt19937 random(4);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = i < 30 ? float(random() % 1000) : values[i - 30] + float(random() % 2);
  Field<float> field{values.data(), Shape{20, 30}};
  std::vector<u8> special;
  Writer side;
  Transpose().forward(field, special, side);
  EXPECT_EQ(field.shape, (Shape{30, 20}));
}

TEST(Transpose, RefusesWhatIsNoOrder) {
  for (const std::string order : {"11", "13", "02", "9", "1123"})
    EXPECT_THROW(parse_recipe("transpose:order=" + order + "+linear+lorenzo+huffman"), Error)
        << order;
  EXPECT_THROW(parse_recipe("transpose+lorenzo+linear+huffman"), Error);  // may decide otherwise
  EXPECT_NO_THROW(parse_recipe("transpose:order=21+lorenzo+linear+huffman"));
  const u8 wrong[] = {1, 1};
  std::vector<float> values(6);
  Field<float> field{values.data(), Shape{2, 3}};
  Reader side(wrong);
  EXPECT_THROW(Transpose().backward(field, side), Error);
}

TEST(Transpose, WholeStreams) {
  for (const std::string recipe :
       {"transpose+linear+lorenzo:axes=1+huffman+zstd", "transpose:order=312+pyramid+linear+rans",
        "transpose:order=21+lorenzo+linear+huffman"})
    for (const Shape& shape : {Shape{40, 50}, Shape{7, 30, 20}, Shape{300}, Shape{1, 9, 1, 7}}) {
      const auto values = make_field<float>(shape, Texture::hostile);
      check_round_trip(values, shape, options_for<float>(Bound::abs(0.01), recipe));
    }
}

}  // namespace
}  // namespace leeway::test
