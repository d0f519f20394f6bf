// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/residual.h"

#include "leeway/encode/encoder_test.h"

namespace leeway::test {
namespace {

TEST(Residual, RoundTripsAndSurvivesDamage) { check_encoder(Residual()); }

TEST(Residual, CostsLengthsAndBits) {
  std::mt19937 random(3);
  std::vector<i64> codes(100000);
  for (i64& code : codes) code = (i64(1) << 40 | i64(random())) * (random() % 2 ? 1 : -1);
  Writer out;
  Residual().encode(std::span<const i64>(codes), out);
  EXPECT_NEAR(double(out.size()) * 8 / 100000, 41, 0.1);
}

}  // namespace
}  // namespace leeway::test
