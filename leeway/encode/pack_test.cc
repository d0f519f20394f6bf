// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/pack.h"

#include "leeway/encode/encoder_test.h"
#include "leeway/encode/parts/token.h"

namespace leeway::test {
namespace {

TEST(Pack, RoundTripsAndSurvivesDamage) { check_encoder(Pack()); }

Bytes packed(const std::vector<i32>& codes) {
  Writer out;
  encode(Pack(), codes, out);
  return {out.bytes().begin(), out.bytes().end()};
}

TEST(Pack, EveryWidthTakesItsBytes) {
  for (size_t width = 0; width <= 32; ++width) {
    std::vector<i32> codes(512);
    for (size_t i = 0; i < codes.size(); ++i)
      codes[i] = width == 0 ? 0 : unzigzag(u32((u64(1) << width) - 1 - i % 2 * (width > 1)));
    const Bytes bytes = packed(codes);
    EXPECT_EQ(bytes.size(), 2 * (1 + 32 * width));
    EXPECT_EQ(bytes[0], width);
    Reader in(bytes);
    EXPECT_EQ(decode<i32>(Pack(), in, codes.size()), codes) << width;
  }
}

// pack.md, by hand: code i of a block stands in lane i % 16.
TEST(Pack, TheLayoutIsAsWritten) {
  std::vector<i32> codes(256, 0);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = i % 16 == 3 ? -1 : 0;  // z = 1
  const Bytes bytes = packed(codes);
  ASSERT_EQ(bytes.size(), 33u);
  EXPECT_EQ(bytes[0], 1);
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(bytes[1 + i], i / 2 == 3 ? 0xff : 0) << i;
}

TEST(Pack, ASpikeIsPatched) {
  std::vector<i32> codes(256);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = i % 2 ? 1 : -2;  // two bits
  codes[200] = 100000;                                                  // 18 bits
  const Bytes bytes = packed(codes);
  EXPECT_EQ(bytes[0], 2 | 0x40);
  EXPECT_EQ(bytes[1], 1);  // one patch
  EXPECT_EQ(bytes[2], 2);  // of two bytes
  EXPECT_EQ(bytes[3], 200);
  EXPECT_EQ(bytes.size(), 1 + 2 + 1 + 2 + 64u);
}

TEST(Pack, WideCodesOnlyWhereNeeded) {
  std::vector<i64> codes(600, 3);
  codes[300] = i64(1) << 40;
  Writer out;
  encode(Pack(), codes, out);
  EXPECT_EQ(out.size(), (1 + 3 * 32) + (1 + 256 * 8) + (1 + 64u));
  Reader in(out.bytes());
  EXPECT_EQ(decode<i64>(Pack(), in, codes.size()), codes);
}

}  // namespace
}  // namespace leeway::test
