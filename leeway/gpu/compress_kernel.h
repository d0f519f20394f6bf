// SPDX-License-Identifier: BSD-3-Clause
// Compress kernel: one launch writes a whole stream. Every CTA takes chunks by ticket until there
// are none; the one that finishes last writes the tail.
#pragma once

#include "leeway/gpu/compress_any.h"
#include "leeway/gpu/container.h"

namespace leeway::gpu {

struct CompressShared {
  AnyShared any;
  SumsShared sums;
  Cell<u32> is_last;
};

LEEWAY_DEVICE void note_frame(const CompressArgs& args, const FrameFacts& facts, Form form) {
  const Workspace& work = args.work;
  store(work.hashes + facts.ordinal, facts.decoded_hash);
  store(work.errors + facts.ordinal, facts.max_error);
  store(work.rooms + facts.ordinal, facts.payload_bytes);
  store(work.special + facts.ordinal, facts.special);
  store(work.exact + facts.ordinal, facts.exact);
  if (form == Form::stored) take_ticket(reinterpret_cast<u32*>(work.zeros + kStoredChunks));
  if (form == Form::impossible) note_fault(work, facts.ordinal, kUnsupported);
}

template <class T>
LEEWAY_DEVICE void compress(const CompressArgs& args, CompressShared& s) {
  u32* const ticket = reinterpret_cast<u32*>(args.work.zeros + kTickets);
  u32* const done = ticket + 1;
  const double bound = resolved_bound(args);
  for (;;) {
    if (thread() == 0) s.any.chunk = take_ticket(ticket);
    barrier();
    const u32 ordinal = s.any.chunk;
    barrier();
    if (ordinal == 0) write_header(args, s.any.hash);
    if (ordinal >= args.chunks) {
      if (args.chunks == 0 && ordinal == 0) write_tail(args, s.any.hash, s.sums);
      return;
    }
    AnyChunk<T> chunk(args, s.any, ordinal, bound);
    const FrameFacts facts = chunk.compress(args.header_bytes);
    if (thread() == 0) {
      note_frame(args, facts, chunk.form());
      fence();
      s.is_last = take_ticket(done) == args.chunks - 1;
      fence();
    }
    barrier();
    if (s.is_last) return write_tail(args, s.any.hash, s.sums);
    barrier();
  }
}

}  // namespace leeway::gpu
