// SPDX-License-Identifier: BSD-3-Clause
// LaneTimes: ChainTimes for 16 chains at once, a chain a lane of a vector. For relays by cores,
// compressing with pipelines of one PE and queues of 8 words, the common case: then all chains do
// the same, and only times differ.
#pragma once

#include "leeway/base/buffer.h"
#include "leeway/fabric/chain.h"

namespace leeway::fabric {

class LaneTimes {
 public:
  static constexpr u32 kLanes = 16, kQueue = 8;
  static bool can_do(const Job& job);

  LaneTimes(const Job& job, const PipelineCosts& costs, u32 count);

  // Every chain takes a block for each of its first PEs; widths[k * kLanes + lane] is the width of
  // its k-th.
  void round(std::span<const u8> widths);
  i64 end(u32 lane) const;
  Spent spent(u32 pe, u32 lane) const;

 private:
  void relay(u32 target);
  // Times are 32 bits wide, counted from `base_` on, and brought back to 0 in time.
  void rebase();

  const Job& job_;
  const PipelineCosts& costs_;
  u32 count_;
  i64 base_ = 0;
  using Lanes = std::vector<i32>;     // [pe][lane]
  Lanes free_, behind_;               // behind: the cycle behind the last word
  Lanes room_;                        // [pe][word][lane]: from when on the queue has room again
  Lanes wait_words_, wait_room_;      // since the last rebase()
  std::vector<u64> moved_, started_;  // of every PE, all lanes alike
  std::vector<Spent> spent_;          // [pe][lane]
};

}  // namespace leeway::fabric
