// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/pyramid/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace leeway::test {
namespace {

template <class C>
struct Series {
  std::vector<std::vector<C>> taps;
  std::vector<C> guess, values;
  std::vector<float> expected;
  std::vector<const C*> rows() const {
    std::vector<const C*> result;
    for (const auto& tap : taps) result.push_back(tap.data());
    return result;
  }
};

// Values that are a fixed sum of taps.
template <class C>
Series<C> make_series(size_t count, const std::vector<double>& weights, C noise) {
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  Series<C> made{std::vector<std::vector<C>>(weights.size(), std::vector<C>(count)), {}, {}, {}};
  double total = 0;
  for (const double w : weights) total += w;
  for (size_t i = 0; i < count; ++i) {
    const double guess = 10 * normal(random);
    double value = guess * (1 - total);
    for (size_t k = 0; k < weights.size(); ++k) {
      made.taps[k][i] = C(guess + 3 * normal(random));
      value += weights[k] * double(made.taps[k][i]);
    }
    made.guess.push_back(C(guess));
    made.values.push_back(C(value) + noise * C(normal(random)));
    made.expected.push_back(0.1f);
  }
  return made;
}

template <class C>
void check_learning(C noise, C tolerance) {
  const std::vector<double> weights{0.5, -0.25, 0.125, 0.0, 0.75};
  const auto series = make_series<C>(4096, weights, noise);
  LeastSquares<C> squares(weights.size());
  const auto rows = series.rows();
  for (size_t i = 0; i < 4096; i += 8)
    squares.sample({rows.data(), series.guess.data(), series.guess.data(), series.values.data(),
                    series.expected.data(), i, C(1)});
  ASSERT_TRUE(squares.is_ready());
  for (size_t k = 0; k < weights.size(); ++k)
    EXPECT_NEAR(double(squares.weights()[k]), weights[k], double(tolerance));
  std::vector<C> out(4096);
  squares.apply(rows.data(), series.guess.data(), out.size(), out.data());
  for (size_t i = 0; i < out.size(); ++i)
    ASSERT_NEAR(double(out[i]), double(series.values[i]),
                6 * double(noise) + 60 * double(tolerance));
}

TEST(LeastSquares, FindsTheWeights) {
  check_learning<float>(0, 1e-3f);
  check_learning<double>(0, 1e-3);
  check_learning<float>(0.1f, 2e-2f);
}

TEST(LeastSquares, WhatIsNoNumberTeachesNothing) {
  LeastSquares<float> squares(3);
  std::vector<float> odd(8, NAN), zero(8, 0), large(8, 3e38f), expected(8, INFINITY);
  const float* taps[] = {odd.data(), large.data(), zero.data()};
  for (int i = 0; i < 400; ++i)
    squares.sample({taps, zero.data(), odd.data(), large.data(), expected.data(), 0, 1e30f});
  if (squares.is_ready())
    for (size_t k = 0; k < 3; ++k) EXPECT_EQ(squares.weights()[k], 0.0f);
}

}  // namespace
}  // namespace leeway::test
