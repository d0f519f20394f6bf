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

// Squares of these values and errors overflow, or vanish.
TEST(Compare, ScalesLeaveTheMeasuresAlone) {
  const Shape shape{20, 30};
  const auto x = make_field<double>(shape, Texture::smooth);
  const auto noise = make_field<double>(shape, Texture::noise);
  const auto measured = [&](double scale, double amount) {
    auto a = x, b = x;
    for (size_t i = 0; i < x.size(); ++i) {
      a[i] = scale * x[i];
      b[i] = scale * (x[i] + amount * noise[i]);
    }
    return compare(view_of(a.data(), shape), view_of(b.data(), shape));
  };
  const Comparison one = measured(1, 0x1p-10);
  for (const double scale : {0x1p700, 0x1p1018, 0x1p-600, 0x1p-960}) {
    const Comparison c = measured(scale, 0x1p-10);
    EXPECT_NEAR(c.psnr, one.psnr, 1e-9) << scale;
    EXPECT_NEAR(c.nrmse, one.nrmse, 1e-12);
    EXPECT_NEAR(c.l2 / scale, one.l2, 1e-12);
    EXPECT_NEAR(c.rmse / scale, one.rmse, 1e-12);
    EXPECT_NEAR(c.mean_error / scale, one.mean_error, 1e-12);
    EXPECT_NEAR(c.pearson, one.pearson, 1e-12);
    EXPECT_NEAR(c.ssim, one.ssim, 1e-12);
  }
  auto outlier = x;  // far larger than all errors
  outlier[7] = 1e300;
  auto other = outlier;
  other[8] += 0x1p-20;
  EXPECT_DOUBLE_EQ(compare(view_of(outlier.data(), shape), view_of(other.data(), shape)).l2,
                   other[8] - outlier[8]);
}

TEST(Compare, IntegersOf64BitsAreNotRounded) {
  const u64 base = 1700000000000000000;
  const std::vector<i64> x = {i64(base), i64(base + 100), i64(base + 50), i64(base + 25)},
                         y = {i64(base + 1), i64(base + 100), i64(base + 50), i64(base + 24)};
  const Comparison c = compare(view_of(x.data(), {4}), view_of(y.data(), {4}));
  EXPECT_EQ(c.max_abs, 1);
  EXPECT_DOUBLE_EQ(c.max_rel, 0.01);
  EXPECT_EQ(c.mean_error, 0);
  EXPECT_GT(c.pearson, 0.999);
  // An error of 2^60 + 1 exceeds the bound 2^60.
  const std::vector<i64> far = {0}, beyond = {(i64(1) << 60) + 1};
  const std::vector<double> bound = {0x1p60};
  EXPECT_GT(compare(view_of(far.data(), {1}), view_of(beyond.data(), {1})).max_abs, 0x1p60);
  EXPECT_EQ(count_beyond(view_of(far.data(), {1}), view_of(beyond.data(), {1}),
                         view_of(bound.data(), {1})),
            1u);
}

TEST(Compare, ValuesThatBecomeFillValuesAreMismatches) {
  const std::vector<float> x = {1, 0, 2}, y = {0, 0, 2};
  const Comparison c = compare(view_of(x.data(), {3}), view_of(y.data(), {3}), {bits_of(0.0f)});
  EXPECT_EQ(c.special_mismatches, 1u);
  EXPECT_EQ(c.compared, 1u);
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
