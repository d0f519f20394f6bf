// SPDX-License-Identifier: BSD-3-Clause
// Decompress kernel: after find_frames.h, chunks do not depend on each other. Every CTA takes those
// that are wanted, by ticket; the one that finishes last compares what the frames add up to with
// what the stream states, and writes the report.
#pragma once

#include "leeway/gpu/decompress_any.h"

namespace leeway::gpu {

LEEWAY_DEVICE void write_report(const DecompressArgs& args, DecompressShared& s, u64 bytes) {
  const Workspace& work = args.work;
  const bool is_well = load_relaxed(work.zeros + kIndexIsWell) != 0;
  u64 fault = load_relaxed(work.zeros + kFault);
  const u8* const statement = args.stream + (is_well ? load_relaxed(work.zeros + kStatementAt) : 0);
  const auto stated = [&](u32 k) { return load(reinterpret_cast<const u64*>(statement) + k); };
  if (is_well && !fault && !args.is_part) {
    const Sums sums = sum_frames(work, args.chunks, s.sums);
    const u64 hash =
        hash_of_memory(s.hash, reinterpret_cast<const u8*>(work.hashes), 8 * u64(args.chunks));
    if (to_bits(sums.max_error) != stated(0) || sums.special != stated(1) ||
        sums.exact != stated(2) || hash != stated(3))
      fault = u64(~kNoChunk) << 8 | kCorrupt;
  }
  if (thread() != 0) return;
  const Sums all = is_well ? Sums{from_bits(stated(0)), stated(1), stated(2)} : Sums{0, 0, 0};
  store_report(args.report, bytes, fault, kOk, is_well ? load(args.work.bound) : 0, all, 0);
}

template <class T>
LEEWAY_DEVICE void decompress(const DecompressArgs& args, DecompressShared& s) {
  u32* const ticket = reinterpret_cast<u32*>(args.work.zeros + kTickets);
  u32* const done = ticket + 1;
  const bool is_well = load_relaxed(args.work.zeros + kIndexIsWell) != 0;
  const u64 bytes = args.bytes ? args.bytes : load(&args.made->bytes);
  const u32 wanted = is_well ? args.wanted.count : 0;
  if (wanted == 0) {
    if (cta() == 0) write_report(args, s, bytes);
    return;
  }
  for (;;) {
    if (thread() == 0) s.chunk = take_ticket(ticket);
    barrier();
    const u32 turn = s.chunk;
    barrier();
    if (turn >= wanted) return;
    const u32 ordinal = wanted_chunk(args.layout, args.wanted, turn);
    FrameFacts facts{};
    const u32 status = AnyDecoder<T>(args, s, ordinal, bytes).decompress(facts);
    if (thread() == 0) {
      store(args.work.hashes + ordinal, facts.decoded_hash);
      store(args.work.errors + ordinal, facts.max_error);
      store(args.work.special + ordinal, facts.special);
      store(args.work.exact + ordinal, facts.exact);
      if (status != kOk) note_fault(args.work, ordinal, status);
      fence();
      s.is_last = take_ticket(done) == wanted - 1;
      fence();
    }
    barrier();
    if (s.is_last) return write_report(args, s, bytes);
    barrier();
  }
}

}  // namespace leeway::gpu
