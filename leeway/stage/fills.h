// SPDX-License-Identifier: BSD-3-Clause
// Fills: bit patterns that mean "no value here". No ordinary value may turn into a fill value on
// its way through the stages.
#pragma once

#include <algorithm>
#include <span>

#include "leeway/base/types.h"

namespace leeway {

template <class T>
class Fills {
 public:
  Fills() = default;
  explicit Fills(std::span<const u64> bits) : bits_(bits) {}  // zero-extended; kept by the caller
  bool empty() const { return bits_.empty(); }
  bool has(T value) const { return std::ranges::find(bits_, u64(bits_of(value))) != bits_.end(); }
  // Whether one of these values is a fill value; branch-free, so that it runs at cache speed.
  bool any_in(std::span<const T> values) const {
    bool any = false;
    for (const u64 fill : bits_)
      for (const T& value : values) any |= bits_of(value) == Bits<T>(fill);
    return any;
  }

 private:
  std::span<const u64> bits_;
};

}  // namespace leeway
