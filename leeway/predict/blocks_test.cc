// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/blocks.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

template <class U>
void check_round_trip(const Shape& full, int axes, int size) {
  const Shape shape = full.squeezed();
  Blocks blocks;
  blocks.params.axes = axes;
  blocks.params.size = size;
  std::mt19937_64 random(5);
  std::vector<U> values(size_t(shape.size()));
  for (U& value : values) value = U(random());
  auto codes = values;
  Writer side;
  blocks.forward(Field<U>{codes.data(), shape}, side);
  EXPECT_EQ(side.size(), 0u);
  auto decoded = codes;
  Reader in({});
  blocks.backward(Field<U>{decoded.data(), shape}, in);
  ASSERT_EQ(decoded, values) << to_string(shape) << " axes " << axes;
  if (!blocks.is_piecewise(shape)) return;
  auto history = values;
  std::vector<U> pieces(values.size());
  for (size_t first = 0; first < values.size(); first += 77)
    blocks.forward_piece(shape, 0, first, std::min<size_t>(77, values.size() - first),
                         history.data() + first, pieces.data() + first);
  ASSERT_EQ(pieces, codes);
  for (size_t first = 0; first < values.size(); first += 77)
    blocks.backward_piece(shape, 0, first, std::min<size_t>(77, values.size() - first),
                          pieces.data() + first);
  ASSERT_EQ(pieces, values);
}

TEST(Blocks, AreReversible) {
  for (const Shape& shape : shapes())
    for (const int axes : {1, 2, 3})
      for (const int size : {8, 16, 32, 64}) {
        check_round_trip<u32>(shape, axes, size);
        check_round_trip<u64>(shape, axes, size);
      }
}

TEST(Blocks, RunsStartAnew) {
  std::vector<u32> values(70);
  for (size_t i = 0; i < values.size(); ++i) values[i] = u32(1000 + 3 * i);
  Writer side;
  Blocks().forward(Field<u32>{values.data(), {70}}, side);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], i % 32 ? 3 : u32(1000 + 3 * i)) << i;
}

// A plane a*i + b*j has first differences a and b on the edges of a square and 0 inside.
TEST(Blocks, SquaresTakeDifferencesAlongBothAxes) {
  std::vector<u32> values;
  for (u32 i = 0; i < 8; ++i)
    for (u32 j = 0; j < 16; ++j) values.push_back(100 + 5 * i + 7 * j);
  Blocks blocks;
  blocks.params.axes = 2;
  Writer side;
  blocks.forward(Field<u32>{values.data(), {8, 16}}, side);
  for (size_t block = 0; block < 2; ++block)
    for (size_t i = 0; i < 8; ++i)
      for (size_t j = 0; j < 8; ++j) {
        const u32 expected = i == 0 && j == 0 ? u32(100 + 56 * block) : i == 0 ? 7 : j == 0 ? 5 : 0;
        EXPECT_EQ(values[block * 64 + i * 8 + j], expected) << block << " " << i << " " << j;
      }
}

// A region decodes its own blocks: the others of a chunk are left out, and nothing differs.
template <class T>
void check_regions(const Shape& shape, const std::string& recipe, Texture texture) {
  const auto values = make_field<T>(shape, texture);
  const Bytes stream = compress(values.data(), shape, options_for<T>(Bound::abs(1e-3), recipe));
  const Array whole = decompress(stream);
  std::mt19937 random(4);
  for (int trial = 0; trial < 20; ++trial) {
    Box box{{}, shape};
    std::vector<u64> extents;
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      box.first[axis] = random() % shape[axis];
      extents.push_back(1 + random() %
                                std::min<u64>(shape[axis] - box.first[axis], trial % 2 ? 3 : 500));
    }
    box.shape = Shape(std::span<const u64>(extents));
    const Array part = decompress(stream, box);
    size_t i = 0;
    for_each_outer(box.shape, 0, [&](const Index& inside) {
      size_t place = 0;
      for (size_t axis = 0; axis < shape.rank(); ++axis)
        place = place * size_t(shape[axis]) + size_t(box.first[axis] + inside[axis]);
      ASSERT_EQ(bits_of(part.as<T>()[i++]), bits_of(whole.as<T>()[place])) << recipe << trial;
    });
  }
}
TEST(Blocks, RegionsAreTheSameAsInTheWhole) {
  for (const Shape& shape : {Shape{100000}, Shape{300, 301}, Shape{40, 41, 43}})
    for (const std::string recipe :
         {"cuszp2-outlier", "cuszp2-plain", "ceresz", "linear+blocks:size=8+fixed:block=8",
          "linear+blocks+huffman", "linear+fixed", "linear+blocks:axes=2,size=64+fixed:block=64"})
      for (const Texture texture : {Texture::smooth, Texture::hostile}) {
        check_regions<float>(shape, recipe, texture);
        check_regions<double>(shape, recipe, texture);
      }
}

}  // namespace
}  // namespace leeway::test
