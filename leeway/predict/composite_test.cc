// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/composite.h"

#include <algorithm>

#include "tests/support.h"

namespace leeway::test {
namespace {

// Values on a polynomial of the last axes, with noise.
std::vector<double> polynomial(const Shape& shape, int degree, double noise) {
  std::mt19937 random(8);
  std::normal_distribution<double> normal(0, noise);
  std::vector<double> values;
  for_each_outer(shape, 0, [&](const Index& index) {
    double value = 5;
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      const double x = double(index[axis]) * 0.1;
      value += (degree == 2 ? x * x * 4 : 0) + x * (double(axis) - 0.7);
    }
    values.push_back(value + (noise > 0 ? normal(random) : 0));
  });
  return values;
}

TEST(Polynomial, FindsWhatThereIs) {
  for (const BlockShape& block : {BlockShape{1, 1, 1, 128}, BlockShape{1, 1, 16, 16},
                                  BlockShape{1, 6, 6, 6}, BlockShape{3, 2, 1, 5}})
    for (const int degree : {1, 2}) {
      const Shape shape{block[0], block[1], block[2], block[3]};
      auto values = polynomial(shape, degree, 0);
      const Polynomial<double> fitted(block, degree, 1e-6);
      Polynomial<double>::Fit fit;
      const size_t size = values.size();
      values.resize(fitted.padded());
      ASSERT_TRUE(fitted.fit(values.data(), fit));
      std::vector<double> found(values.size());
      fitted.evaluate(fitted.rounded(fit, 1), found.data());
      for (size_t i = 0; i < size; ++i)
        ASSERT_NEAR(found[i], values[i], 3e-6) << to_string(shape) << " " << degree;
    }
  Polynomial<double>::Fit fit;
  const std::vector<double> huge(8, 1e300);
  EXPECT_FALSE(Polynomial<double>({1, 2, 2, 2}, 1, 1e-6).fit(huge.data(), fit));
}

size_t size_of_stream(const std::vector<double>& values, const Shape& shape, double bound,
                      const std::string& recipe) {
  return check_round_trip(values, shape, options_for<double>(Bound::abs(bound), recipe)).size();
}

TEST(Composite, TakesTheBetterPredictor) {
  const Shape shape{60, 61, 62};
  const auto noisy = polynomial(shape, 1, 0.1);  // a plane is all there is to predict
  const auto smooth = make_field<double>(shape, Texture::smooth);
  const std::string rest = "+linear+huffman+zstd";
  for (const auto* values : {&noisy, &smooth})
    for (const double bound : {1e-3, 0.05, 0.2}) {
      const size_t lorenzo = size_of_stream(*values, shape, bound, "lorenzo" + rest),
                   regression = size_of_stream(*values, shape, bound, "regression" + rest),
                   composite = size_of_stream(*values, shape, bound, "composite" + rest);
      EXPECT_LT(double(composite), 1.05 * double(std::min(lorenzo, regression))) << bound;
    }
  const auto curved = polynomial(shape, 2, 0.1);
  EXPECT_LT(size_of_stream(curved, shape, 0.2, "composite:degree=2,block=12" + rest),
            size_of_stream(curved, shape, 0.2, "composite:block=12" + rest));
}

TEST(Composite, AllParametersAndShapes) {
  for (const Shape& shape : some_shapes())
    for (const std::string params :
         {"second=1", "degree=0", "degree=2", "block=2", "block=128", "second=1,degree=2,block=5"})
      for (const Texture texture : {Texture::smooth, Texture::hostile}) {
        const std::string recipe = "composite:" + params + "+linear+huffman";
        check_round_trip(make_field<float>(shape, texture), shape,
                         options_for<float>(Bound::abs(0.01), recipe));
        check_round_trip(make_field<i16>(shape, texture), shape,
                         options_for<i16>(Bound::abs(3), recipe));
      }
}

// The choice must be the same for decoded data, or values change again.
TEST(Composite, ChangesNothingTheSecondTime) {
  for (const Shape& shape : {Shape{1000}, Shape{70, 80}, Shape{20, 31, 32}, Shape{8, 9, 10, 11}})
    for (const std::string recipe :
         {"composite:second=1,degree=2+linear+huffman", "regression+linear+huffman",
          "regression:degree=2+linear+huffman"})
      for (const double bound : {1e-3, 0.03, 0.3}) {
        const auto values = polynomial(shape, 2, 0.1);
        const auto options = options_for<double>(Bound::abs(bound), recipe);
        const Bytes first = compress(values.data(), shape, options);
        const Array once = decompress(first);
        const Array twice = decompress(compress(once.as<double>().data(), shape, options));
        ASSERT_TRUE(std::ranges::equal(once.as<double>(), twice.as<double>()))
            << to_string(shape) << recipe << bound;
      }
}

}  // namespace
}  // namespace leeway::test
