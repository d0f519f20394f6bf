// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/join/quantize_first.h"

#include "leeway/join/predict_first.h"
#include "leeway/predict/blocks.h"
#include "leeway/predict/interp.h"
#include "leeway/predict/lorenzo.h"
#include "leeway/quantize/exact.h"
#include "tests/join_support.h"

namespace leeway::test {
namespace {

const Shape kShapes[] = {{1}, {7}, {5000}, {3, 2100}, {90, 47}, {5, 31, 33}, {2, 3, 4, 50}};

Lorenzo lorenzo(i32 order, i32 axes) { return {.params = {.order = order, .axes = axes}}; }

// Every predictor comes back at every width that it takes, and says which those are.
template <class T, class P>
void check_predictor(const P& predictor, bool (*takes_narrow)(const Shape&)) {
  const auto join = quantize_first<T>(Linear(), predictor);
  for (const Shape& extents : kShapes) {
    const Shape shape = extents.squeezed();
    auto values = make_field<T>(shape, Texture::smooth);
    ASSERT_TRUE(join->takes(kWidthOf<Code<T>>, shape));
    const auto wide = check_join<T, Code<T>>(*join, values, shape, 0.01);
    const bool is_float = std::is_same_v<T, float> || std::is_same_v<T, double>;
    ASSERT_EQ(join->takes(CodeWidth::bits16, shape), is_float && takes_narrow(shape));
    if (!join->takes(CodeWidth::bits16, shape)) continue;
    const auto narrow = check_join<T, i16>(*join, values, shape, 0.01);
    ASSERT_EQ(narrow.size(), wide.size());
    for (size_t i = 0; i < wide.size(); ++i) ASSERT_EQ(narrow[i], i16(wide[i])) << i;
  }
}

TEST(QuantizeFirst, ComesBackAtEveryWidth) {
  const auto check = [](const auto& predictor, bool (*takes_narrow)(const Shape&)) {
    check_predictor<float>(predictor, takes_narrow);
    check_predictor<double>(predictor, takes_narrow);
    check_predictor<i32>(predictor, takes_narrow);
  };
  const auto always = [](const Shape&) { return true; };
  const auto never = [](const Shape&) { return false; };
  check(NoPredictor(), always);
  check(lorenzo(1, 8), [](const Shape& shape) { return shape.rank() <= 3; });
  for (const i32 axes : {0, 1, 2}) check(lorenzo(1, axes), always);
  check(lorenzo(2, 8), never);
  check(Blocks(), always);
  check(Blocks{.params = {.axes = 3, .size = 64}}, [](const Shape& s) { return s.rank() <= 1; });
  check(Interp(), never);
}

// A strided view, the memory of the sink and an array of its own give the same codes.
TEST(QuantizeFirst, TakesValuesFromAnywhere) {
  const Shape shape{40, 70};
  const auto values = make_field<float>(shape, Texture::smooth);
  std::vector<float> spread(2 * values.size());
  for (size_t i = 0; i < values.size(); ++i) spread[2 * i] = values[i];
  View strided = view_of(spread.data(), shape);
  for (auto& stride : strided.strides) stride *= 2;
  const auto join = quantize_first<float>(Linear(), Lorenzo());
  const auto expected = run_join<float, i32>(*join, {view_of(values.data(), shape), 0.01});
  const auto from_spread = run_join<float, i32>(*join, {strided, 0.01});
  EXPECT_EQ(from_spread.codes, expected.codes);
  EXPECT_EQ(from_spread.decoded, expected.decoded);

  auto in_place = values;
  std::vector<i32> codes;
  KeptCodes<i32> sink(codes);
  KeptValues decoded(in_place.data());
  Encoded<float> out{sink};
  ASSERT_TRUE(join->encode({view_of(in_place.data(), shape), 0.01}, decoded, out));
  EXPECT_EQ(codes, expected.codes);
  EXPECT_EQ(in_place, expected.decoded);
}

TEST(QuantizeFirst, SaysWhenCodesAreTooNarrow) {
  const auto join = quantize_first<float>(Linear(), Lorenzo());
  std::vector<float> values(3000, 1.0f);
  values[2999] = 1000;  // in the last piece
  std::vector<i16> codes;
  KeptCodes<i16> sink(codes);
  Encoded<float> out{sink};
  HashedValues decoded;
  EXPECT_FALSE(join->encode({view_of(values.data(), {3000}), 0.001}, decoded, out));
  check_join<float, i32>(*join, values, {3000}, 0.001);
}

// Values that no code reaches, and those that would become a fill value, are kept bit for bit.
TEST(QuantizeFirst, KeepsValuesWithoutACode) {
  const Shape shape{60, 50};
  auto values = make_field<float>(shape, Texture::smooth);
  values[0] = 1e30f;
  values[1234] = -1e30f;
  values[2999] = 3e38f;
  const auto check = [&](const auto& predictor) {
    const auto join = quantize_first<float>(Linear(), predictor);
    const View view = view_of(values.data(), shape);
    const auto free = run_join<float, i32>(*join, {view, 0.25});
    EXPECT_EQ(free.exact, 3u);
    const float becomes = free.decoded[100];
    const u64 fill = bits_of(becomes);
    const Specials<float> special{{}, Fills<float>({&fill, 1})};
    const auto run = run_join<float, i32>(*join, {view, 0.25, special});
    EXPECT_FALSE(special.fills.any_in(run.decoded));
    EXPECT_EQ(run.exact, 3u + size_t(std::ranges::count(free.decoded, becomes)));
    for (size_t i = 0; i < values.size(); ++i) {
      const bool is_kept = std::abs(values[i]) > 1e29f || free.decoded[i] == becomes;
      ASSERT_EQ(bits_of(run.decoded[i]), bits_of(is_kept ? values[i] : free.decoded[i])) << i;
    }
  };
  check(NoPredictor());
  check(Lorenzo());
  check(lorenzo(2, 8));
  check(Interp());
}

// Special values do not matter: what Lorenzo predicts for them costs no code.
TEST(QuantizeFirst, BridgesSpecialValues) {
  std::vector<float> values(4000);
  std::vector<u8> flags(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = float(i / 50) * float(i % 50);
    flags[i] = i % 50 > 10 && i % 50 < 30;
    if (flags[i]) values[i] = values[i - 1];  // as the mask leaves them
  }
  const Shape shape{80, 50};
  const auto join = quantize_first<float>(Linear(), Lorenzo());
  const auto run = run_join<float, i32>(*join, {view_of(values.data(), shape), 0.01, {flags, {}}});
  for (size_t i = 0; i < values.size(); ++i) {
    if (flags[i])
      ASSERT_EQ(run.codes[i], 0) << i;
    else
      ASSERT_NEAR(run.decoded[i], values[i], 0.01) << i;
  }
}

// Lorenzo tells an encoder that wants to know it what codes before say about the next.
TEST(QuantizeFirst, GivesContextsToThoseWhoWantThem) {
  const Shape shape{30, 40};
  const auto values = make_field<float>(shape, Texture::noise);
  const auto contexts = [&](const auto& predictor, bool wanted) {
    std::vector<i32> codes;
    KeptCodes<i32> sink(codes, wanted);
    Encoded<float> out{sink};
    HashedValues decoded;
    quantize_first<float>(Linear(), predictor)
        ->encode({view_of(values.data(), shape), 0.01}, decoded, out);
    return sink.contexts;
  };
  EXPECT_TRUE(contexts(Lorenzo(), false).empty());
  EXPECT_TRUE(contexts(Blocks(), true).empty());
  const auto found = contexts(Lorenzo(), true);
  ASSERT_EQ(found.size(), values.size());
  // Nothing comes before the first row, but the last of its values has the next row beside it.
  EXPECT_TRUE(std::all_of(found.begin(), found.begin() + 39, [](u8 c) { return c == 0; }));
  EXPECT_TRUE(std::any_of(found.begin() + 40, found.end(), [](u8 c) { return c > 0; }));
}

TEST(QuantizeFirst, RefusesWrongNotes) {
  const auto decode = [](const auto& predictor, const Bytes& bytes) {
    std::vector<i32> codes(100);
    KeptCodesSource<i32> source(codes);
    Buffer<float> values(100);
    KeptValues decoded(values.data());
    Reader notes(bytes);
    quantize_first<float>(Linear(), predictor)
        ->decode({{100}, 0.1}, {source, Patches<float>(), notes}, decoded);
  };
  EXPECT_NO_THROW(decode(lorenzo(1, 0), {3}));
  EXPECT_THROW(decode(lorenzo(1, 0), {4}), Error);
  EXPECT_THROW(decode(lorenzo(1, 0), {}), Error);
  EXPECT_THROW(decode(Interp(), {}), Error);
  EXPECT_THROW(decode(Interp(), {9, 1, 1}), Error);
}

TEST(PredictFirst, ComesBackAtTheWidthOfItsType) {
  const auto check = [&]<class T, class P>(std::type_identity<T>, const P& predictor) {
    const PredictFirst<T, P, Linear> join(predictor, Linear());
    for (const Shape& extents : kShapes)
      for (const Texture texture : {Texture::smooth, Texture::steps}) {
        const Shape shape = extents.squeezed();
        EXPECT_FALSE(join.takes(CodeWidth::bits16, shape));
        check_join<T, Code<T>>(join, make_field<T>(shape, texture), shape, 0.01);
      }
  };
  check(std::type_identity<float>(), Lorenzo());
  check(std::type_identity<double>(), lorenzo(2, 2));
  check(std::type_identity<float>(), Interp());
  check(std::type_identity<i32>(), Interp());
}

}  // namespace
}  // namespace leeway::test
