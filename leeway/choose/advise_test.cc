// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/choose/advise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "leeway/base/error.h"

namespace leeway {
namespace {

TEST(Advise, TriesEveryRecipeUnderTheBoundOfTheWhole) {
  const Shape shape{40, 50, 60};
  std::vector<float> values(size_t(shape.size()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(float(i) * 1e-3f);
  values[0] = 1000;  // the range of the whole, not of the part in the middle
  CompressOptions options;
  options.bound = Bound::rel(1e-5);
  const auto advice = advise(view_of(values.data(), shape), options, {}, 10000);
  ASSERT_EQ(advice.size(), presets().size());
  for (size_t i = 0; i < advice.size(); ++i) {
    EXPECT_EQ(advice[i].recipe, presets()[i]);
    EXPECT_GT(advice[i].ratio, 1);
    EXPECT_GT(advice[i].compress_mb_s, 0);
    EXPECT_GT(advice[i].max_error, 1e-4);  // of the part's own range it would be 2e-5 at most
    EXPECT_LE(advice[i].max_error, 1e-5 * 1001);
  }
}

TEST(Advise, KnowsOddArrays) {
  const std::vector<double> constant(100, 7.0);
  CompressOptions options;
  options.bound = Bound::rel(1e-3) && Bound::psnr(40);
  EXPECT_EQ(advise(view_of(constant.data(), {100}), options, {"balanced"}).size(), 1u);
  EXPECT_EQ(advise(view_of(constant.data(), {}), options, {"small"}).size(), 1u);
  EXPECT_THROW(advise(view_of(constant.data(), {0, 3}), options), Error);
  EXPECT_THROW(advise(view_of(constant.data(), {100}), options, {"nosuch"}), Error);
}

}  // namespace
}  // namespace leeway
