// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/huffman.h"

#include "leeway/encode/encoder_test.h"

namespace leeway::test {
namespace {

TEST(Huffman, RoundTripsAndSurvivesDamage) { check_encoder(Huffman()); }

// Fibonacci frequencies make the deepest tree: lengths must be cut to 12 bits.
TEST(Huffman, LimitsCodeLengths) {
  std::vector<i32> codes;
  u64 a = 1, b = 1;
  for (i32 symbol = 0; symbol < 25; ++symbol) {
    codes.insert(codes.end(), size_t(a), symbol);
    std::tie(a, b) = std::pair(b, a + b);
  }
  Writer out;
  encode(Huffman(), codes, out);
  Reader in(out.bytes());
  EXPECT_EQ(decode<i32>(Huffman(), in, codes.size()), codes);
}

TEST(Huffman, ComesCloseToTheEntropy) {
  std::mt19937_64 random(13);
  std::geometric_distribution<i32> geometric(0.2);
  std::vector<i32> codes(200000);
  std::array<double, 256> counts{};
  for (i32& code : codes) {
    const i32 magnitude = geometric(random);
    code = random() % 2 ? magnitude : -magnitude;
    ++counts[size_t(std::min(255, 2 * std::abs(code) + (code < 0)))];
  }
  double bits = 0;
  for (const double count : counts)
    if (count > 0) bits -= count * std::log2(count / double(codes.size()));
  Writer out;
  encode(Huffman(), codes, out);
  EXPECT_LT(double(out.size()), bits / 8 * 1.02 + 200);
}

}  // namespace
}  // namespace leeway::test
