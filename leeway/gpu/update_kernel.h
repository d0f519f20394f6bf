// SPDX-License-Identifier: BSD-3-Clause
// Update kernel: random-access write. After find_frames.h, the chunks of a region get new frames
// behind the stream, and after these comes a new tail: what leeway::update() writes, byte for byte.
// Nothing is overwritten, and the last eight bytes come last, so that the old stream stays whole
// whatever happens.
#pragma once

#include "leeway/gpu/compress_kernel.h"

namespace leeway::gpu {

// Where things are in the tail of the old stream, which find_frames.h has checked.
struct OldTail {
  const u8* rooms;

  LEEWAY_DEVICE OldTail(const UpdateArgs& args, u64 bytes) {
    const u8* const start = args.compress.stream + bytes -
                            load(reinterpret_cast<const u64*>(args.compress.stream + bytes - 16));
    rooms = start + kTailStart;
  }
  LEEWAY_DEVICE u32 room(u64 chunk) const {
    return load(reinterpret_cast<const u32*>(rooms) + chunk);
  }
};

class Updating {
 public:
  LEEWAY_DEVICE Updating(const UpdateArgs& args, CompressShared& s, u64 bytes)
      : args_(args.compress), update_(args), s_(s), bytes_(bytes), chunks_(args.compress.chunks) {}

  // Writes the new tail and the report. All other CTAs are done.
  LEEWAY_DEVICE void finish(u32 turns) {
    const u64 frames =
        load_relaxed(args_.work.zeros + kZerosBefore + turns - 1) & ((u64(1) << 62) - 1);
    gather_heads();
    const u64 moved = for_each_move([](u64, u64, u64) {});
    const Sums sums = sum_frames(args_.work, chunks_, s_.sums);
    const u64 decoded =
        hash_of_memory(s_.hash, reinterpret_cast<const u8*>(args_.work.hashes), 8 * u64(chunks_));
    const u64 at = bytes_ + frames, size = tail_bytes(chunks_) + 16 * moved, all = at + size;
    const u64 fault = load_relaxed(args_.work.zeros + kFault);
    const bool fits = all <= args_.capacity;
    if (fits && !fault) write_tail(args_.stream + at, size, moved, sums, decoded);
    if (thread() == 0)
      store_report(args_.report, fault ? bytes_ : all, fault, fits ? kOk : kTooSmall,
                   load(args_.work.bound), sums, load_relaxed(args_.work.zeros + kStoredChunks));
  }

 private:
  // The facts of the frames that stay.
  LEEWAY_DEVICE void gather_heads() {
    for (u64 k = thread(); k < chunks_; k += kThreads) {
      const u64 offset = load(args_.work.offsets + k);
      if (offset >= bytes_) continue;
      u64 words[8];
      for (u32 i = 0; i < 8; ++i)
        words[i] = load(reinterpret_cast<const u64*>(args_.stream + offset) + i);
      if (words[1] != k || xxh3::short_hash(words, kFrameHead - 8) != words[7])
        note_fault(args_.work, u32(k), kCorrupt);
      store(args_.work.special + k, u32(words[2]));
      store(args_.work.exact + k, u32(words[2] >> 32));
      store(args_.work.errors + k, from_bits(words[4]));
      store(args_.work.hashes + k, words[5]);
    }
    barrier();
  }

  // Calls f(n, chunk, offset) for all frames that are not in their places; returns how many.
  template <class F>
  LEEWAY_DEVICE u64 for_each_move(const F& f) {
    const OldTail old(update_, bytes_);
    // The first place is behind the header, whatever is in it.
    u64 place = 24 + (load(reinterpret_cast<const u64*>(args_.stream) + 1) >> 32), moved = 0;
    for (u64 base = 0; base < chunks_; base += kThreads) {
      const u64 k = base + thread();
      const u64 room = k < chunks_ ? aligned(kFrameHead + u64(old.room(k))) : 0,
                offset = k < chunks_ ? load(args_.work.offsets + k) : 0;
      const u64 places = tile_scan(room);
      if (lane() == kTile - 1) s_.worst[tile()] = places;
      barrier();
      u64 before = place + places - room;
      for (u32 t = 0; t < kTiles; ++t) {
        if (t < tile()) before += s_.worst[t];
        place += s_.worst[t];
      }
      const bool is_moved = k < chunks_ && offset != before;
      const u32 votes = ballot(is_moved);
      if (lane() == 0) s_.flags[tile()] = count_bits(votes);
      barrier();
      u64 number = moved + count_bits(votes & ((u32(1) << lane()) - 1));
      for (u32 t = 0; t < kTiles; ++t) {
        if (t < tile()) number += s_.flags[t];
        moved += s_.flags[t];
      }
      if (is_moved) f(number, k, offset);
      barrier();
    }
    return moved;
  }

