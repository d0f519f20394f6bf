// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/pattern.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

// Sub-blocks that are multiples of one another.
std::vector<double> multiples(size_t blocks, size_t size, size_t count) {
  std::mt19937_64 random(10);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  for (size_t b = 0; b < blocks; ++b) {
    std::vector<double> pattern(size);
    for (double& value : pattern) value = normal(random);
    for (size_t s = 0; s < count; ++s) {
      const double scale = normal(random);
      for (const double value : pattern) values.push_back(scale * value);
    }
  }
  return values;
}

TEST(Pattern, FindsSizesAndPredicts) {
  for (const auto& [size, count] : {std::pair<size_t, size_t>{36, 36}, {10, 60}, {9, 9}}) {
    const auto values = multiples(80, size, count);
    const Shape shape{values.size()};
    const auto bytes = [&](const std::string& recipe) {
      return check_round_trip(values, shape, options_for<double>(Bound::abs(1e-7), recipe)).size();
    };
    const size_t found = bytes("linear+pattern+huffman+zstd");
    const std::string sizes = "size=" + std::to_string(size) + ",count=" + std::to_string(count);
    // The streams differ in the text of the recipe, and the header is rounded up to 16 bytes.
    const size_t told = bytes("linear+pattern:" + sizes + "+huffman+zstd");
    EXPECT_LT(found, told);
    EXPECT_LE(told, found + (sizes.size() + 1 + 15) / 16 * 16);
    EXPECT_LT(found * 2, bytes("linear+huffman+zstd")) << size;
    EXPECT_LT(bytes("linear+pattern:scale=peak+fixed-huffman") * 2, bytes("linear+huffman+zstd"));
  }
}

TEST(Pattern, PredictsValuesBeforeTheyAreQuantized) {
  const auto values = multiples(80, 36, 36);
  const Shape shape{values.size()};
  const auto bytes = [&](const std::string& recipe) {
    return check_round_trip(values, shape, options_for<double>(Bound::abs(1e-7), recipe)).size();
  };
  EXPECT_LT(bytes("pattern+linear+huffman+zstd") * 2, bytes("linear+huffman+zstd"));
  // What the decoder has is the pattern: it need not be noted.
  EXPECT_LT(bytes("pattern+linear+huffman+zstd"), bytes("linear+pattern+huffman+zstd"));
}

TEST(Pattern, AnyShapeTypeAndBlock) {
  for (const Shape& shape : some_shapes())
    for (const std::string recipe :
         {"sz3-pastri", "sz-pastri", "linear+pattern:size=5,count=3+raw",
          "linear+pattern:size=7,scale=peak+huffman", "pattern:size=5,count=3+linear+raw",
          "pattern+linear+huffman+zstd"})
      for (const Texture texture : {Texture::smooth, Texture::hostile, Texture::huge}) {
        check_round_trip(make_field<double>(shape, texture), shape,
                         options_for<double>(Bound::abs(1e-3), recipe));
        check_round_trip(make_field<float>(shape, texture), shape,
                         options_for<float>(Bound::abs(1e-2), recipe));
        check_round_trip(make_field<i32>(shape, texture), shape,
                         options_for<i32>(Bound::abs(2), recipe));
      }
}

}  // namespace
}  // namespace leeway::test
