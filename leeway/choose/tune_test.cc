// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/choose/tune.h"

#include "leeway/recipe/recipe.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

template <class T>
Tuned tuned(const std::vector<T>& values, const Shape& shape, const std::string& recipe,
            const TuneOptions& how = {}) {
  return tune(view_of(values.data(), shape), options_for<T>(Bound::abs(0.01), recipe), how);
}

TEST(Tune, FindsWhatAFieldNeeds) {
  // Every frame is the line through the two before it.
  const Shape shape{60, 500};
  std::vector<float> values(shape.size());
  std::mt19937 random(3);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = i < 1000 ? float(random() % 1000) : 2 * values[i - 500] - values[i - 1000];
  const Tuned found = tuned(values, shape, "lag+linear+huffman");
  EXPECT_EQ(found.best().recipe.substr(0, 12), "lag:frames=2");
  EXPECT_LT(found.best().bytes * 2, found.steps.front().bytes);
  EXPECT_GT(found.trials, 2u);
}

TEST(Tune, EveryStepIsARecipeThatIsSmaller) {
  const Shape shape{20, 30, 40};
  const auto values = make_field<double>(shape, Texture::smooth);
  for (const char* recipe : {"balanced", "linear+blocks+fixed", "interp+linear+huffman+zstd",
                             "composite+linear+huffman", "truncate+raw+shuffle+lz4"}) {
    const Tuned found = tuned(values, shape, recipe, {.most_trials = 40});
    EXPECT_EQ(found.steps.front().recipe, to_string(parse_recipe(recipe)));
    EXPECT_LE(found.trials, 40u);
    for (size_t i = 0; i < found.steps.size(); ++i) {
      const auto& [text, bytes] = found.steps[i];
      EXPECT_EQ(to_string(parse_recipe(text)), text);
      EXPECT_EQ(compress(values.data(), shape, options_for<double>(Bound::abs(0.01), text)).size(),
                bytes);
      if (i > 0) {
        EXPECT_LT(bytes, found.steps[i - 1].bytes);
      }
    }
    EXPECT_EQ(tuned(values, shape, recipe, {.most_trials = 40}).best().recipe, found.best().recipe);
  }
}

TEST(Tune, RefusesWhatCannotBeTuned) {
  const auto values = make_field<float>({100}, Texture::smooth);
  EXPECT_THROW(tuned(values, {100}, "auto"), Error);
  EXPECT_THROW(tuned(std::vector<float>(), {0}, "fast"), Error);
}

}  // namespace
}  // namespace leeway::test
