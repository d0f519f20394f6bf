// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/parts/token.h"

#include <algorithm>

#include "leeway/encode/encoder_test.h"

namespace leeway::test {
namespace {

template <class I>
void check_tokens() {
  for (const std::vector<I>& codes : code_samples<I>()) {
    std::vector<u8> tokens(codes.size());
    BitWriter bits;
    tokenize(std::span<const I>(codes), std::span(tokens), bits);
    const Writer raw = bits.take();
    std::vector<I> decoded(codes.size());
    BitReader reader(raw.bytes());
    detokenize(tokens, reader, std::span(decoded));
    reader.expect_end();
    ASSERT_EQ(decoded, codes);
    for (size_t i = 0; i < codes.size(); ++i)
      if (zigzag(codes[i]) < kDirectTokens) ASSERT_EQ(tokens[i], zigzag(codes[i]));
  }
}

TEST(Token, RoundTrips) {
  check_tokens<i16>();
  check_tokens<i32>();
  check_tokens<i64>();
}

TEST(Token, IsAsSpecified) {
  const i32 codes[] = {300};
  u8 token;
  BitWriter bits;
  tokenize(std::span<const i32>(codes), std::span(&token, 1), bits);
  const Writer raw = bits.take();
  EXPECT_EQ(token, 136);
  ASSERT_EQ(raw.size(), 1u);
  EXPECT_EQ(raw.bytes()[0], 0b1011000);
}

TEST(Token, TheLowestCodeHasItsOwn) {
  const i32 narrow[] = {std::numeric_limits<i32>::min()};
  const i64 wide[] = {std::numeric_limits<i64>::min()};
  u8 token;
  BitWriter bits;
  tokenize(std::span<const i32>(narrow), std::span(&token, 1), bits);
  EXPECT_EQ(token, 228);
  tokenize(std::span<const i64>(wide), std::span(&token, 1), bits);
  EXPECT_EQ(token, 242);
  EXPECT_EQ(bits.size(), 0u);
}

// Whole blocks go another way than single codes.
TEST(Token, BlocksAreLikeCodesOneByOne) {
  std::vector<i32> codes;
  for (int bit = 0; bit < 31; ++bit)
    for (const i32 off : {-1, 0, 1})
      for (const i32 sign : {-1, 1}) codes.push_back(sign * i32((u32(1) << bit) + u32(off)));
  codes.push_back(std::numeric_limits<i32>::max());
  codes.push_back(std::numeric_limits<i32>::min());
  codes.push_back(std::numeric_limits<i32>::min() + 1);
  codes.resize(192, 5);
  std::vector<u8> together(codes.size()), apart(codes.size());
  BitWriter bits, bits_apart;
  bits.put(3, 2);
  bits_apart.put(3, 2);
  tokenize(std::span<const i32>(codes), std::span(together), bits);
  for (size_t i = 0; i < codes.size(); ++i)
    tokenize(std::span<const i32>(codes).subspan(i, 1), std::span(apart).subspan(i, 1), bits_apart);
  EXPECT_EQ(together, apart);
  const Writer raw = bits.take(), raw_apart = bits_apart.take();
  EXPECT_TRUE(std::ranges::equal(raw.bytes(), raw_apart.bytes()));
}

// Block or not.
TEST(Token, RefusesNarrowCodesOfMoreBits) {
  for (const size_t count : {1, 32, 64}) {
    std::vector<i32> codes(count, 1000);
    codes.back() = 40000;
    std::vector<u8> tokens(count);
    BitWriter bits;
    tokenize(std::span<const i32>(codes), std::span(tokens), bits);
    for (int i = 0; i < 20; ++i) bits.put(0, 32);  // far from the end
    const Writer raw = bits.take();
    BitReader reader(raw.bytes());
    std::vector<i16> decoded(count);
    EXPECT_THROW(detokenize(tokens, reader, std::span(decoded)), Error);
  }
}

TEST(Token, RefusesWrongRawBits) {
  const u8 tokens[] = {136};
  const auto detokenize = [](std::span<const u8> all, ByteView raw, std::span<i32> codes) {
    BitReader reader(raw);
    leeway::detokenize(all, reader, codes);
    reader.expect_end();
  };
  i32 code;
  EXPECT_THROW(detokenize(tokens, {}, std::span(&code, 1)), Error);
  const u8 too_many[] = {0, 0}, padded[] = {0x80};
  EXPECT_THROW(detokenize(tokens, too_many, std::span(&code, 1)), Error);
  EXPECT_THROW(detokenize(tokens, padded, std::span(&code, 1)), Error);
  const u8 outside[] = {255};
  EXPECT_THROW(detokenize(outside, too_many, std::span(&code, 1)), Error);
}

}  // namespace
}  // namespace leeway::test
