// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/interp.h"

#include <algorithm>

#include "tests/support.h"

namespace leeway::test {
namespace {

// A coder without error, which records what it is given.
struct Recorder final : Coder<double> {
  std::vector<double> predictions{}, values{};
  Segments<double> none;
  Recorder(const Interp& interp, const Shape& shape, std::vector<double> field)
      : Coder<double>(false, nullptr) {
    interp.walk(Field<double>{field.data(), shape}, *this);
  }
  void run(const Run<double>& run) override {
    predictions.insert(predictions.end(), run.predicted, run.predicted + run.count);
    values.insert(values.end(), run.values, run.values + run.count);
  }
  void point(double& value, double predicted) override { run({&value, &predicted, 1}); }
  void exact(double&, double) override { FAIL(); }
  void tighten(double) override {}
  double step() const override { return 0; }
  Segments<double>& segments() override { return none; }
};

TEST(Interp, VisitsEveryValueOnce) {
  for (const Shape& full : shapes())
    for (const int reverse : {0, 1}) {
      const Shape shape = full.squeezed();
      std::vector<double> values(size_t(shape.size()));
      for (size_t i = 0; i < values.size(); ++i) values[i] = double(i);
      Interp interp;
      interp.params.reverse = reverse;
      auto seen = Recorder(interp, shape, values).values;
      std::ranges::sort(seen);
      ASSERT_EQ(seen, values) << to_string(shape);
    }
}

// Cubics are exact inside for polynomials of degree 3, lines for degree 1.
TEST(Interp, IsExactForPolynomials) {
  const Shape shape{65, 33};
  for (const int degree : {1, 3}) {
    std::vector<double> values;
    for (double y = 0; y < 65; ++y)
      for (double x = 0; x < 33; ++x)
        values.push_back(std::pow(y / 8, degree) + std::pow(x / 4, degree) + 3);
    Interp interp;
    interp.params.cubic = degree == 3;
    const Recorder seen(interp, shape, values);
    size_t wrong = 0;
    for (size_t i = 0; i < seen.values.size(); ++i)
      wrong += std::abs(seen.values[i] - seen.predictions[i]) > 1e-9;
    EXPECT_LT(wrong, degree == 1 ? 6u : seen.values.size() / 4);  // edges have less than a cubic
  }
}

// Values that continue each other along one axis only: that one is to be the last.
TEST(Interp, ChoosesOrderAndCurves) {
  const Shape shape{200, 60};
  std::vector<float> values;
  std::mt19937 random(5);
  std::vector<float> phase(60);
  for (float& p : phase) p = float(random() % 1000);
  for (size_t y = 0; y < 200; ++y)
    for (size_t x = 0; x < 60; ++x) values.push_back(std::sin(float(y) / 9 + phase[x]));
  const auto size = [&](const std::string& interp) {
    const Bytes stream = check_round_trip(
        values, shape, options_for<float>(Bound::abs(1e-3), interp + "+linear+huffman"));
    return stream.size();
  };
  const size_t best = size("interp");
  for (const char* other : {"interp:reverse=0", "interp:cubic=0", "interp:alpha=1.5,beta=3"})
    EXPECT_LE(best, size(other)) << other;
  EXPECT_LT(best * 5 / 4, size("interp:reverse=0"));
  EXPECT_THROW(parse_recipe("interp:alpha=0.5+linear"), Error);
}

TEST(Interp, BeatsLorenzoOnSmoothFieldsAtCoarseBounds) {
  const Shape shape{50, 51, 52};
  const auto values = make_field<float>(shape, Texture::smooth);
  const auto size = [&](const std::string& recipe) {
    return compress(values.data(), shape, options_for<float>(Bound::rel(1e-2), recipe)).size();
  };
  EXPECT_LT(size("sz3-interp"), size("sz1.4"));
}

// Also where few levels leave the first value with less than the smallest bound.
TEST(Interp, SmallDecodedArraysStayAsTheyAre) {
  for (const std::string recipe : {"sz3-interp", "interp:alpha=1.1,beta=8+linear+huffman", "small"})
    for (const Shape& shape :
         {Shape{12, 12, 12}, Shape{16, 16, 16}, Shape{40, 40}, Shape{3, 4, 2, 5, 6}})
      for (unsigned seed = 1; seed < 40; ++seed) {
        const auto values =
            make_field<float>(shape, seed % 2 ? Texture::smooth : Texture::noise, seed);
        const auto options = options_for<float>(Bound::abs(1e-2), recipe);
        const Bytes once = compress(values.data(), shape, options);
        const Bytes twice = compress(decompress(once).as<float>().data(), shape, options);
        ASSERT_EQ(inspect(once).statement.decoded_hash, inspect(twice).statement.decoded_hash)
            << recipe << " " << to_string(shape) << " " << seed;
      }
}

}  // namespace
}  // namespace leeway::test
