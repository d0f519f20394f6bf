// SPDX-License-Identifier: BSD-3-Clause
// Find frames: the kernel before decompressing. One CTA checks header and tail of a stream, which
// may be hostile, and finds where every frame is.
#pragma once

#include "leeway/gpu/container.h"

namespace leeway::gpu {

struct FindShared {
  HashShared hash;
  Cell<u64> sums[kTiles];
  Cell<u32> status;
};

// Reads numbers from global memory, as long as they are there.
struct ByteReader {
  const u8* from;
  u64 at, end;
  bool failed = false;

  LEEWAY_DEVICE u64 left() const { return end - at; }
  LEEWAY_DEVICE u64 get(u32 bytes) {
    if (failed || bytes > left()) {
      failed = true;
      return 0;
    }
    u64 v = 0;
    for (u32 k = 0; k < bytes; ++k) v |= u64(load(from + at + k)) << 8 * k;
    at += bytes;
    return v;
  }
  LEEWAY_DEVICE u64 get_varint() {
    u64 v = 0;
    for (u32 shift = 0; shift < 64; shift += 7) {
      const u64 byte = get(1);
      if (shift == 63 && byte > 1) break;
      v |= (byte & 0x7f) << shift;
      if (!(byte & 0x80)) return v;
    }
    failed = true;
    return 0;
  }
};

class FrameFinder {
 public:
  LEEWAY_DEVICE FrameFinder(const DecompressArgs& args, FindShared& s)
      : args_(args), s_(s), bytes_(args.bytes ? args.bytes : load(&args.made->bytes)) {}

  LEEWAY_DEVICE void run() {
    if (thread() == 0) s_.status = kOk;
    barrier();
    const u32 status = find();
    if (thread() != 0) return;
    if (status == kOk)
      store(args_.work.zeros + kIndexIsWell, u64(1));
    else
      note_fault(args_.work, kNoChunk, status);
  }

 private:
  LEEWAY_DEVICE u64 word(u64 at) const {
    return load(reinterpret_cast<const u64*>(args_.stream + at));
  }
  // What one thread finds becomes known to all.
  template <class F>
  LEEWAY_DEVICE u32 by_one(const F& f) {
    if (thread() == 0) s_.status = f();
    barrier();
    const u32 status = s_.status;
    barrier();
    return status;
  }

  LEEWAY_DEVICE u32 find() {
    const u64 size = tail_bytes(args_.chunks);
    if (bytes_ % 16 != 0 || bytes_ < 32 + size) return kCorrupt;
    const u64 header = by_one([&] { return check_preamble(); });
    if (header != kOk) return u32(header);
    const u64 fields = word(8) >> 32, first = 24 + fields;
    if (hash_of_memory(s_.hash, args_.stream, first - 8) != word(first - 8)) return kCorrupt;
    const u32 known = by_one([&] { return check_fields(fields); });
    if (known != kOk) return known;
    const u64 tail = word(bytes_ - 16);
    if (word(bytes_ - 8) != kEndMagic || tail % 16 != 0 || tail < size || tail > bytes_ - first)
      return kCorrupt;
    const u64 start = bytes_ - tail;
    if (hash_of_memory(s_.hash, args_.stream + start, tail - kTailEnd) != word(bytes_ - kTailEnd))
      return kCorrupt;
    return read_tail(first, start, tail);
  }

  LEEWAY_DEVICE u32 check_preamble() const {
    if (word(0) != 0x0A1A0A0D59574C89u) return kCorrupt;
    if (u32(word(8)) != 1) return kUnsupported;  // version, reserved
    const u64 fields = word(8) >> 32;
    return fields % 16 == 8 && fields <= bytes_ - 24 ? kOk : kCorrupt;
  }

