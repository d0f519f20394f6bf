// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/block.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tests/support.h"

namespace leeway::fabric {
namespace {

using Values = std::array<float, kBlock>;

Words raw_words(const Values& values) {
  Words words;
  for (const float v : values) words.push_back(std::bit_cast<u32>(v));
  return words;
}
Words coded_words_of(const LinearGrid<float>& grid, const Values& values) {
  std::array<u32, kMostCoded> words;
  const u32 count = encode_block(grid, values, words);
  return {words.begin(), words.begin() + count};
}
// On a pipeline of so many PEs, with the words counted that go from one to the next.
Words through(Direction direction, const LinearGrid<float>& grid, Words words, u32 length,
              u32 planned, u32 width) {
  const auto partition =
      make_partition(direction, PartitionRule::optimal, kScalarCosts, length, planned);
  u32 cycles = 0;
  for (u32 pe = 0; pe < length; ++pe) {
    EXPECT_EQ(words.size(), partition.words_before(pe, width));
    WorkCycles work{};
    cycles += run_stages(partition, pe, kScalarCosts, grid, words, work);
  }
  EXPECT_EQ(words.size(), partition.words_before(length, width));
  EXPECT_EQ(cycles, kScalarCosts.of_block(direction, width));
  return words;
}

TEST(WaferBlock, SubStagesOneByOneGiveTheWordsOfAllAtOnce) {
  const LinearGrid<float> grid(0.5);
  std::mt19937 random(3);
  for (int trial = 0; trial < 400; ++trial) {
    const float scale = std::ldexp(1.0f, int(random() % 17) - 1);
    Values values;
    for (float& v : values) v = trial % 7 == 0 ? 0 : scale * (float(random() % 2001) / 1000 - 1);
    const Words coded = coded_words_of(grid, values);
    const u32 width = width_of(coded[0]), length = 1 + random() % 8, planned = 1 + random() % 16;
    EXPECT_EQ(through(Direction::compress, grid, raw_words(values), length, planned, width), coded);
    Values decoded;
    decode_block(grid, coded, decoded);
    EXPECT_EQ(through(Direction::decompress, grid, coded, length, planned, width),
              raw_words(decoded));
    if (coded[0] & kNoCode) continue;
    for (u32 i = 0; i < kBlock; ++i) EXPECT_LE(std::abs(values[i] - decoded[i]), 0.5);
  }
}

// The example of the paper's Figure 5, four times over: codes 4 9 17 24 25 23 17 18.
TEST(WaferBlock, CodesTheExampleOfThePaper) {
  const LinearGrid<float> grid(0.5);  // steps just below 1
  constexpr float kCodes[] = {4, 9, 17, 24, 25, 23, 17, 18};
  Values values{};
  for (u32 i = 0; i < 8; ++i) values[i] = kCodes[i] * grid.short_step;
  for (u32 i = 8; i < kBlock; ++i) values[i] = kCodes[7] * grid.short_step;
  const Words words = coded_words_of(grid, values);
  ASSERT_EQ(words.size(), 2u + 4);  // differences 4 5 8 7 1 -2 -6 1: four bits
  EXPECT_EQ(words[0], 4u);
  EXPECT_EQ(words[1] & 0xff, 0b00000110u);
  EXPECT_EQ(words[2] & 0xff, 0b01011001u);  // lowest bits
  EXPECT_EQ(words[3] & 0xff, 0b00010110u);
  EXPECT_EQ(words[4] & 0xff, 0b11010010u);
  EXPECT_EQ(words[5] & 0xff, 0b00100000u);
}

TEST(WaferBlock, FlagsValuesWithoutACode) {
  const LinearGrid<float> grid(0.5);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), 1e30f, -40000.0f,
                          std::numeric_limits<float>::infinity()})
    for (const u32 place : {0u, 17u, 31u}) {
      Values values{};
      values[5] = 3;
      values[place] = bad;
      const Words coded = coded_words_of(grid, values);
      EXPECT_TRUE(coded[0] & kNoCode);
      for (const u32 length : {1u, 4u})
        EXPECT_EQ(
            through(Direction::compress, grid, raw_words(values), length, 8, width_of(coded[0])),
            coded);
    }
}

}  // namespace
}  // namespace leeway::fabric
