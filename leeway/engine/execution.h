// SPDX-License-Identifier: BSD-3-Clause
// Execution: what compressing and decompressing share: reporting progress, and the number of
// workers that the memory budget allows.
#pragma once

#include <algorithm>
#include <mutex>

#include "leeway/engine/engine.h"

namespace leeway {

// Adds up the progress of several threads.
class Meter {
 public:
  Meter(const Progress& progress, double total) : progress_(progress), total_(total) {}
  void add(double amount) {
    if (!progress_) return;
    const std::lock_guard lock(mutex_);
    done_ += amount;
    if (!progress_(std::min(1.0, done_ / total_)))
      throw Error(Errc::canceled, "stopped on request");
  }

 private:
  const Progress& progress_;
  double total_, done_ = 0;
  std::mutex mutex_;
};

// How many buffers of the size of a chunk each worker may need: five of its own, and up to eight
// finished groups that wait to be written.
inline constexpr u64 kWorkingCopies = 5 + 8;

inline unsigned affordable_threads(const Execution& execution, u64 chunk_bytes) {
  if (execution.memory == 0) return std::max(1u, execution.threads);
  const u64 affordable = execution.memory / (kWorkingCopies * std::max<u64>(chunk_bytes, 1));
  return unsigned(std::clamp<u64>(affordable, 1, std::max(1u, execution.threads)));
}

}  // namespace leeway
