// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quantize/logscale.h"

#include "leeway/quality/compare.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Logscale, LevelsAreAtMostAStepApartAndTheirOwnNearest) {
  const LogscaleGrid<double> grid(0.5);
  double before = -1e9;
  for (i64 q = -40; q <= 40; ++q) {
    double x = grid.recover(0.25, q);
    EXPECT_LE(x - before, q == -40 ? 2e9 : 1.0);
    EXPECT_GT(x, before);
    before = x;
    i64 found = 0;
    EXPECT_TRUE(grid.quantize(x, 0.25, found));
    EXPECT_EQ(found, q);
    EXPECT_EQ(x, before);
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
    for (const std::string recipe : {"lorenzo+logscale+huffman", "logscale+huffman+zstd"})
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
