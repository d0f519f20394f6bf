// SPDX-License-Identifier: BSD-3-Clause
// Compress kernel: one launch writes a whole stream. Every CTA takes chunks by ticket until there
// are none; the one that finishes last writes the tail.
#pragma once

#include "leeway/gpu/compress_any.h"
#include "leeway/gpu/compress_fast.h"

namespace leeway::gpu {

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
    if (thread() == 0) s.chunk = take_ticket(ticket);
    barrier();
    const u32 ordinal = s.chunk;
    barrier();
    if (ordinal == 0) write_header(args, s.hash);
    if (ordinal >= args.chunks) {
      if (args.chunks == 0 && ordinal == 0) write_tail(args, s.hash, s.sums);
      return;
    }
    FrameFacts facts;
    Form form = Form::narrow;
    const Place place{ordinal, args.header_bytes};
    if (!compress_fast<T>(args, s, ordinal, place, bound, facts))
      facts = compress_any<T>(args, s, ordinal, place, bound, form);
    if (thread() == 0) {
      note_frame(args, facts, form);
      fence();
      s.is_last = take_ticket(done) == args.chunks - 1;
      fence();
    }
    barrier();
    if (s.is_last) return write_tail(args, s.hash, s.sums);
    barrier();
  }
}

}  // namespace leeway::gpu
