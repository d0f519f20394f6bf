// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/lag.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

// Particles in random order that move by themselves.
std::vector<float> trajectories(size_t frames, size_t particles, double acceleration) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  std::vector<double> x(particles), v(particles);
  for (size_t i = 0; i < particles; ++i) {
    x[i] = 50 * normal(random);
    v[i] = 0.1 * normal(random);
  }
  std::vector<float> values;
  for (size_t t = 0; t < frames; ++t)
    for (size_t i = 0; i < particles; ++i) {
      v[i] += acceleration * normal(random);
      x[i] += v[i];
      values.push_back(float(x[i]));
    }
  return values;
}

TEST(Lag, TimeTellsWhatNeighboursDoNot) {
  const Shape shape{40, 1000};
  const auto values = trajectories(40, 1000, 0.003);
  const auto size = [&](const std::string& recipe) {
    return check_round_trip(values, shape, options_for<float>(Bound::abs(1e-3), recipe)).size();
  };
  const std::string rest = "+linear+huffman+zstd";
  EXPECT_LT(size("lag" + rest), size("lorenzo" + rest));
  EXPECT_LT(size("lag:frames=2" + rest), size("lag" + rest));
  EXPECT_EQ(size("lag:frames=2+linear+huffman") > 0, true);
}

TEST(Lag, AnyShapeAndType) {
  for (const Shape& shape : some_shapes())
    for (const std::string recipe : {"lag+linear+huffman", "lag:frames=3+linear+raw",
                                     "linear+lag:frames=2+rans", "lag:frames=2+exact+huffman"})
      for (const Texture texture : {Texture::smooth, Texture::hostile, Texture::huge}) {
        check_round_trip(make_field<float>(shape, texture), shape,
                         options_for<float>(Bound::abs(1e-3), recipe));
        check_round_trip(make_field<i16>(shape, texture), shape,
                         options_for<i16>(Bound::abs(2), recipe));
      }
}

}  // namespace
}  // namespace leeway::test
