// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quantize/logscale.h"

#include "leeway/quality/compare.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Logscale, LevelsAreAtMostAStepApartAndTheirOwnNearest) {
  for (const int levels : {1, 2, 3, 7, 16}) {
    const LogscaleGrid<double> grid(0.5, levels);
    double before = -1e9;
    for (i64 q = -40; q <= 40; ++q) {
      double x = grid.recover(0.25, q);
      EXPECT_LE(x - before, q == -40 ? 2e9 : 1.0);
      EXPECT_GT(x, before);
      before = x;
      i64 found = 0;
      EXPECT_TRUE(grid.quantize(x, 0.25, found));
      EXPECT_EQ(found, q) << levels;
      EXPECT_EQ(x, before);
    }
  }
}

TEST(Logscale, DistancesDouble) {
  for (const int levels : {1, 3, 9}) {
    const LogscaleGrid<double> grid(0.5, levels);
    const double step = grid.recover(0, levels + 2) - grid.recover(0, levels + 1);
    for (i64 q = 1; q <= levels; ++q)
      EXPECT_NEAR(grid.recover(0, q) - grid.recover(0, q - 1),
                  std::ldexp(step, int(q) - 1 - levels), 1e-12);
    // Whatever lies between two levels goes to the nearer one.
    for (double x = 0.001; x < 3; x += 0.0137) {
      i64 code = 0;
      double found = x;
      ASSERT_TRUE(grid.quantize(found, 0.0, code));
      for (const i64 other : {code - 1, code + 1})
        EXPECT_LE(std::abs(x - found), std::abs(x - grid.recover(0, other)) + 1e-12);
    }
  }
}

TEST(Logscale, HasLessNoiseThanLinear) {
  const Shape shape{60, 70};
  const auto values = make_field<float>(shape, Texture::smooth);
  const auto noise = [&](const std::string& recipe) {
    const auto options = options_for<float>(Bound::abs(0.3), recipe);
    const Array decoded = decompress(check_round_trip(values, shape, options));
    return compare(view_of(values.data(), shape),
                   View(static_cast<const std::byte*>(decoded.data()), DType::f32, shape), {},
                   false)
        .rmse;
  };
  EXPECT_LT(noise("lorenzo+logscale+huffman"), 0.9 * noise("lorenzo+linear+huffman"));
}

TEST(Logscale, WholeStreams) {
  for (const Shape& shape : {Shape{500}, Shape{30, 40}, Shape{5, 6, 7}})
    for (const std::string recipe : {"lorenzo+logscale+huffman", "logscale:levels=6+huffman+zstd"})
      for (const Texture texture : kTextures)
        for (const double bound : {1e-7, 1e-2, 3.0}) {
          check_round_trip(make_field<float>(shape, texture), shape,
                           options_for<float>(Bound::abs(bound), recipe));
          check_round_trip(make_field<double>(shape, texture), shape,
                           options_for<double>(Bound::abs(bound), recipe));
          check_round_trip(make_field<bf16>(shape, texture), shape,
                           options_for<bf16>(Bound::abs(bound), recipe));
        }
}

}  // namespace
}  // namespace leeway::test
