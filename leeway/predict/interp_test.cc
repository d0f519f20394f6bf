// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/interp.h"

#include <algorithm>

#include "tests/support.h"

namespace leeway::test {
namespace {

// Stands for a quantizer without error, and notes what it is asked.
struct Recorder {
  std::vector<u8> special{};
  std::vector<double> predictions{}, values{};
  void run(double* x, const double* p, size_t n, const u8*, const u8*, u8*) {
    predictions.insert(predictions.end(), p, p + n);
    values.insert(values.end(), x, x + n);
  }
  const u8* marks() const { return nullptr; }
  void tighten(double) {}
};

Recorder walk(const Interp& interp, const Shape& shape, std::vector<double> values) {
  Recorder recorder;
  interp.walk(Field<double>{values.data(), shape}, recorder);
  return recorder;
}

TEST(Interp, VisitsEveryValueOnce) {
  for (const Shape& full : shapes())
    for (const int reverse : {0, 1}) {
      const Shape shape = full.squeezed();
      std::vector<double> values(size_t(shape.size()));
      for (size_t i = 0; i < values.size(); ++i) values[i] = double(i);
      Interp interp;
      interp.params.reverse = reverse;
      auto seen = walk(interp, shape, values).values;
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
    const Recorder seen = walk(interp, shape, values);
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
