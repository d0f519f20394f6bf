// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/squared_error.h"

#include <algorithm>

#include "tests/support.h"

namespace leeway::test {
namespace {

double norm_of_error(const std::vector<float>& values, const Bytes& stream) {
  const Array decoded = decompress(stream);
  double squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double error = double(values[i]) - double(decoded.as<float>()[i]);
    squares += error * error;
  }
  return std::sqrt(squares);
}

TEST(SquaredError, TheNormIsKeptAndUsed) {
  const Shape shape{50, 60};
  const auto values = make_field<float>(shape, Texture::noise);
  for (const char* recipe : {"fast", "balanced", "small"})
    for (const double norm : {1e-3, 0.1, 5.0}) {
      const auto options = options_for<float>(Bound::l2(norm), recipe);
      const double reached = norm_of_error(values, compress(values.data(), shape, options));
      EXPECT_LE(reached, norm) << recipe << " " << norm;
      EXPECT_GE(reached, 0.7 * norm) << recipe << " " << norm;
    }
}

TEST(SquaredError, PsnrAndNormTogetherAreBothKept) {
  const Shape shape{40, 40};
  const auto values = make_field<float>(shape, Texture::smooth);
  const auto [low, high] = std::ranges::minmax(values);
  for (const double decibel : {30.0, 60.0, 90.0})
    for (const double norm : {1e-4, 1e-2, 1.0}) {
      const Bound bound = Bound::psnr(decibel) && Bound::l2(norm);
      const double reached = norm_of_error(values, compress(values.data(), shape, bound));
      const double rmse = reached / std::sqrt(double(values.size()));
      EXPECT_LE(reached, norm);
      if (reached > 0) EXPECT_GE(20 * std::log10((double(high) - low) / rmse), decibel);
    }
}

// Squares of errors of this size are no doubles, neither small nor large ones.
TEST(SquaredError, NeitherOverflowsNorVanishes) {
  const Shape shape{900};
  for (const double unit : {1e-200, 1e200}) {
    std::vector<double> values(900);
    for (size_t i = 0; i < values.size(); ++i) values[i] = unit * std::sin(double(i) * 0.3);
    const Array decoded =
        decompress(compress(values.data(), shape, Bound::l2(unit) && Bound::psnr(40)));
    double squares = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const double error = (values[i] - decoded.as<double>()[i]) / unit;
      squares += error * error;
    }
    EXPECT_LE(squares, 1);
    EXPECT_GT(squares, 0);
  }
}

TEST(SquaredError, SpecialValuesHaveNoShare) {
  std::vector<float> values = make_field<float>({1000}, Texture::noise);
  for (size_t i = 0; i < values.size(); i += 2) values[i] = std::nanf("");
  const Bytes stream = compress(values.data(), {1000}, Bound::l2(0.5));
  const Array decoded = decompress(stream);
  double squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(std::isnan(values[i]), std::isnan(decoded.as<float>()[i]));
    if (std::isnan(values[i])) continue;
    const double error = double(values[i]) - double(decoded.as<float>()[i]);
    squares += error * error;
  }
  EXPECT_LE(std::sqrt(squares), 0.5);
  EXPECT_GT(std::sqrt(squares), 0.3);
}

TEST(SquaredError, TooManyDecibelsAreNoLoss) {
  const auto values = make_field<float>({500}, Texture::smooth);
  const Bytes stream = compress(values.data(), {500}, Bound::psnr(3000));
  EXPECT_EQ(inspect(stream).header.abs_bound, 0);
  EXPECT_EQ(norm_of_error(values, stream), 0);
}

}  // namespace
}  // namespace leeway::test
