// SPDX-License-Identifier: BSD-3-Clause
#include "tests/compose_pairs.h"

namespace leeway::test {
namespace {

TEST(Compose, PredictorsBeforeQuantizers) {
  EXPECT_EQ((check_pairs<float, Order::predict_first>(Predictors{}, Quantizers{})), 22u);
}

}  // namespace
}  // namespace leeway::test
