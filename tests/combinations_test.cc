// SPDX-License-Identifier: BSD-3-Clause
// Every recipe that the lists of stages allow, on small arrays with everything that is difficult:
// it keeps the bound, or is refused with a reason. What encoders write has not changed.
#include "tests/checksums.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

std::vector<std::string> names_of(Kind kind, bool or_none) {
  std::vector<std::string> names;
  if (or_none) names.emplace_back();
  for (const StageInfo& stage : all_stages())
    if (stage.kind == kind) names.emplace_back(stage.name);
  return names;
}

std::string joined(std::initializer_list<std::string> stages) {
  std::string text;
  for (const std::string& stage : stages)
    if (!stage.empty()) text += (text.empty() ? "" : "+") + stage;
  return text;
}

template <class T>
void check(const std::string& recipe, Checksums& sums) {
  if (!is_for(parse_recipe(recipe), dtype_of<T>())) {
    const std::vector<T> values(1);
    EXPECT_THROW(compress(values.data(), {1}, options_for<T>(Bound::abs(1), recipe)), Error);
    return;
  }
  for (const Shape& shape : {Shape{120}, Shape{9, 13}, Shape{4, 5, 6}, Shape{3, 4, 2, 5}})
    sums.add_payloads(
        recipe, check_round_trip(make_field<T>(shape, Texture::hostile), shape,
                                 options_for<T>(Bound::abs(is_floating<T> ? 0.01 : 2), recipe)));
}

TEST(Combinations, KeepTheBoundOrAreRefusedWithAReason) {
  Checksums sums("combinations");
  size_t possible = 0, refused = 0;
  for (const std::string& predictor : names_of(Kind::predictor, true))
    for (const std::string& quantizer : names_of(Kind::quantizer, false))
      for (const bool predicts_first : {true, false}) {
        if (predictor.empty() && predicts_first) continue;
        const std::string both =
            predicts_first ? joined({predictor, quantizer}) : joined({quantizer, predictor});
        try {
          parse_recipe(both);
        } catch (const Error& error) {
          EXPECT_NE(std::string(error.what()).find(predictor), std::string::npos) << both;
          ++refused;
          continue;
        }
        for (const std::string& encoder : names_of(Kind::encoder, true))
          for (const std::string& lossless : names_of(Kind::lossless, true)) {
            const std::string recipe = joined({both, encoder, lossless});
            check<float>(recipe, sums);
            check<double>(recipe, sums);
            check<i32>(recipe, sums);
            ++possible;
          }
      }
  EXPECT_GT(possible, 1500u);
  EXPECT_GT(refused, 0u);
  sums.compare_with_file();
}

// Preprocessors before all that follows them, by predictor.
TEST(Combinations, BehindPreprocessors) {
  Checksums sums("preprocessors");
  for (const std::string& predictor : names_of(Kind::predictor, false))
    for (const std::string& both : {predictor + "+linear", "linear+" + predictor}) {
      try {
        parse_recipe(both);
      } catch (const Error&) {
        continue;
      }
      check<float>("transpose:order=21+" + both + "+huffman", sums);
      const Shape shape{9, 13};
      const auto values = make_field<double>(shape, Texture::hostile);
      const auto options = options_for<double>(Bound::pointwise(1e-2), both + "+rans");
      const Bytes stream = compress(values.data(), shape, options);
      sums.add_payloads("pointwise " + both + "+rans", stream);
      const Array decoded = decompress(stream);
      for (size_t i = 0; i < values.size(); ++i) {
        const double x = values[i], y = decoded.as<double>()[i];
        if (std::isfinite(x) && x != 0)
          ASSERT_LE(std::abs(x - y), 1e-2 * std::abs(x)) << both;
        else
          ASSERT_EQ(bits_of(x), bits_of(y)) << both;
      }
    }
  sums.compare_with_file();
}

}  // namespace
}  // namespace leeway::test