  LEEWAY_DEVICE void write_tail(u8* tail, u64 size, u64 moved, const Sums& sums, u64 decoded) {
    const OldTail old(update_, bytes_);
    const u64 rooms = aligned(4 * u64(chunks_)) / 4;
    for (u64 k = thread(); k < rooms; k += kThreads)
      store(reinterpret_cast<u32*>(tail + kTailStart) + k, k < chunks_ ? old.room(k) : 0u);
    u64* const rest = reinterpret_cast<u64*>(tail + kTailStart + 4 * rooms);
    for_each_move([&](u64 number, u64 chunk, u64 offset) {
      store(rest + 1 + 2 * number, chunk);
      store(rest + 2 + 2 * number, offset);
    });
    if (thread() == 0) {
      store(reinterpret_cast<u64*>(tail), u64(kTailMagic));
      store(reinterpret_cast<u64*>(tail) + 1, u64(chunks_));
      store(rest, moved);
      put_statement(rest + 1 + 2 * moved, sums, decoded);
    }
    barrier();
    const u64 hash = hash_of_memory(s_.hash, tail, size - kTailEnd);
    if (thread() == 0) put_tail_end(tail + size - kTailEnd, hash, size);
  }

  const CompressArgs& args_;
  const UpdateArgs& update_;
  CompressShared& s_;
  const u64 bytes_;
  const u32 chunks_;
};

// The bound of the frame that is replaced; below 0 if it is damaged.
LEEWAY_DEVICE double bound_of_frame(const CompressArgs& args, CompressShared& s, u32 ordinal,
                                    u64 bytes) {
  if (thread() == 0) {
    const u64 offset = load(args.work.offsets + ordinal);
    bool is_well = offset <= bytes - kFrameHead;
    for (u32 k = 0; k < 8 && is_well; ++k)
      s.hash.words[k] = load(reinterpret_cast<const u64*>(args.stream + offset) + k);
    is_well = is_well && s.hash.words[1] == ordinal &&
              xxh3::short_hash(s.hash.words, kFrameHead - 8) == s.hash.words[7];
    s.hash.result = is_well ? u64(s.hash.words[3]) : to_bits(-1.0);
  }
  barrier();
  const double bound = from_bits(u64(s.hash.result));
  barrier();
  return bound;
}

template <class T>
LEEWAY_DEVICE void update_chunks(const UpdateArgs& update, CompressShared& s) {
  const CompressArgs& args = update.compress;
  u32* const ticket = reinterpret_cast<u32*>(args.work.zeros + kTickets);
  u32* const done = ticket + 1;
  const u64 bytes = update.bytes ? update.bytes : load(&update.made->bytes);
  const bool is_well = load_relaxed(args.work.zeros + kIndexIsWell) != 0;
  const u32 wanted = is_well ? update.wanted.count : 0;
  if (wanted == 0) {
    if (cta() == 0 && thread() == 0) {
      const u64 fault = load_relaxed(args.work.zeros + kFault);
      store_report(args.report, bytes, fault, kOk, 0, {0, 0, 0}, 0);
    }
    return;
  }
  for (;;) {
    if (thread() == 0) s.chunk = take_ticket(ticket);
    barrier();
    const u32 turn = s.chunk;
    barrier();
    if (turn >= wanted) return;
    const u32 ordinal = wanted_chunk(args.layout, update.wanted, turn);
    const double bound = bound_of_frame(args, s, ordinal, bytes);
    FrameFacts facts;
    Form form = Form::narrow;
    const Place place{turn, bytes};
    if (!compress_fast<T>(args, s, ordinal, place, bound, facts))
      facts = compress_any<T>(args, s, ordinal, place, bound, form);
    if (thread() == 0) {
      note_frame(args, facts, form);
      if (bound < 0) note_fault(args.work, ordinal, kCorrupt);
      store(args.work.offsets + ordinal, bytes + s.before);
      fence();
      s.is_last = take_ticket(done) == wanted - 1;
      fence();
    }
    barrier();
    if (s.is_last) return Updating(update, s, bytes).finish(wanted);
    barrier();
  }
}

}  // namespace leeway::gpu
