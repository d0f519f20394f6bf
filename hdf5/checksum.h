// SPDX-License-Identifier: BSD-3-Clause
// Checksum: what HDF5's filter fletcher32 puts after a chunk, for code that writes chunks directly.
#pragma once

#include "leeway/base/bytes.h"

namespace leeway::hdf5 {

// Of 16-bit words, high byte first; a last byte without a partner is a word's high one.
inline u32 fletcher32(ByteView bytes) {
  // So many words can be added before the sums must be folded.
  constexpr size_t kRun = 2 * 360;
  u32 sum = 0, sum_of_sums = 0;
  const auto fold = [](u32 value) { return (value & 0xffff) + (value >> 16); };
  for (size_t at = 0; at < bytes.size();) {
    for (const size_t end = std::min(bytes.size(), at + kRun); at < end; at += 2) {
      const u32 low = at + 1 < bytes.size() ? bytes[at + 1] : 0;
      sum += u32(bytes[at]) << 8 | low;
      sum_of_sums += sum;
    }
    sum = fold(sum);
    sum_of_sums = fold(sum_of_sums);
  }
  return fold(sum_of_sums) << 16 | fold(sum);
}

}  // namespace leeway::hdf5
