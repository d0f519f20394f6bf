// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/fixed.h"

#include "leeway/encode/encoder_test.h"
#include "leeway/recipe/recipe.h"

namespace leeway::test {
namespace {

Fixed fixed(i32 block, i32 outlier, i32 head) {
  Fixed stage;
  stage.params.block = block;
  stage.params.outlier = outlier;
  stage.params.head = head;
  return stage;
}

template <class I>
Bytes coded(const Fixed& stage, const std::vector<I>& codes) {
  Writer out;
  encode(stage, codes, out);
  return {out.bytes().begin(), out.bytes().end()};
}

TEST(Fixed, RoundTripsAndSurvivesDamage) {
  check_encoder(fixed(8, 0, 1));
  check_encoder(fixed(16, 1, 4));
  check_encoder(fixed(32, 1, 1));
  check_encoder(fixed(64, 1, 1));
}

// The worked example of CereSZ: length 4, a sign byte and four planes; with a head of one byte, 6.
TEST(Fixed, TheExampleOfCereSZ) {
  const Bytes bytes = coded<i32>(fixed(8, 0, 1), {4, 5, 8, 7, 1, -2, -6, 1});
  ASSERT_EQ(bytes.size(), 6u);
  EXPECT_EQ(bytes[0], 4);
  EXPECT_EQ(bytes[1], 0b00000110);  // signs
  EXPECT_EQ(bytes[2], 0b01011001);  // lowest bits of 4 5 8 7 1 2 6 1
  EXPECT_EQ(bytes[3], 0b00010110);
  EXPECT_EQ(bytes[4], 0b11010010);
  EXPECT_EQ(bytes[5], 0b00100000);
}

// The worked example of cuSZp2: a block of eight that starts with 8 and goes on with 0, 1 and -1
// takes 3 bytes instead of 5, heads not counted.
TEST(Fixed, TheExampleOfCuSZp2) {
  const std::vector<i32> block = {8, 0, 1, 0, -1, 0, 1, 0};
  EXPECT_EQ(coded(fixed(8, 0, 1), block).size(), 1 + 5u);
  const Bytes bytes = coded(fixed(8, 1, 1), block);
  ASSERT_EQ(bytes.size(), 1 + 3u);
  EXPECT_EQ(bytes[0], 0b10000001);  // outlier of one byte, one plane
  EXPECT_EQ(bytes[1], 8);
  EXPECT_EQ(bytes[2], 0b00001000);
  EXPECT_EQ(bytes[3], 0b00101010);
}

// size = 4 + (4 + 4 f) for every block that is not zero, 4 for one that is.
TEST(Fixed, CereSZTakesTheBytesOfItsFormula) {
  std::mt19937 random(21);
  for (int f = 0; f <= 31; ++f) {
    std::vector<i32> codes(32);
    for (i32& code : codes)
      code = f == 0 ? 0 : i32(random() & ((u32(1) << f) - 1)) * (random() % 2 ? 1 : -1);
    if (f > 0) codes[random() % 32] = -i32(u32(1) << (f - 1));
    EXPECT_EQ(coded(fixed(32, 0, 4), codes).size(), f == 0 ? 4u : 4 + 4 + 4 * size_t(f)) << f;
  }
}

TEST(Fixed, OutlierIsNeverLargerThanPlain) {
  for (const auto& codes : code_samples<i32>())
    EXPECT_LE(coded(fixed(32, 1, 1), codes).size(), coded(fixed(32, 0, 1), codes).size());
}

// The heads say where every block lies.
TEST(Fixed, ZeroBlocksAreAHeadOnly) {
  std::vector<i32> codes(32 * 100, 0);
  EXPECT_EQ(coded(Fixed(), codes), Bytes(100, 0));
  codes[32 * 50 + 7] = 1;
  const Bytes bytes = coded(Fixed(), codes);
  EXPECT_EQ(bytes.size(), 100 + 8u);
  EXPECT_EQ(bytes[50], 1);
}

TEST(Fixed, RefusesImpossibleParameters) {
  for (const char* recipe :
       {"linear+fixed:block=24", "linear+fixed:head=2", "linear+blocks:size=40"})
    EXPECT_THROW(parse_recipe(recipe), Error) << recipe;
}

// Whole blocks can be left out; heads are checked all the same.
TEST(Fixed, LeavesBlocksOut) {
  std::mt19937 random(9);
  std::vector<i32> codes(1000);
  for (i32& code : codes) code = i32(random() % 100) - 50;
  for (const i32 block : {8, 32, 64}) {
    const Fixed stage = fixed(block, 1, 1);
    const Bytes bytes = coded(stage, codes);
    Reader in(bytes);
    const auto source = stage.source<i32>(in, codes.size());
    std::vector<i32> decoded(64);
    EXPECT_FALSE(source->skip(size_t(block) - 1));
    EXPECT_TRUE(source->skip(320));
    source->next(decoded, nullptr);
    EXPECT_TRUE(std::ranges::equal(decoded, std::span(codes).subspan(320, 64)));
    EXPECT_TRUE(source->skip(512));
    source->next(decoded, nullptr);
    EXPECT_TRUE(std::ranges::equal(decoded, std::span(codes).subspan(896, 64)));
  }
}

}  // namespace
}  // namespace leeway::test
