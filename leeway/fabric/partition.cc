// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/partition.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "leeway/base/error.h"

namespace leeway::fabric {

u32 Partition::cost(const CostTable& table, u32 pe, u32 width) const {
  const std::vector<SubStage> stages = sub_stages(direction, planned);
  u32 sum = 0;
  for (u32 s = cuts[pe]; s < cuts[pe + 1]; ++s) {
    sum += table.of(direction, stages[s], width);
    if (stages[s].work == Work::shuffle && stages[s].plane + 1 == planned)
      for (u32 plane = planned; plane < width; ++plane)
        sum += table.of(direction, {Work::shuffle, plane}, width);
  }
  return sum;
}

u32 Partition::bottleneck(const CostTable& table, u32 width) const {
  u32 most = 0;
  for (u32 pe = 0; pe < length(); ++pe) most = std::max(most, cost(table, pe, width));
  return most;
}

std::vector<u32> greedy_cuts(std::span<const u32> cycles, u32 length) {
  const u64 all = std::accumulate(cycles.begin(), cycles.end(), u64(0));
  std::vector<u32> cuts{0};
  u32 next = 0;
  for (u32 pe = 0; pe + 1 < length; ++pe) {
    for (u64 sum = 0; next < cycles.size() && sum * length < all; ++next) sum += cycles[next];
    cuts.push_back(next);
  }
  cuts.push_back(u32(cycles.size()));
  return cuts;
}

// best[m][n]: the smallest bottleneck of the first n sub-stages on m PEs.
std::vector<u32> optimal_cuts(std::span<const u32> cycles, u32 length) {
  const size_t count = cycles.size();
  std::vector<u64> before(count + 1, 0);
  std::partial_sum(cycles.begin(), cycles.end(), before.begin() + 1);
  constexpr u64 kNever = std::numeric_limits<u64>::max();
  std::vector<std::vector<u64>> best(length + 1, std::vector<u64>(count + 1, kNever));
  std::vector<std::vector<u32>> cut(length + 1, std::vector<u32>(count + 1, 0));
  best[0][0] = 0;
  for (u32 m = 1; m <= length; ++m)
    for (size_t n = 0; n <= count; ++n)
      for (size_t k = 0; k <= n; ++k) {
        if (best[m - 1][k] == kNever) continue;
        const u64 bottleneck = std::max(best[m - 1][k], before[n] - before[k]);
        if (bottleneck < best[m][n]) {
          best[m][n] = bottleneck;
          cut[m][n] = u32(k);
        }
      }
  std::vector<u32> cuts(length + 1, u32(count));
  for (u32 m = length; m > 0; --m) cuts[m - 1] = cut[m][cuts[m]];
  return cuts;
}

Partition make_partition(Direction direction, PartitionRule rule, const CostTable& table,
                         u32 length, u32 planned) {
  if (length == 0) fail_argument("a pipeline has at least one PE");
  planned = std::max(planned, 1u);
  std::vector<u32> cycles;
  for (const SubStage& stage : sub_stages(direction, planned))
    cycles.push_back(table.of(direction, stage, planned));
  return {
      direction, planned,
      rule == PartitionRule::greedy ? greedy_cuts(cycles, length) : optimal_cuts(cycles, length)};
}

u32 longest_useful(Direction direction, const CostTable& table, u32 width) {
  u32 longest = 1, all = 0;
  for (const SubStage& stage : sub_stages(direction, width)) {
    const u32 cycles = table.of(direction, stage, std::max(width, 1u));
    longest = std::max(longest, cycles);
    all += cycles;
  }
  return std::max(1u, all / longest);
}

}  // namespace leeway::fabric
