// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/fixed_huffman.h"

#include "leeway/encode/encoder_test.h"

namespace leeway::test {
namespace {

TEST(FixedHuffman, RoundTripsAndSurvivesDamage) { check_encoder(FixedHuffman()); }

TEST(FixedHuffman, HasTheCodewordsOfPastri) {
  const auto bits = [](std::vector<i32> codes) {
    Writer out;
    FixedHuffman().encode(std::span<const i32>(codes), out);
    return 8 * (out.size() - 1) / 8 * 8;
  };
  EXPECT_EQ(bits(std::vector<i32>(200, 0)), 8u);  // a width and nothing else
  EXPECT_EQ(bits(std::vector<i32>(9, 1)), 32u);   // 7 + 9 * 2
  std::vector<i32> codes(11, 1);
  codes.push_back(5);
  EXPECT_EQ(bits(codes), 48u);  // 7 + 11 * 3 + 2 + 4
}

}  // namespace
}  // namespace leeway::test
