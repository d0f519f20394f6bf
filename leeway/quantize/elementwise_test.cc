// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quantize/elementwise.h"

#include <algorithm>

#include "leeway/base/distance.h"
#include "leeway/quality/compare.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

const std::vector<std::string>& recipes() {
  static const std::vector<std::string> list = {"lorenzo+elementwise+huffman",
                                                "lorenzo:order=2+elementwise+arithmetic",
                                                "interp+elementwise+huffman+zstd",
                                                "pyramid+elementwise+rans",
                                                "lag+elementwise+rans",
                                                "wavefront+elementwise+huffman"};
  return list;
}

TEST(Elementwise, EveryValueKeepsItsOwnBound) {
  std::mt19937 random(4);
  for (const std::string& recipe : recipes())
    for (const Shape& shape : some_shapes())
      for_each_type([&]<class T>(std::type_identity<T>) {
        if (!is_for(parse_recipe(recipe), dtype_of<T>())) return;
        for (const Texture texture : {Texture::smooth, Texture::hostile}) {
          const auto values = make_field<T>(shape, texture);
          // Few classes and many; infinity: as the bound of the stream says.
          for (const unsigned kinds : {2u, 60u}) {
            std::vector<double> bounds(values.size());
            for (double& e : bounds) {
              const double octaves = double(random() % kinds) / 3;
              e = (is_floating<T> ? 0.1 : 1e3) * std::exp2(-octaves);
              if (random() % 50 == 0) e = 0;
              if (random() % 50 == 0) e = std::numeric_limits<double>::infinity();
            }
            auto options = options_for<T>(Bound::abs(is_floating<T> ? 0.2 : 2e3), recipe);
            options.bounds = view_of(bounds.data(), shape);
            const Bytes stream = check_round_trip(values, shape, options);
            const Array decoded = decompress(stream);
            EXPECT_EQ(count_beyond(view_of(values.data(), shape),
                                   View(decoded.data(), decoded.dtype(), shape), options.bounds,
                                   inspect(stream).header.fills),
                      0u)
                << recipe << " " << to_string(shape) << " " << name_of(dtype_of<T>());
          }
        }
      });
}

TEST(Elementwise, RegionsAndUsesTheRoomTheyLeave) {
  const Shape shape{100, 120};
  const auto values = make_field<float>(shape, Texture::noise);
  auto options = options_for<float>(Bound::abs(0.2), "pyramid+elementwise+rans");
  const size_t plain = compress(values.data(), shape, options).size();
  options.regions = {{{{10, 20}, {20, 30}}, 1e-4}, {{{90, 100}, {10, 20}}, 0}};
  const Bytes stream = check_round_trip(values, shape, options);
  const Array decoded = decompress(stream);
  double inside = 0, exact = 0, outside = 0;
  for (size_t y = 0; y < 100; ++y)
    for (size_t x = 0; x < 120; ++x) {
      const double error = error_between(values[y * 120 + x], decoded.as<float>()[y * 120 + x]);
      const bool first = y >= 10 && y < 30 && x >= 20 && x < 50, second = y >= 90 && x >= 100;
      double& largest = first ? inside : second ? exact : outside;
      largest = std::max(largest, error);
    }
  EXPECT_LE(inside, 1e-4);
  EXPECT_EQ(exact, 0);
  EXPECT_GT(outside, 0.1);  // in the same chunk
  EXPECT_EQ(inspect(stream).header.grid().size(), 1u);
  options.recipe = "small";
  options.chunk = {100, 120};
  EXPECT_LT(stream.size(), compress(values.data(), shape, options).size());
  EXPECT_GT(stream.size(), plain);
  Bytes updated = stream;
  MemoryStore store(updated);
  EXPECT_THROW(update(store, {0, 0}, view_of(values.data(), {1, 1})), Error);
}

TEST(Elementwise, WithoutBoundsOfValuesItIsLinear) {
  const Shape shape{40, 50};
  const auto values = make_field<float>(shape, Texture::smooth);
  const auto decoded = [&](const char* recipe) {
    return decompress(compress(values.data(), shape, options_for<float>(Bound::abs(0.01), recipe)));
  };
  const Array one = decoded("lorenzo+elementwise+huffman"),
              other = decoded("lorenzo+linear+huffman");
  EXPECT_TRUE(std::ranges::equal(one.as<float>(), other.as<float>()));
}

TEST(Elementwise, StandsBehindAPredictorOnly) {
  for (const char* recipe :
       {"elementwise", "elementwise+lorenzo", "elementwise+interp", "transpose+lorenzo+elementwise",
        "composite+elementwise", "ghost+elementwise", "regression+elementwise"})
    EXPECT_THROW(parse_recipe(recipe), Error) << recipe;
}

}  // namespace
}  // namespace leeway::test
