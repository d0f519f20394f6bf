// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/partition.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/support.h"

namespace leeway::fabric {
namespace {

u32 bottleneck(std::span<const u32> cycles, std::span<const u32> cuts) {
  u32 most = 0;
  for (size_t pe = 0; pe + 1 < cuts.size(); ++pe)
    most = std::max(
        most, std::accumulate(cycles.begin() + cuts[pe], cycles.begin() + cuts[pe + 1], u32(0)));
  return most;
}

// Every way to put cuts.
u32 smallest_bottleneck(std::span<const u32> cycles, u32 length, std::vector<u32> cuts = {0}) {
  if (cuts.size() == length) {
    cuts.push_back(u32(cycles.size()));
    return bottleneck(cycles, cuts);
  }
  u32 best = ~u32(0);
  for (u32 cut = cuts.back(); cut <= cycles.size(); ++cut) {
    cuts.push_back(cut);
    best = std::min(best, smallest_bottleneck(cycles, length, cuts));
    cuts.pop_back();
  }
  return best;
}

TEST(WaferPartition, OptimalIsTheBestOfAllAndGreedyNeverBetter) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<u32> cycles(1 + random() % 12);
    for (u32& c : cycles) c = random() % 100;
    const u32 length = 1 + random() % 5;
    const auto optimal = optimal_cuts(cycles, length), greedy = greedy_cuts(cycles, length);
    ASSERT_EQ(optimal.size(), length + 1);
    EXPECT_TRUE(std::ranges::is_sorted(optimal) && std::ranges::is_sorted(greedy));
    EXPECT_EQ(bottleneck(cycles, optimal), smallest_bottleneck(cycles, length));
    EXPECT_GE(bottleneck(cycles, greedy), bottleneck(cycles, optimal));
  }
}

// Worked out by hand from the cycles of Tables 2 and 3.
TEST(WaferPartition, OfThePapersSubStages) {
  struct Case {
    u32 width, length, greedy, optimal;
  };
  for (const Case& c : {Case{12, 2, 18379, 17847},
                        {12, 3, 12430, 11898},
                        {12, 4, 9915, 9209},
                        {13, 3, 13881, 12430},
                        {13, 6, 7932, 6316},
                        {17, 6, 8263, 7932}}) {
    const auto of = [&](PartitionRule rule) {
      return make_partition(Direction::compress, rule, kScalarCosts, c.length, c.width)
          .bottleneck(kScalarCosts, c.width);
    };
    EXPECT_EQ(of(PartitionRule::greedy), c.greedy) << c.width << " bits, " << c.length;
    EXPECT_EQ(of(PartitionRule::optimal), c.optimal) << c.width << " bits, " << c.length;
  }
  for (const auto& [width, most] : {std::pair(12u, 6u), {13u, 7u}, {17u, 8u}})
    EXPECT_EQ(longest_useful(Direction::compress, kScalarCosts, width), most);
}

TEST(WaferPartition, AllPesTogetherDoAllOfABlock) {
  for (const Direction direction : {Direction::compress, Direction::decompress})
    for (u32 length = 1; length <= 9; ++length)
      for (u32 width = 0; width <= 16; ++width) {
        const auto partition =
            make_partition(direction, PartitionRule::optimal, kScalarCosts, length, 9);
        u32 sum = 0;
        for (u32 pe = 0; pe < length; ++pe) sum += partition.cost(kScalarCosts, pe, width);
        EXPECT_EQ(sum, kScalarCosts.of_block(direction, width)) << width;
      }
}

}  // namespace
}  // namespace leeway::fabric
