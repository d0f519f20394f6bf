// SPDX-License-Identifier: BSD-3-Clause
// Placement: puts parts that several threads make into one piece of memory, one after the other.
//
// The place of a part is known as soon as the sizes of all parts before it are. A part that is
// finished earlier waits here; the thread that makes the last missing size known copies it.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <span>

#include "leeway/base/bytes.h"
#include "leeway/base/error.h"
#include "leeway/engine/lookback.h"

namespace leeway {

// Throws unless the bytes fit; nothing is copied if they are in their place already.
inline void place(std::span<u8> memory, u64 offset, ByteView bytes) {
  if (offset > memory.size() || bytes.size() > memory.size() - offset)
    throw Error(Errc::too_small, "the memory given is too small for the stream");
  u8* const to = memory.data() + offset;
  if (bytes.data() != to) std::ranges::copy(bytes, to);
}

class Placement {
 public:
  // For `parts` parts, the first of them at `start`.
  Placement(std::span<u8> memory, u64 start, u64 parts)
      : memory_(memory), start_(start), lookback_(size_t(parts)) {}

  // Where part i may be written: straight to its place, if that is known already.
  Writer writer_for(u64 i) {
    const auto before = lookback_.find(size_t(i));
    if (!before || start_ + *before >= memory_.size()) return Writer();
    return Writer(memory_.subspan(size_t(start_ + *before)));
  }
  // Part i is finished.
  void put(u64 i, Writer part) {
    lookback_.publish(size_t(i), part.size());
    if (const auto before = lookback_.find(size_t(i))) {
      place(memory_, start_ + *before, part.bytes());
      put_waiting();
    } else {
      const std::lock_guard lock(mutex_);
      waiting_.emplace(i, std::move(part));
    }
  }
  // Copies all waiting parts whose place is known by now.
  void put_waiting() {
    while (put_one_waiting()) {
    }
  }

 private:
  bool put_one_waiting() {
    std::unique_lock lock(mutex_);
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it)
      if (const auto before = lookback_.find(size_t(it->first))) {
        const auto node = waiting_.extract(it);
        lock.unlock();
        place(memory_, start_ + *before, node.mapped().bytes());
        return true;
      }
    return false;
  }

  std::span<u8> memory_;
  u64 start_;
  Lookback lookback_;
  std::map<u64, Writer> waiting_;
  std::mutex mutex_;
};

}  // namespace leeway
