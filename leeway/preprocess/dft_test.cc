// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/preprocess/dft.h"

#include <numbers>

#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Dft, IsItsOwnInverseAndKeepsTheEnergy) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  for (const Shape& shape : shapes())
    for (const auto& [block, waves] : {std::pair{2, Waves::cosine},
                                       {7, Waves::cosine},
                                       {8, Waves::cosine},
                                       {64, Waves::cosine},
                                       {2, Waves::fourier},
                                       {7, Waves::fourier},
                                       {8, Waves::fourier},
                                       {64, Waves::fourier}}) {
      std::vector<double> values(size_t(shape.size()));
      double energy = 0, transformed = 0;
      for (double& value : values) {
        value = normal(random);
        energy += value * value;
      }
      auto copy = values;
      const Shape squeezed = shape.squeezed();
      const Dft dft{.params = {.block = block, .waves = waves}};
      Writer side;
      dft.forward(Field<double>{copy.data(), squeezed}, side);
      for (const double value : copy) transformed += value * value;
      EXPECT_NEAR(transformed, 3.5 * 3.5 * energy, 1e-9 * energy + 1e-9);
      Reader in(side.bytes());
      dft.backward(Field<double>{copy.data(), squeezed}, in);
      for (size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(copy[i], values[i], 1e-12);
    }
}

TEST(Dft, ConstantBlocksHaveOneCoefficient) {
  std::vector<double> values(64, 2.0);
  Writer side;
  Dft().forward(Field<double>{values.data(), Shape{8, 8}}, side);
  EXPECT_NEAR(values[0], 3.5 * 16, 1e-12);
  for (size_t i = 1; i < 64; ++i) EXPECT_NEAR(values[i], 0, 1e-12);
}

// Fourier's coefficients are the sums of values times cosines and sines of whole periods.
TEST(Dft, FourierFindsThePeriods) {
  for (const size_t n : {8u, 9u}) {
    const double pi = std::numbers::pi, scale = 3.5 * std::sqrt(double(n) / 2);
    for (const double phase : {0.0, 0.3, 1.5}) {
      std::vector<double> values;
      for (size_t i = 0; i < n; ++i)
        values.push_back(std::cos(2 * pi * 3 * double(i) / double(n) - phase));
      Writer side;
      Dft{.params = {.block = 16, .waves = Waves::fourier}}.forward(
          Field<double>{values.data(), Shape{n}}, side);
      for (size_t k = 0; k < n; ++k) {
        const double wanted = k == 5   ? scale * std::cos(phase)
                              : k == 6 ? scale * std::sin(phase)
                                       : 0;
        EXPECT_NEAR(values[k], wanted, 1e-12) << n << " " << k;
      }
    }
  }
}

TEST(Dft, WholeStreams) {
  for (const Shape& shape : {Shape{500}, Shape{30, 41}, Shape{9, 10, 11}, Shape{3, 4, 5, 6}})
    for (const std::string recipe : {"dft+linear+arithmetic+zstd", "dft:block=5+linear+huffman",
                                     "dft:block=6,waves=fourier+linear+huffman"})
      for (const Texture texture : kTextures)
        for (const double bound : {0.3, 1e-3, 1e-7}) {
          const auto options = options_for<float>(Bound::abs(bound), recipe);
          const auto values = make_field<float>(shape, texture);
          const Array once = decompress(check_round_trip(values, shape, options));
          // Coefficients of decoded values are where they were, or the chunk is kept without loss.
          const Array twice = decompress(compress(once.as<float>().data(), shape, options));
          for (size_t i = 0; i < values.size(); ++i)
            ASSERT_EQ(bits_of(once.as<float>()[i]), bits_of(twice.as<float>()[i]))
                << recipe << bound << int(texture);
        }
  EXPECT_THROW(parse_recipe("dft+lorenzo+linear+huffman"), Error);
}

// Coefficients that all vanish leave an error as large as the value: a smaller bound is needed.
TEST(Dft, ChunksTakeSmallerBoundsWhereTheyMust) {
  const Shape shape{64, 64};
  std::vector<float> values;
  for_each_outer(shape, 0, [&](const Index& i) {
    const bool spike = i[0] % 8 == 3 && i[1] % 8 == 4;
    values.push_back(float(std::sin(0.1 * double(i[0])) + (spike ? 0.0108 : 0)));
  });
  const auto options = options_for<float>(Bound::abs(0.01), "dft+linear+huffman+zstd");
  const Bytes stream = check_round_trip(values, shape, options);
  EXPECT_GT(inspect(stream).statement.max_error, 0.001);
  EXPECT_GT(double(values.size() * 4) / double(stream.size()), 8);
}

TEST(Dft, IsOfUse) {
  const Shape shape{64, 64};
  std::vector<float> values;
  for_each_outer(shape, 0, [&](const Index& i) {
    values.push_back(float(std::sin(0.3 * double(i[0])) * std::cos(0.2 * double(i[1]))));
  });
  const Bytes stream =
      compress(values.data(), shape, options_for<float>(Bound::abs(0.01), "dft+linear+arithmetic"));
  EXPECT_GT(double(values.size() * 4) / double(stream.size()), 5);
}

}  // namespace
}  // namespace leeway::test
