// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/choose/blocks.h"

#include "leeway/recipe/recipe.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

// Blocks that are sums of a few products of a column and a row, each smaller than the one before.
template <class T>
std::vector<T> integrals(size_t size, const BlockShape& shape) {
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  std::vector<T> values;
  while (values.size() < size) {
    std::vector<double> block(shape.rows * shape.columns);
    double scale = std::exp2(-double(random() % 12));
    for (int term = 0; term < 5; ++term, scale *= 0.05) {
      std::vector<double> row(shape.columns);
      for (double& value : row) value = normal(random);
      for (size_t i = 0; i < shape.rows; ++i) {
        const double part = scale * normal(random);
        for (size_t j = 0; j < shape.columns; ++j) block[i * shape.columns + j] += part * row[j];
      }
    }
    values.insert(values.end(), block.begin(), block.end());
  }
  values.resize(size);
  return values;
}

template <class T>
std::string found_in(const std::vector<T>& values, const Shape& shape) {
  const auto found = integral_blocks(view_of(values.data(), shape), [] { return 2e-6; });
  return found ? std::to_string(found->rows) + "x" + std::to_string(found->columns) : "none";
}

TEST(Blocks, TheirShapeIsFound) {
  for (const BlockShape& shape :
       {BlockShape{9, 9}, {36, 36}, {100, 100}, {36, 100}, {60, 36}, {18, 10}, {25, 49}}) {
    const std::string name = std::to_string(shape.rows) + "x" + std::to_string(shape.columns);
    EXPECT_EQ(found_in(integrals<double>(120000, shape), {120000}), name);
    if (shape.rows == shape.columns) continue;
    EXPECT_EQ(found_in(integrals<float>(120000, shape), {120000}), name);
  }
  EXPECT_EQ(found_in(integrals<double>(50 * 1296, {36, 36}), {50, 36, 36}), "36x36");
  EXPECT_EQ(found_in(integrals<double>(9000, {9, 9}), {9000}), "none");  // too few to tell
}

TEST(Blocks, OtherFieldsHaveNone) {
  const Shape shape{30, 40, 50};
  for (const Texture texture : {Texture::smooth, Texture::hostile, Texture::huge}) {
    EXPECT_EQ(found_in(make_field<double>(shape, texture), shape), "none");
    EXPECT_EQ(found_in(make_field<float>(shape, texture), shape), "none");
  }
  std::vector<double> places;  // periods that are no blocks
  for (size_t i = 0; i < 60000; ++i) places.push_back(double(i % 36) + 1e-3 * double(i % 7));
  EXPECT_EQ(found_in(places, {60000}), "none");
  EXPECT_EQ(found_in(std::vector<float>(60000, 3), {60000}), "none");
}

// The recipe found is longer than the name asked for.
TEST(Blocks, NothingNeedsMoreMemoryThanWasSaid) {
  auto values = integrals<double>(30 * 3600, {36, 100});
  std::mt19937_64 random(3);
  for (double& value : values) value *= 1 + 1e-3 * double(random() % 1000);
  const Shape shape{values.size()};
  for (const std::string recipe : {"balanced", "small", "eri", "auto"}) {
    const auto options = options_for<double>(Bound::abs(1e-300), recipe);
    Bytes memory(size_t(max_compressed_size(DType::f64, shape, options)));
    const View array = view_of(values.data(), shape);
    const u64 bytes = compress_into(array, options, memory).output_bytes;
    const Array decoded = decompress(ByteView(memory).first(size_t(bytes)));
    EXPECT_TRUE(std::ranges::equal(decoded.as<double>(), values)) << recipe;
  }
}

TEST(Blocks, PresetsAndEriTakeThem) {
  const auto values = integrals<double>(30 * 3600, {36, 100});
  const Shape shape{values.size()};
  const auto stream_by = [&](const std::string& recipe) {
    return check_round_trip(values, shape, options_for<double>(Bound::abs(1e-7), recipe));
  };
  const auto recipe_of = [](const Bytes& stream) { return inspect(stream).header.recipe; };
  const Bytes eri = stream_by("eri"), balanced = stream_by("balanced"), small = stream_by("small");
  EXPECT_EQ(recipe_of(eri), "linear+cross:columns=100+rans");
  EXPECT_EQ(recipe_of(stream_by("linear+cross+huffman")), "linear+cross:columns=100+huffman");
  EXPECT_EQ(recipe_of(stream_by("linear+cross:rows=10+rans")), "linear+cross:rows=10+rans");
  EXPECT_EQ(recipe_of(balanced),
            to_string(parse_recipe("balanced|linear:range=1+cross:columns=100+rans")));
  EXPECT_LT(double(balanced.size()), 1.01 * double(eri.size()) + 64);
  EXPECT_LE(small.size(), balanced.size() + 64);
  EXPECT_LT(balanced.size() * 2, stream_by(to_string(parse_recipe("balanced"))).size());
  EXPECT_LT(double(stream_by("auto").size()), 1.01 * double(eri.size()) + 64);
  EXPECT_LT(eri.size(), stream_by("sz3-pastri").size());
}

}  // namespace
}  // namespace leeway::test
