// SPDX-License-Identifier: BSD-3-Clause
// Lookback: finds where each of many parts goes in one piece of memory, while parts are being made
// [Merrill and Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016].
//
// A part publishes its size, then looks back over the parts before it, adding up sizes, until it
// meets one whose place is known. No thread waits until a part is copied, only until sizes
// are known; a thread that does not want to wait may look again later.
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "leeway/base/types.h"

namespace leeway {

class Lookback {
 public:
  explicit Lookback(size_t count) : states_(count) {}

  // Makes the size of part i known.
  void publish(size_t i, u64 size) {
    states_[i].store(size << 2 | kSize, std::memory_order_release);
  }

  // Returns the sum of the sizes of all parts before part i; nothing if some are not known yet.
  std::optional<u64> find(size_t i) {
    u64 sum = 0;
    for (size_t k = i; k > 0; --k) {
      const u64 state = states_[k - 1].load(std::memory_order_acquire);
      if (state == kNothing) return std::nullopt;
      sum += state >> 2;
      if ((state & 3) == kSum) break;
    }
    const u64 size = states_[i].load(std::memory_order_relaxed) >> 2;
    if ((states_[i].load(std::memory_order_relaxed) & 3) == kSize)
      states_[i].store((sum + size) << 2 | kSum, std::memory_order_release);
    return sum;
  }

 private:
  enum : u64 { kNothing = 0, kSize = 1, kSum = 2 };  // kSum: sum of all sizes up to this part
  std::vector<std::atomic<u64>> states_;
};

}  // namespace leeway
