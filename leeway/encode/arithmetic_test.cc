// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/arithmetic.h"

#include "leeway/encode/encoder_test.h"

namespace leeway::test {
namespace {

TEST(Arithmetic, RoundTripsAndSurvivesDamage) { check_encoder(Arithmetic()); }

TEST(Arithmetic, ComesCloseToTheEntropy) {
  std::mt19937 random(3);
  std::vector<i32> codes(100000);
  for (i32& code : codes) code = random() % 16 == 0;
  Writer out;
  Arithmetic().encode(std::span<const i32>(codes), out);
  const double entropy = -(std::log2(15.0 / 16) * 15 + std::log2(1.0 / 16)) / 16;
  EXPECT_LT(double(out.size()) * 8 / 100000, 1.06 * entropy);
}

}  // namespace
}  // namespace leeway::test
