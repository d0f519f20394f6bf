// SPDX-License-Identifier: BSD-3-Clause
// TagSet: which numbers may have been added. It may say yes for one that was not, seldom, and never
// no for one that was.
#pragma once

#include <bit>
#include <vector>

#include "leeway/core/types.h"

namespace leeway {

class TagSet {
 public:
  // For about so many numbers; what was there is gone.
  void reset(size_t numbers) {
    slots_.assign(std::bit_ceil(2 * numbers + 64), 0);
    count_ = 0;
  }
  // Whether so many more may be added; if not, it is to be made anew.
  bool has_room(size_t numbers) const { return 4 * (count_ + numbers) <= 3 * slots_.size(); }

  // Numbers must be well mixed.
  void add(u64 number) {
    u32& slot = slots_[find(number)];
    count_ += slot == 0;
    slot = tag_of(number);
  }
  bool may_have(u64 number) const { return !slots_.empty() && slots_[find(number)] != 0; }

 private:
  static u32 tag_of(u64 number) { return u32(number >> 32) | 1; }
  // Where its tag is, or could be.
  size_t find(u64 number) const {
    const size_t mask = slots_.size() - 1;
    size_t at = size_t(number) & mask;
    while (slots_[at] != 0 && slots_[at] != tag_of(number)) at = (at + 1) & mask;
    return at;
  }

  std::vector<u32> slots_;  // 0: free
  size_t count_ = 0;
};

}  // namespace leeway
