// SPDX-License-Identifier: BSD-3-Clause
// Planes: the 32 differences of a block in 16 registers of one lane, value j in the low half of
// register j, value j + 16 in the high half, and the same as planes: register k is plane k as it
// stands in the stream, 15 the sign.
#pragma once

#include "leeway/gpu/simt.h"

namespace leeway::gpu {

// Exchanges blocks of bits between registers kFrom apart; `kForth`: towards planes.
template <int kFrom, int kShift, bool kForth>
LEEWAY_DEVICE void swap_bits(u32 (&c)[16]) {
  constexpr u32 kMask = kShift == 4 ? 0x0f0f0f0fu : kShift == 2 ? 0x33333333u : 0x55555555u;
  LEEWAY_UNROLL
  for (int j = 0; j < 16; ++j)
    if (!(j & kFrom)) {
      const u32 a = c[j], b = c[j + kFrom];
      if constexpr (kForth) {
        c[j] = (a << kShift & ~kMask) | (b & kMask);
        c[j + kFrom] = (a & ~kMask) | (b >> kShift & kMask);
      } else {
        c[j] = (a >> kShift & kMask) | (b & ~kMask);
        c[j + kFrom] = (a & kMask) | (b << kShift & ~kMask);
      }
    }
}
LEEWAY_DEVICE void swap_bytes_of_pairs(u32 (&c)[16]) {
  LEEWAY_UNROLL
  for (int j = 0; j < 8; ++j) {
    const u32 a = c[j], b = c[j + 8];
    c[j] = byte_perm(a, b, 0x6240);
    c[j + 8] = byte_perm(a, b, 0x7351);
  }
}
LEEWAY_DEVICE void planes_of_values(u32 (&c)[16]) {
  swap_bytes_of_pairs(c);
  swap_bits<4, 4, true>(c);
  swap_bits<2, 2, true>(c);
  swap_bits<1, 1, true>(c);
}
LEEWAY_DEVICE void values_of_planes(u32 (&c)[16]) {
  swap_bits<1, 1, false>(c);
  swap_bits<2, 2, false>(c);
  swap_bits<4, 4, false>(c);
  swap_bytes_of_pairs(c);
}

}  // namespace leeway::gpu
