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

void expect_refused(const Bytes& stream, size_t count) {
  Reader in(stream);
  try {
    decode<i32>(Huffman(), in, count);
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::corrupt);
  }
}

// No raw bits, mode 2, lengths 1 and 1 for tokens 0 and 1, then eight tokens.
TEST(Huffman, TakesFewTokens) {
  const Bytes stream = {0, 2, 0x11, 0b10};
  Reader in(stream);
  EXPECT_EQ(decode<i32>(Huffman(), in, 8), (std::vector<i32>{0, -1, 0, 0, 0, 0, 0, 0}));
}

TEST(Huffman, RefusesWrongLengthsOfFewTokens) {
  expect_refused({0, 2}, 8);                          // none
  expect_refused({0, 2, 0x21}, 8);                    // they end before the code is complete
  expect_refused({0, 2, 0x21, 0x01, 0}, 8);           // more than a complete code
  expect_refused({0, 2, 0x1f, 0x01, 0}, 8);           // no nibble of the list
  expect_refused({0, 2, 0x0d}, 8);                    // a run that leads nowhere
  expect_refused({0, 2, 0xfe, 0x0f}, 8);              // a long one
  expect_refused({0, 2, 0xfe, 0xef, 0xff, 0x11}, 8);  // more tokens than there are
  expect_refused({0, 2, 0x01, 0x71, 0}, 8);           // half a byte left over that is not 0
}

TEST(Huffman, RefusesStreamsOfFewTokensOfAnotherSize) {
  expect_refused({0, 2, 0x11}, 8);           // no stream
  expect_refused({0, 2, 0x11, 0b10}, 9);     // one that is too short
  expect_refused({0, 2, 0x11, 0b10, 0}, 8);  // one that is too long
  expect_refused({0, 2, 0x11, 0x80}, 7);     // padding that is not 0
  expect_refused({1, 0, 2, 0x11, 0b10}, 8);  // raw bits that no token has
  expect_refused({9, 2, 0x11, 0b10}, 8);     // raw bits that are not there
  expect_refused({0, 3, 0x11, 0b10}, 8);     // an unknown mode
}

}  // namespace
}  // namespace leeway::test
