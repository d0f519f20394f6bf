// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/choose/choose.h"

#include <algorithm>

#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Choose, EveryChoiceKeepsTheBound) {
  for (const NamedChoice& choice : named_choices()) {
    if (choice.name == "cpsz") continue;  // for vector fields: critical_points_test.cc
    for_each_type([&]<class T>(std::type_identity<T>) {
      for (const Shape& shape : {Shape{}, Shape{0, 3}, Shape{500}, Shape{30, 40}, Shape{9, 10, 11}})
        for (const Bound& bound :
             {Bound::abs(0.4), Bound::abs(3), Bound::rel(1e-3), Bound::lossless()}) {
          const auto values = make_field<T>(shape, Texture::hostile);
          check_round_trip(values, shape, options_for<T>(bound, std::string(choice.name)));
        }
    });
  }
  EXPECT_TRUE(is_choice("auto"));
  EXPECT_FALSE(is_choice("balanced"));
  EXPECT_NO_THROW(check_recipe("auto"));
  EXPECT_NO_THROW(check_recipe("balanced"));
  EXPECT_THROW(check_recipe("automatic"), Error);
}

TEST(Choose, TheStreamSaysWhatWasChosen) {
  const Shape shape{64, 65, 66};
  const auto smooth = make_field<float>(shape, Texture::smooth);
  const auto recipe_of = [&](const auto& values, double bound, const char* name) {
    using T = std::remove_cvref_t<decltype(values[0])>;
    return inspect(compress(values.data(), shape, options_for<T>(Bound::abs(bound), name)))
        .header.recipe;
  };
  const std::string small = to_string(parse_recipe("small"));
  EXPECT_TRUE(recipe_of(smooth, 1e-3, "auto").starts_with("pyramid"));
  EXPECT_EQ(recipe_of(smooth, 1e-3, "auto"), recipe_of(smooth, 1e-3, "auto"));
  EXPECT_EQ(recipe_of(smooth, 0.5, "sz3-aps"), to_string(parse_recipe("sz3-lr")));
  EXPECT_EQ(recipe_of(smooth, 0.49, "sz3-aps"), "transpose+linear:step=pow2+arithmetic");
  // Most values are the same, and neighbours say where others may be.
  std::mt19937 random(5);
  std::vector<i32> rare(size_t(shape.size()));
  for (i32& value : rare) value = random() % 50 ? 0 : i32(random() % 1000);
  EXPECT_NE(recipe_of(rare, 0.4, "auto"), small);
}

// An array no larger than the sample: what auto makes of it is what it saw.
TEST(Choose, AutoSearchesParameters) {
  const Shape shape{24, 100, 100};
  const auto size_of = [&](const auto& values, const std::string& recipe, Bytes& stream) {
    stream = compress(values.data(), shape, options_for<float>(Bound::abs(1e-3), recipe));
    return stream.size();
  };
  std::vector<float> waves;  // which need more weights than usual
  for_each_outer(shape, 0, [&](const Index& i) {
    const auto z = double(i[0]), y = double(i[1]), x = double(i[2]);
    waves.push_back(float(std::sin(0.9 * z) * std::sin(0.8 * y + 0.01 * x) * std::cos(0.7 * x)));
  });
  Bytes stream, other;
  const size_t found = size_of(waves, "auto", stream);
  EXPECT_LT(found, size_of(waves, "small", other));
  EXPECT_NE(inspect(stream).header.recipe, inspect(other).header.recipe);
  const auto noise = make_field<float>(shape, Texture::noise);
  const size_t of_noise = size_of(noise, "auto", stream);
  for (const char* name : {"balanced", "small", "plain", "linear+arithmetic", "sz3-lr"})
    EXPECT_LE(of_noise, size_of(noise, name, other)) << name;
}

TEST(Choose, CountsAreKeptExactly) {
  const Shape shape{20, 30, 31};
  std::mt19937 random(6);
  std::vector<float> counts(size_t(shape.size()));
  for (float& value : counts) value = float(random() % 7 * (random() % 5));
  const Array decoded =
      decompress(compress(counts.data(), shape, options_for<float>(Bound::abs(0.3), "sz3-aps")));
  EXPECT_TRUE(std::ranges::equal(decoded.as<float>(), counts));
}

}  // namespace
}  // namespace leeway::test
