// SPDX-License-Identifier: BSD-3-Clause
// Summary: what must be known of an array's values before its chunks are written, of a part of them
// or of all: the four lowest and the four highest distinct values, how often each occurs, and
// whether there are special ones. A value among the four lowest of the whole is so in every part
// that has it; so parts can be merged in any order and grouping, and give the same as the whole.
#pragma once

#include "leeway/base/export.h"
#include "leeway/base/types.h"

namespace leeway {

// Plain bytes, so that it can be sent as it is.
struct Summary {
  static constexpr size_t kKept = 4;
  struct Entry {
    u64 bits, count;  // bits of the value; half types are widened to f32
  };
  Entry lowest[kKept]{}, highest[kKept]{};  // from the outside in
  u8 lowest_count = 0, highest_count = 0;
  bool any_special = false;  // NaN, infinities, declared fill values at either end
  u8 unused[5]{};
};

LEEWAY_EXPORT Summary merged(const Summary& one, const Summary& other, DType dtype);

}  // namespace leeway
