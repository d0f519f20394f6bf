// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quality/compare.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Compare, KnowsTheMeasures) {
  const std::vector<double> x = {0, 1, 2, 3}, y = {0, 1.5, 2, 2};
  const Comparison c = compare(view_of(x.data(), {4}), view_of(y.data(), {4}));
  EXPECT_EQ(c.max_abs, 1);
  EXPECT_DOUBLE_EQ(c.max_rel, 1.0 / 3);
  EXPECT_DOUBLE_EQ(c.max_pointwise, 0.5);
  EXPECT_DOUBLE_EQ(c.l2, std::sqrt(1.25));
  EXPECT_DOUBLE_EQ(c.rmse, std::sqrt(1.25 / 4));
  EXPECT_DOUBLE_EQ(c.psnr, 20 * std::log10(3 / c.rmse));
  EXPECT_DOUBLE_EQ(c.mean_error, 0.125);
  EXPECT_NEAR(c.pearson, 3.25 / std::sqrt(5 * 2.6875), 1e-12);
}

TEST(Compare, EqualArraysAreEqual) {
  const auto x = make_field<float>({20, 30}, Texture::smooth);
  const Comparison c = compare(view_of(x.data(), {20, 30}), view_of(x.data(), {20, 30}));
  EXPECT_EQ(c.max_abs, 0);
  EXPECT_TRUE(std::isinf(c.psnr));
  EXPECT_DOUBLE_EQ(c.ssim, 1);
  EXPECT_DOUBLE_EQ(c.pearson, 1);
}

TEST(Compare, SpecialValuesAreCountedNotCompared) {
  const float nan = std::nanf(""), inf = INFINITY;
  const std::vector<float> x = {1, nan, inf, 5, 1e20f}, y = {1, nan, -inf, nan, 1e20f};
  const Comparison c = compare(view_of(x.data(), {5}), view_of(y.data(), {5}), {bits_of(1e20f)});
  EXPECT_EQ(c.special_mismatches, 2u);
  EXPECT_EQ(c.compared, 1u);
  EXPECT_EQ(c.max, 5);
}

TEST(Compare, SsimFallsWithNoise) {
  const auto x = make_field<float>({64, 64}, Texture::smooth);
  const auto noise = make_field<float>({64, 64}, Texture::noise);
  double last = 1;
  for (const float amount : {0.01f, 0.1f, 1.0f}) {
    auto y = x;
    for (size_t i = 0; i < y.size(); ++i) y[i] += amount * noise[i];
    const double ssim = compare(view_of(x.data(), {64, 64}), view_of(y.data(), {64, 64})).ssim;
    EXPECT_LT(ssim, last);
    last = ssim;
  }
}

TEST(Compare, DifferentArraysAreRefused) {
  const float x[4] = {};
  EXPECT_THROW(compare(view_of(x, {4}), view_of(x, {2, 2})), Error);
}

}  // namespace
}  // namespace leeway::test
