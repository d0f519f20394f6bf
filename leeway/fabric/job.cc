// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/job.h"

#include <algorithm>
#include <limits>

#include "leeway/base/error.h"

namespace leeway::fabric {

void Job::check(u32 length) const {
  machine.check();
  if (length == 0) fail_argument("a pipeline has at least one PE");
  const std::string columns = std::to_string(machine.columns);
  const u32 shortest = feeds_both_edges() ? machine.columns / 2 : machine.columns;
  if (feeds_both_edges() && machine.columns < 2)
    fail_argument("rows that are fed from both edges have at least 2 columns");
  if (length > shortest)
    fail_argument("a pipeline of " + std::to_string(length) + " PEs does not fit " + columns +
                  (feeds_both_edges() ? " columns that are fed from both edges" : " columns"));
  // Raw and intermediate words would meet on the links, in an order that depends on the data.
  if (relay == Relay::router && length > 1)
    fail_argument("relays by the router are for pipelines of one PE");
}

std::vector<Chain> chains_of(const Job& job) {
  std::vector<Chain> chains;
  const u32 columns = job.machine.columns;
  for (u32 row = 0; row < job.machine.rows; ++row) {
    const u32 west = job.feeds_both_edges() ? (columns + 1) / 2 : columns;
    chains.push_back({row, 0, west, false, {}});
    if (job.feeds_both_edges()) chains.push_back({row, columns - 1, columns - west, true, {}});
  }
  return chains;
}

void deal(const Job& job, u64 count, std::vector<Chain>& chains) {
  if (count > std::numeric_limits<u32>::max()) fail_argument("more than 2^32 blocks");
  u64 weights = 0;
  for (const Chain& chain : chains) weights += chain.pipelines(job.length());
  u64 next = 0;
  switch (job.deal) {
    case Deal::parts: {
      // In proportion to the pipelines.
      u64 before = 0;
      for (Chain& chain : chains) {
        before += chain.pipelines(job.length());
        for (; next < count * before / weights; ++next) chain.blocks.push_back(u32(next));
      }
      break;
    }
    case Deal::blocks:
      while (next < count)
        for (Chain& chain : chains)
          if (next < count) chain.blocks.push_back(u32(next++));
      break;
    case Deal::runs:
    case Deal::free:
      while (next < count)
        for (Chain& chain : chains)
          for (u32 k = 0; k < chain.pipelines(job.length()) && next < count; ++k)
            chain.blocks.push_back(u32(next++));
      break;
  }
}

}  // namespace leeway::fabric
