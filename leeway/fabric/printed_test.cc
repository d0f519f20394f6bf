// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/printed.h"
#include "tests/support.h"

namespace leeway::fabric {
namespace {

TEST(WaferPrinted, TablesOneToThreeComeOutWithinOnePercent) {
  size_t tables = 0;
  for (const PrintedNumber& n : printed_numbers()) {
    if (n.table != "Table 1" && n.table != "Table 2" && n.table != "Table 3") continue;
    ++tables;
    EXPECT_NEAR(n.modelled, *n.printed, 0.0105 * *n.printed) << n.what;
    if (n.what.find("Bit-shuffle") != std::string::npos)
      EXPECT_NEAR(n.modelled, *n.printed, 2) << n.what;
  }
  EXPECT_EQ(tables, 30u);
}

TEST(WaferPrinted, BothMeansComeOutWithOneConstant) {
  size_t means = 0;
  for (const PrintedNumber& n : printed_numbers())
    if (n.what.starts_with("mean of all")) {
      ++means;
      EXPECT_NEAR(n.modelled, *n.printed, 0.005 * *n.printed) << n.table;
    }
  EXPECT_EQ(means, 2u);
}

// The same blocks with larger heads: exact for the field with the lowest ratio.
TEST(WaferPrinted, LowestRatiosFollowFromThoseOfCuszp) {
  for (const PrintedNumber& n : printed_numbers())
    if (n.what.find("lowest, from") != std::string::npos)
      EXPECT_NEAR(n.modelled, *n.printed, 0.006 * *n.printed) << n.what;
}

TEST(WaferPrinted, SumsUpToAStraightLineInTheWidth) {
  for (u32 width = 1; width <= 17; ++width) {
    EXPECT_EQ(kScalarCosts.of_block(Direction::compress, width), 10447 + 1983 * width);
    EXPECT_EQ(kScalarCosts.of_block(Direction::decompress, width), 6990 + 1983 * width);
  }
  EXPECT_EQ(kScalarCosts.of_block(Direction::compress, 0), 7089u);
  EXPECT_EQ(kScalarCosts.of_block(Direction::decompress, 0), 0u);
}

TEST(WaferPrinted, RelaySchemesHaveTheirClosedForms) {
  Machine machine;
  const auto at = [&](Relay relay, u32 width) {
    const auto partition =
        make_partition(Direction::compress, PartitionRule::optimal, kScalarCosts, 1, width);
    return round_cycles(machine, relay, partition, kScalarCosts, width);
  };
  EXPECT_EQ(at(Relay::paper, 0), 512 * 60 + 7089);
  EXPECT_EQ(at(Relay::bulk, 12), 512 * 32 + 28 + 34243);
  EXPECT_EQ(at(Relay::both, 6), 256 * 60 + 22345);
  EXPECT_EQ(at(Relay::router, 0), 512 * 33 + 1);
  EXPECT_EQ(at(Relay::router, 12), 34243 + 60);
}

}  // namespace
}  // namespace leeway::fabric
