// SPDX-License-Identifier: BSD-3-Clause
// Frame: the end of a chunk's work, the same for all ways to code it: checksums, head, what the
// tail will state.
#pragma once

#include "leeway/gpu/chunk.h"
#include "leeway/gpu/xxh3.h"

namespace leeway::gpu {

// What is known of a frame.
struct FrameFacts {
  u32 ordinal, payload_bytes, special, exact;
  double bound, max_error;
  u64 decoded_hash, payload_hash;
};

// The error to state: not less than the largest true one, not more than the bound.
template <class T>
LEEWAY_DEVICE double stated_error(T largest, double bound) {
  if (!(largest > 0 && double(largest) <= mul(bound, 1 + 0x1p-20))) return double(largest);
  const double up = double(above(largest));
  return up < bound ? up : bound;
}

// The 56 bytes of a head before its hash, as words.
LEEWAY_DEVICE void fill_head(const FrameFacts& facts, Cell<u64>* words) {
  words[0] = u64(facts.payload_bytes) << 32 | kFrameMagic;
  words[1] = facts.ordinal;
  words[2] = u64(facts.exact) << 32 | facts.special;
  words[3] = to_bits(facts.bound);
  words[4] = to_bits(facts.max_error);
  words[5] = facts.decoded_hash;
  words[6] = facts.payload_hash;
}

// By one thread.
LEEWAY_DEVICE void write_head(const FrameFacts& facts, HashShared& s, u8* to) {
  fill_head(facts, s.words);
  const u64 hash = xxh3::short_hash(s.words, kFrameHead - 8);
  for (u32 k = 0; k < 7; ++k) store(reinterpret_cast<u64*>(to) + k, u64(s.words[k]));
  store(reinterpret_cast<u64*>(to) + 7, hash);
}

// Notes a fault of a chunk: the report names the first chunk that has one.
LEEWAY_DEVICE void note_fault(const Workspace& work, u32 chunk, u32 status) {
  global_max(work.zeros + kFault, u64(~chunk) << 8 | status);
}

}  // namespace leeway::gpu
