// SPDX-License-Identifier: BSD-3-Clause
// TagIndex: finds which owners may have a number. It names every owner that has the number, and now
// and then an owner that does not.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "leeway/base/types.h"

namespace leeway {

class TagIndex {
 public:
  // Empties the index and makes room for about `numbers` numbers.
  void reset(size_t numbers) {
    slots_.assign(std::bit_ceil(std::max<size_t>(64, 2 * numbers)), {});
    occurs_.assign(slots_.size() / 16, 0);
    count_ = 0;
  }
  // Whether this many more may be added; if not, it must be made anew.
  bool has_room(size_t numbers) const { return 4 * (count_ + numbers) <= 3 * slots_.size(); }

  // Numbers must be well mixed; owners are below 2^32 - 1.
  void add(u64 number, u32 owner) {
    const size_t mask = slots_.size() - 1;
    size_t at = size_t(number) & mask, owners = 0;
    for (; slots_[at].tag != 0; at = (at + 1) & mask)
      if (slots_[at].tag == tag_of(number) && ++owners > kMost) return;
    slots_[at] = {tag_of(number), owners == kMost ? kAnybody : owner};
    occurs_[word_of(number)] |= bit_of(number);
    ++count_;
  }
  // To be called some time before a number is looked up, since the index is larger than a cache.
  void prefetch(u64 number) const {
    if (!occurs_.empty()) __builtin_prefetch(&occurs_[word_of(number)]);
  }
  // Calls f(owner) for every owner that may have the number; false if there are too many.
  template <class F>
  bool for_each(u64 number, F&& f) const {
    if (slots_.empty() || !(occurs_[word_of(number)] & bit_of(number))) return true;
    const size_t mask = slots_.size() - 1;
    for (size_t at = size_t(number) & mask; slots_[at].tag != 0; at = (at + 1) & mask) {
      if (slots_[at].tag != tag_of(number)) continue;
      if (slots_[at].owner == kAnybody) return false;
      f(slots_[at].owner);
    }
    return true;
  }

 private:
  static constexpr size_t kMost = 8;  // owners of a number
  static constexpr u32 kAnybody = ~u32(0);
  struct Slot {
    u32 tag = 0, owner = 0;  // tag 0: the slot is free
  };
  static u32 tag_of(u64 number) { return u32(number >> 32) | 1; }

  // Four bits for a slot: most numbers that are looked up are not there, and slots are far apart.
  size_t word_of(u64 number) const { return size_t(number >> 8) & (occurs_.size() - 1); }
  static u64 bit_of(u64 number) { return u64(1) << (number & 63); }

  std::vector<Slot> slots_;
  std::vector<u64> occurs_;  // a bit is set if one of the numbers that share it is there
  size_t count_ = 0;
};

}  // namespace leeway
