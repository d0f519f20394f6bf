// SPDX-License-Identifier: BSD-3-Clause
// Lookback: where each of many parts goes in one piece of memory, found while they are made
// [Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016].
//
// A part publishes its size, then looks back over the parts before it, adding up sizes, until it
// meets one whose place is known. Nobody waits for a part to be copied, only for its size.
#pragma once

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "leeway/core/types.h"

namespace leeway {

class Lookback {
 public:
  explicit Lookback(size_t count) : states_(count) {}

  // Part i has this size; returns the sum of all before, or nothing if one of them failed. Parts
  // must be handed out in ascending order, so that all before are done or in work.
  std::optional<u64> place(size_t i, u64 size) {
    states_[i].store(size << 2 | kSize, std::memory_order_release);
    u64 sum = 0;
    for (size_t k = i; k > 0;) {
      const u64 state = states_[k - 1].load(std::memory_order_acquire);
      switch (state & 3) {
        case kNothing:
          std::this_thread::yield();
          continue;
        case kFailed:
          fail(i);
          return std::nullopt;
        case kSize:
          sum += state >> 2;
          --k;
          continue;
        default:
          sum += state >> 2;
          k = 0;
      }
    }
    states_[i].store((sum + size) << 2 | kSum, std::memory_order_release);
    return sum;
  }
  // Part i will never have a size.
  void fail(size_t i) { states_[i].store(kFailed, std::memory_order_release); }

 private:
  enum : u64 { kNothing = 0, kSize = 1, kSum = 2, kFailed = 3 };  // kSum: of all up to here
  std::vector<std::atomic<u64>> states_;
};

}  // namespace leeway
