// SPDX-License-Identifier: BSD-3-Clause
// Look-back: where the frame of a chunk goes, without waiting for all chunks before it [Merrill and
// Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016].
//
// The state of a chunk is one 64-bit number: in the two highest bits a flag, below it bytes. All
// that is said is in that number, so relaxed loads and stores are enough. Chunks are taken by
// ticket: whoever has a number knows that all lower ones have begun.
#pragma once

#include "leeway/gpu/layout.h"

namespace leeway::gpu {

constexpr u64 kOwnBytes = u64(1) << 62;  // bytes of this frame
constexpr u64 kAllBytes = u64(2) << 62;  // bytes of all frames up to this one
constexpr u64 kBytesMask = kOwnBytes - 1;

// Which turn it is, and where the frame of the first turn begins.
struct Place {
  u32 turn;
  u64 first;
};

// Says what one's own frame takes, and returns the bytes of all frames before; by a whole tile.
// Both stores are those of one thread: they must not change places.
LEEWAY_DEVICE u64 look_back(u64* states, u32 chunk, u64 bytes) {
  if (lane() == 0) store_relaxed(states + chunk, kOwnBytes | bytes);
  u64 before = 0;
  for (i64 end = i64(chunk); end > 0; end -= kTile) {
    const i64 own = end - 1 - i64(lane());
    u64 state = kAllBytes;  // before the first chunk is nothing
    for (;;) {
      if (own >= 0) state = load_relaxed(states + own);
      if (!ballot(state < kOwnBytes)) break;
      wait_a_little();
    }
    const u32 known = ballot(state >= kAllBytes);
    const u32 nearest = known ? bit_width(known & (0u - known)) - 1 : kTile;
    before += tile_sum(lane() <= nearest ? state & kBytesMask : 0);
    if (known) break;
  }
  if (lane() == 0) store_relaxed(states + chunk, kAllBytes | (before + bytes));
  return before;
}

}  // namespace leeway::gpu
