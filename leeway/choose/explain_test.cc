// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/choose/explain.h"

#include <cmath>
#include <set>

#include "leeway/report/explain_page.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

Explanation explanation_of(const Bytes& stream) {
  const MemorySource source(stream);
  return explain(StreamReader(source));
}
template <class T>
Explanation explanation_of(const std::vector<T>& values, const Shape& shape, double bound,
                           const std::string& recipe) {
  return explanation_of(compress(values.data(), shape, options_for<T>(Bound::abs(bound), recipe)));
}

TEST(Explain, CodesOfAFieldThatIsKnown) {
  // Values 0, 2, 4 and 6 in parts of a half, a quarter and two eighths: 1.75 bits a code.
  std::vector<float> values(1 << 14);
  constexpr float kSteps[] = {0, 0, 0, 0, 2, 2, 4, 6};
  for (size_t i = 0; i < values.size(); ++i) values[i] = kSteps[i * 2654435761u >> 7 & 7];
  const Explanation found = explanation_of(values, {values.size()}, 1.0, "linear+huffman");
  EXPECT_EQ(found.codes.count(), values.size());
  EXPECT_EQ(found.codes.near().size(), 4u);
  EXPECT_EQ(found.codes.larger() + found.codes.exact(), 0u);
  EXPECT_EQ(found.codes.contexts(), 1u);
  EXPECT_NEAR(found.codes.entropy(), 1.75, 0.01);
  EXPECT_EQ(found.codes.entropy(), found.codes.entropy_in_contexts());
}

TEST(Explain, LargeAndExactCodesAreCounted) {
  std::vector<double> values(4096);
  std::mt19937 random(3);
  for (double& value : values) value = double(random()) * 1e-8;
  for (size_t i = 0; i < values.size(); i += 64) values[i] = 1e6;   // codes of 20 bits
  for (size_t i = 32; i < values.size(); i += 64) values[i] = 1e300;  // none
  const Explanation found = explanation_of(values, {4096}, 0.5, "linear+huffman");
  EXPECT_EQ(found.codes.count(), 4096u);
  EXPECT_EQ(found.codes.larger(), 64u);  // a value without a code repeats the code before
  EXPECT_EQ(found.exact, 64u);
}

TEST(Explain, PartsMakeUpTheStream) {
  const Shape shape{40, 41, 42};
  for (const char* recipe : {"balanced", "fast", "small", "sz3-interp", "sz1.4", "ceaz", "eri",
                             "linear:bins=16,beyond=planes+huffman", "transpose:order=231+balanced",
                             "lossless", "truncate+raw", "small|fast", "sz-pwr"}) {
    if (std::string(recipe).starts_with("transpose")) recipe = "transpose:order=231+linear+lorenzo+huffman+zstd";
    for_each_type_of(recipe, [&]<class T>(std::type_identity<T>) {
      const auto values = make_field<T>(shape, Texture::hostile);
      const Bytes stream = compress(values.data(), shape, options_for<T>(Bound::abs(0.01), recipe));
      const Explanation found = explanation_of(stream);
      u64 parts = 0;
      for (const Anatomy::Part& part : found.parts) parts += part.bytes;
      EXPECT_LE(parts, found.body_bytes) << recipe;
      EXPECT_GE(parts + 64 * found.chunks, found.body_bytes) << recipe;
      EXPECT_LE(found.packed_bytes, found.payload_bytes) << recipe;
      EXPECT_LT(found.payload_bytes, found.stream_bytes) << recipe;
      EXPECT_EQ(found.stream_bytes, stream.size());
      u64 chunks = 0;
      for (const auto& [kind, count] : found.chunks_by_kind) chunks += count;
      EXPECT_EQ(chunks, found.chunks) << recipe;
    });
  }
}

TEST(Explain, SettingsAndLevelsOfThePyramid) {
  const Shape shape{64, 64, 64};
  const auto values = make_field<float>(shape, Texture::smooth);
  const Explanation found = explanation_of(values, shape, 1e-3, "small");
  ASSERT_EQ(found.settings.size(), 1u);
  EXPECT_TRUE(found.settings.begin()->first.starts_with("pyramid:"));
  ASSERT_GE(found.level_bytes.size(), 2u);
  u64 sum = 0;
  for (const u64 bytes : found.level_bytes) sum += bytes;
  EXPECT_EQ(sum, found.body_bytes);
  EXPECT_GT(found.codes.contexts(), 1u);
  EXPECT_LT(found.codes.entropy_in_contexts(), found.codes.entropy());
  EXPECT_EQ(found.codes.count(), shape.size());
}

TEST(Explain, ThePageNeedsNothingElse) {
  const Shape shape{64, 64};
  const auto values = make_field<float>(shape, Texture::smooth);
  const std::string page =
      report::explain_page("a < b", explanation_of(values, shape, 1e-3, "small"));
  EXPECT_NE(page.find("a &lt; b"), std::string::npos);
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos);
}

TEST(Explain, OtherPredictorsAreTriedOnBothSides) {
  const Shape shape{60, 70};
  const auto values = make_field<float>(shape, Texture::smooth);
  const auto options = options_for<float>(Bound::abs(1e-3), "lorenzo+linear+huffman");
  const auto costs = predictor_costs(view_of(values.data(), shape), options);
  EXPECT_TRUE(std::ranges::is_sorted(costs, {}, &PredictorCost::bits));
  std::set<std::string> recipes;
  for (const PredictorCost& cost : costs) recipes.insert(cost.recipe);
  for (const char* recipe : {"lorenzo+linear+huffman", "linear+lorenzo+huffman", "linear+huffman",
                             "interp+linear+huffman", "linear+blocks+huffman"})
    EXPECT_TRUE(recipes.contains(recipe)) << recipe;
  EXPECT_EQ(recipes.size(), costs.size());
  // Prediction pays on a smooth field.
  EXPECT_NE(costs.front().recipe, "linear+huffman");
}

TEST(Explain, ThePageShowsTheArray) {
  const Shape shape{3 * 1296};
  std::vector<double> integrals(shape.size());
  for (size_t i = 0; i < integrals.size(); ++i)
    integrals[i] = std::sin(double(i % 36)) * std::cos(double(i / 36));
  const View view = view_of(integrals.data(), shape);
  const Explanation found = explanation_of(integrals, shape, 1e-6, "linear+pattern+huffman");
  const std::string page = report::explain_page("integrals", found, &view, {{"linear+raw", 1, 2}},
                                                {.predict = 0.001, .all = 0.002});
  EXPECT_NE(page.find("largest sub-blocks"), std::string::npos);
  EXPECT_NE(page.find("linear+raw"), std::string::npos);
  EXPECT_NE(page.find("to encode and pack"), std::string::npos);
}

}  // namespace
}  // namespace leeway::test
