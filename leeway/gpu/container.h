// SPDX-License-Identifier: BSD-3-Clause
// Container: the parts of a stream around its frames, written by one CTA each.
#pragma once

#include "leeway/gpu/frame.h"

namespace leeway::gpu {

// The bound in force. With a relative one, the kernel before has put it here, and the range.
LEEWAY_DEVICE double resolved_bound(const CompressArgs& args) {
  return args.rel_bound > 0 ? load(args.work.bound) : args.abs_bound;
}

LEEWAY_DEVICE void write_header(const CompressArgs& args, HashShared& s) {
  if (args.header_bytes > args.capacity) return;
  const u32 hashed = args.header_bytes - 8;
  for (u32 k = thread(); k < hashed; k += kThreads) {
    u8 byte = args.header[k];
    if (args.rel_bound > 0 && k >= args.resolved_at && k < args.resolved_at + 24) {
      const u32 at = k - args.resolved_at;
      byte = u8(to_bits(load(args.work.bound + at / 8)) >> 8 * (at % 8));
    }
    store(args.stream + k, byte);
  }
  barrier();
  const u64 hash = hash_of_memory(s, args.stream, hashed);
  if (thread() == 0) store(reinterpret_cast<u64*>(args.stream + hashed), hash);
}

// What all frames add up to.
struct Sums {
  double max_error;
  u64 special, exact;
};

struct SumsShared {
  Cell<u64> worst[kTiles], special[kTiles], exact[kTiles];
};

LEEWAY_DEVICE Sums sum_frames(const Workspace& work, u32 chunks, SumsShared& s) {
  u64 worst = 0, special = 0, exact = 0;
  for (u32 k = thread(); k < chunks; k += kThreads) {
    const u64 error = to_bits(load(work.errors + k));
    worst = error > worst ? error : worst;
    special += load(work.special + k);
    exact += load(work.exact + k);
  }
  worst = tile_max(worst);
  special = tile_sum(special);
  exact = tile_sum(exact);
  if (lane() == 0) s.worst[tile()] = worst, s.special[tile()] = special, s.exact[tile()] = exact;
  barrier();
  worst = special = exact = 0;
  for (u32 k = 0; k < kTiles; ++k) {
    worst = s.worst[k] > worst ? u64(s.worst[k]) : worst;
    special += s.special[k];
    exact += s.exact[k];
  }
  return {from_bits(worst), special, exact};
}

LEEWAY_DEVICE void store_report(Report* to, u64 bytes, u64 fault, u32 status, double bound,
                                const Sums& sums, u64 stored) {
  store(&to->bytes, bytes);
  store(&to->status, fault ? u32(fault & 0xff) : status);
  store(&to->chunk, fault ? ~u32(fault >> 8) : kNoChunk);
  store(&to->abs_bound, bound);
  store(&to->max_error, sums.max_error);
  store(&to->special, sums.special);
  store(&to->exact, sums.exact);
  store(&to->stored, stored);
}

// Parts of a tail, by one thread.
LEEWAY_DEVICE void put_statement(u64* to, const Sums& sums, u64 decoded_hash) {
  store(to, to_bits(sums.max_error));
  store(to + 1, sums.special);
  store(to + 2, sums.exact);
  store(to + 3, decoded_hash);
}
LEEWAY_DEVICE void put_tail_end(u8* to, u64 hash, u64 size) {
  u64* const end = reinterpret_cast<u64*>(to);
  store(end, hash);
  store(end + 1, size);
  store(end + 2, kEndMagic);
}

LEEWAY_DEVICE u64 tail_bytes(u32 chunks) {
  return kTailStart + aligned(4 * u64(chunks)) + 8 + kStatement + kTailEnd;
}

// Writes the tail behind the last frame, and the report. All other CTAs are done.
LEEWAY_DEVICE void write_tail(const CompressArgs& args, HashShared& s, SumsShared& sums_shared) {
  const u64 frames = args.chunks ? load_relaxed(args.work.zeros + kZerosBefore + args.chunks - 1) &
                                       ((u64(1) << 62) - 1)
                                 : 0;
  const u64 at = args.header_bytes + frames, size = tail_bytes(args.chunks), bytes = at + size,
            rooms = aligned(4 * u64(args.chunks)) / 4;
  const Sums sums = sum_frames(args.work, args.chunks, sums_shared);
  const u64 decoded =
      hash_of_memory(s, reinterpret_cast<const u8*>(args.work.hashes), 8 * u64(args.chunks));
  const u64 fault = load_relaxed(args.work.zeros + kFault);
  const bool fits = bytes <= args.capacity;
  if (fits) {
    u8* const tail = args.stream + at;
    for (u64 k = thread(); k < rooms; k += kThreads)
      store(reinterpret_cast<u32*>(tail + kTailStart) + k,
            k < args.chunks ? load(args.work.rooms + k) : 0u);
    if (thread() == 0) {
      store(reinterpret_cast<u64*>(tail), u64(kTailMagic));
      store(reinterpret_cast<u64*>(tail) + 1, u64(args.chunks));
      u64* const rest = reinterpret_cast<u64*>(tail + kTailStart + 4 * rooms);
      store(rest, u64(0));
      put_statement(rest + 1, sums, decoded);
    }
    barrier();
    const u64 hash = hash_of_memory(s, tail, size - kTailEnd);
    if (thread() == 0) put_tail_end(tail + size - kTailEnd, hash, size);
  }
  if (thread() == 0)
    store_report(args.report, bytes, fault, fits ? kOk : kTooSmall, resolved_bound(args), sums,
                 load_relaxed(args.work.zeros + kStoredChunks));
}

}  // namespace leeway::gpu