  LEEWAY_DEVICE u32 check_fields(u64 bytes) const {
    ByteReader in{args_.stream, 16, 16 + bytes};
    u32 seen = 0;
    while (in.left() >= 8) {
      const u32 tag = u32(in.get(2)), reserved = u32(in.get(2)), number = tag & 0x7fff;
      const u64 size = in.get(4);
      if (tag == 0) {  // zeros to the end
        for (in.at -= 8; in.left() > 0;)
          if (in.left() >= 16 || in.get(1) != 0) return kCorrupt;
        break;
      }
      if (reserved != 0) return kUnsupported;
      if (size > in.left()) return kCorrupt;
      if (number < 1 || number > 7) {
        if (tag & 0x8000) return kUnsupported;
      } else if (seen >> number & 1) {
        return kCorrupt;
      } else {
        seen |= 1u << number;
        if ((number <= 2 || number == 5) && !is_expected(number, in, size)) return kInvalidArgument;
        if (number == 4 && size >= 8) {
          ByteReader content = in;
          store(args_.work.bound, from_bits(content.get(8)));
        }
      }
      in.at += size;
    }
    while (in.left() > 0)
      if (in.get(1) != 0) return kCorrupt;
    return (seen & 0x3e) == 0x3e ? kOk : kCorrupt;
  }

  // Whether a field of the header says of the array what the plan says.
  LEEWAY_DEVICE bool is_expected(u32 number, ByteReader in, u64 size) const {
    for (u32 at = 0; at < args_.expected_bytes;) {
      const u32 own = args_.expected[at],
                own_size = args_.expected[at + 4] | u32(args_.expected[at + 5]) << 8;
      at += 8;
      if (own == number) {
        bool same = size == own_size;
        for (u32 k = 0; k < own_size && same; ++k) same = in.get(1) == args_.expected[at + k];
        return same;
      }
      at += own_size;
    }
    return false;
  }

  LEEWAY_DEVICE u32 read_tail(u64 first, u64 start, u64 tail) {
    if (word(start) != kTailMagic || word(start + 8) != args_.chunks) return kCorrupt;
    const u64 rooms = start + kTailStart, rooms_bytes = aligned(4 * u64(args_.chunks)),
              moved = word(rooms + rooms_bytes);
    if (moved > args_.chunks || tail != tail_bytes(args_.chunks) + 16 * moved) return kCorrupt;
    u64 places = first;  // where the next place begins
    for (u64 base = 0; base < rooms_bytes / 4; base += kThreads) {
      const u64 k = base + thread();
      const u32 room =
          k < rooms_bytes / 4 ? load(reinterpret_cast<const u32*>(args_.stream + rooms) + k) : 0;
      const bool is_chunk = k < args_.chunks;
      if (!is_chunk && room != 0) shared_or(&s_.status, kCorrupt);
      const u64 own = is_chunk ? aligned(kFrameHead + u64(room)) : 0, sum = tile_scan(own);
      if (lane() == kTile - 1) s_.sums[tile()] = sum;
      barrier();
      u64 before = places;
      for (u32 t = 0; t < kTiles; ++t) {
        if (t < tile()) before += s_.sums[t];
        places += s_.sums[t];
      }
      if (is_chunk) store(args_.work.offsets + k, before + sum - own);
      barrier();
    }
    if (s_.status != kOk || (moved > 0 ? places > start : places != start)) return kCorrupt;
    barrier();
    const u64 moves = rooms + rooms_bytes + 8;
    for (u64 k = thread(); k < moved; k += kThreads) {
      const u64 ordinal = word(moves + 16 * k), place = word(moves + 16 * k + 8);
      const bool is_after = k == 0 || word(moves + 16 * k - 16) < ordinal;
      if (ordinal >= args_.chunks || !is_after || place < places || place % 16 != 0 ||
          place > start - kFrameHead)
        shared_or(&s_.status, kCorrupt);
      else
        store(args_.work.offsets + ordinal, place);
    }
    if (thread() == 0) {
      store(args_.work.zeros + kStatementAt, moves + 16 * moved);
    }
    barrier();
    return s_.status;
  }

  const DecompressArgs& args_;
  FindShared& s_;
  const u64 bytes_;
};

}  // namespace leeway::gpu
