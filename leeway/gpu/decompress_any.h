// SPDX-License-Identifier: BSD-3-Clause
// Decompress any chunk that the recipes of the device make: every length and offset is checked
// before it is used. A tile has a block, a lane a value.
#pragma once

#include "leeway/gpu/blocks.h"
#include "leeway/gpu/decompress_fast.h"
#include "leeway/gpu/find_frames.h"

namespace leeway::gpu {

struct DecompressShared {
  HashShared hash;
  SumsShared sums;
  DecodeFastShared fast;
  Cell<u64> list_at[2], list_end[2];
  Cell<u64> heads_at;
  Cell<u32> status, chunk, is_last, bodies;

  // For chunks of any kind: where the body of each block is.
  LEEWAY_DEVICE Cell<u32>* place() { return fast.rows[0]; }
};

template <class T>
class AnyDecoder {
 public:
  LEEWAY_DEVICE AnyDecoder(const DecompressArgs& args, DecompressShared& s, u32 ordinal, u64 bytes)
      : args_(args),
        s_(s),
        ordinal_(ordinal),
        stream_bytes_(bytes),
        chunk_(find_chunk(args.layout, ordinal)),
        blocks_((chunk_.size + kBlock - 1) / kBlock) {
    first_of_chunk(args.layout, ordinal, first_);
    is_whole_ = true;
    for (u32 axis = 0; axis < chunk_.rank; ++axis)
      is_whole_ &= first_[axis] >= args.wanted.first[axis] &&
                   first_[axis] + chunk_.extents[axis] <=
                       args.wanted.first[axis] + args.wanted.extents[axis];
  }

  // Returns a status.
  LEEWAY_DEVICE u32 decompress(FrameFacts& facts) {
    const u32 head = read_head(facts);
    if (head != kOk) return head;
    const u8* const payload = frame_ + kFrameHead;
    if (hash_of_memory(s_.hash, payload, facts.payload_bytes) != facts.payload_hash)
      return kCorrupt;
    if (decode_fast(payload, facts)) return kOk;
    const u32 status = decode(payload, facts);
    if (status != kOk) return status;
    barrier();
    return is_whole_ && decoded_hash() != facts.decoded_hash ? kCorrupt : kOk;
  }

 private:
  LEEWAY_DEVICE bool decode_fast(const u8* payload, const FrameFacts& facts) {
    if constexpr (sizeof(T) == 4) {
      if (!is_whole_ || !chunk_.is_one_piece || chunk_.size < kFewestFast ||
          facts.special + facts.exact > 0 || !(facts.bound > 0))
        return false;
      u64 at;
      place_of(0, at);
      return decompress_fast(s_.fast, s_.hash, args_.recipe, facts, payload, chunk_.size,
                             args_.values + i64(at));
    }
    return false;
  }
  template <class F>
  LEEWAY_DEVICE u32 by_one(const F& f) {
    if (thread() == 0) s_.status = f();
    barrier();
    const u32 status = s_.status;
    barrier();
    return status;
  }

  LEEWAY_DEVICE u32 read_head(FrameFacts& facts) {
    const u64 offset = load(args_.work.offsets + ordinal_);
    if (offset > stream_bytes_ - kFrameHead) return kCorrupt;
    frame_ = args_.stream + offset;
    if (thread() < 8)
      s_.hash.words[thread()] = load(reinterpret_cast<const u64*>(frame_) + thread());
    barrier();
    const auto& words = s_.hash.words;
    facts = {u32(words[1]),
             u32(words[0] >> 32),
             u32(words[2]),
             u32(words[2] >> 32),
             from_bits(u64(words[3])),
             from_bits(u64(words[4])),
             words[5],
             words[6]};
    const u64 magic = words[0] & ~u32(0), ordinal = words[1];
    barrier();
    const u32 hashed = by_one([&] {
      return xxh3::short_hash(s_.hash.words, kFrameHead - 8) == s_.hash.words[7] ? kOk : kCorrupt;
    });
    const u64 all = aligned(kFrameHead + u64(facts.payload_bytes));
    const bool is_well = magic == kFrameMagic && ordinal == ordinal_ && hashed == kOk &&
                         !is_nonfinite(facts.bound) && facts.bound >= 0 && facts.max_error >= 0 &&
                         facts.max_error <= facts.bound && facts.payload_bytes >= 4 &&
                         all <= stream_bytes_ - offset;
    if (!is_well) return kCorrupt;
    return by_one([&] {
      for (u64 k = kFrameHead + facts.payload_bytes; k < all; ++k)
        if (load(frame_ + k) != 0) return kCorrupt;
      return kOk;
    });
  }

  // Where value i goes; says whether it is wanted.
  LEEWAY_DEVICE bool place_of(u32 i, u64& at) const {
    at = 0;
    bool is_wanted = true;
    for (u32 axis = chunk_.rank; axis-- > 0;) {
      const u32 extent = chunk_.extents[axis], rest = i / extent;
      const u64 index = first_[axis] + (i - rest * extent);
      is_wanted &= index >= args_.wanted.first[axis] &&
                   index - args_.wanted.first[axis] < args_.wanted.extents[axis];
      at += u64(i64(index - args_.wanted.first[axis]) * args_.layout.strides[axis]);
      i = rest;
    }
    return is_wanted;
  }
  LEEWAY_DEVICE void put(u32 i, Bits<T> bits) const {
    u64 at;
    if (place_of(i, at)) store(reinterpret_cast<Bits<T>*>(args_.values + i64(at)), bits);
  }
  LEEWAY_DEVICE Bits<T> decoded(u32 i) const {
    u64 at;
    place_of(i, at);
    return load(reinterpret_cast<const Bits<T>*>(args_.values + i64(at)));
  }
  LEEWAY_DEVICE u64 decoded_pair(u32 i) const {
    if constexpr (sizeof(T) == 8) return decoded(i);
    return u64(i + 1 < chunk_.size ? decoded(i + 1) : 0) << 32 | decoded(i);
  }
  LEEWAY_DEVICE u64 decoded_hash() const {
    constexpr u32 kPerWord = 8 / sizeof(T);
    return hash_by_cta(
        s_.hash, u64(chunk_.size) * sizeof(T),
        [&](u64 word) { return decoded_pair(u32(word) * kPerWord); },
        [&](u32 j) { return decoded_pair(chunk_.size - (8 - j) * kPerWord); });
  }

  LEEWAY_DEVICE_CALL u32 decode(const u8* payload, const FrameFacts& facts) {
    const u32 bytes = facts.payload_bytes, kind = load(payload);
    if (kind == kConstant || kind == kStored) {
      const bool is_stored = kind == kStored;
      if (bytes != 1 + u32(sizeof(T)) * (is_stored ? chunk_.size : 1)) return kCorrupt;
      for (u32 i = thread(); i < chunk_.size; i += kThreads) {
        ByteReader in{payload, 1 + u64(is_stored ? i : 0) * sizeof(T), bytes};
        put(i, Bits<T>(in.get(sizeof(T))));
      }
      return kOk;
    }
    if (kind != kCoded && kind != kNarrow) return kind <= 8 ? kUnsupported : kCorrupt;
    if (!(facts.bound > 0)) return kCorrupt;
    const u32 sections = by_one([&] { return read_sections(payload, bytes, kind == kNarrow); });
    if (sections != kOk) return sections;
    const u32 heads = place_bodies(payload, bytes, kind == kNarrow ? 16 : 8 * u32(sizeof(T)));
    if (heads != kOk) return heads;
    decode_blocks(payload, Grid(facts.bound), kind == kNarrow ? 16 : 8 * u32(sizeof(T)));
    barrier();
    if (tile() == 0) {
      u32 status = kOk;
      for (u32 list = 2; list-- > 0 && status == kOk;) {
        status = apply_list(payload, s_.list_at[list], s_.list_end[list],
                            list == 0 ? facts.special : facts.exact);
        tile_sync();  // special values are laid over all others, by other lanes
      }
      if (lane() == 0) s_.status = status;
    }
    barrier();
    const u32 status = s_.status;
    barrier();
    return status;
  }

  LEEWAY_DEVICE u32 read_sections(const u8* payload, u32 bytes, bool is_narrow) const {
    ByteReader in{payload, 1, bytes};
    for (u32 k = 0; k < 3; ++k) {  // special values, notes, exact values
      const u64 size = in.get_varint();
      if (in.failed || size > in.left()) return kCorrupt;
      const u64 begin = in.at;
      in.at += size;
      if (size > 0 && (k == 1 || is_narrow)) return kCorrupt;
      if (size > 0 && load(payload + begin) != 0) return kUnsupported;  // packed by zstd
      if (k == 1) continue;
      s_.list_at[k / 2] = size ? begin + 1 : begin;
      s_.list_end[k / 2] = in.at;
    }
    s_.heads_at = in.at;
    return u64(blocks_) * args_.recipe.head_bytes <= in.left() ? kOk : kCorrupt;
  }

  // All heads are checked before a block is decoded.
  LEEWAY_DEVICE u32 place_bodies(const u8* payload, u32 bytes, u32 bits) {
    const u8* const heads = payload + s_.heads_at;
    const u32 head_bytes = args_.recipe.head_bytes;
    for (u32 block = thread(); block < blocks_; block += kThreads) {
      const u32 byte = load(heads + block * head_bytes);
      const BlockHead head = BlockHead::of(byte);
      bool is_possible = head.planes <= bits && (head.outlier_bytes == 0 || args_.recipe.outlier);
      for (u32 k = 1; k < head_bytes; ++k) is_possible &= load(heads + block * head_bytes + k) == 0;
      s_.place()[block] = is_possible ? head.body_bytes() : kNotPossible;
    }
    barrier();
    const u64 first = s_.heads_at + u64(blocks_) * head_bytes;
    if (tile() == 0) {
      u64 all = 0;
      bool is_possible = true;
      for (u32 base = 0; base < blocks_; base += kTile) {
        const u32 at = base + lane(), own = at < blocks_ ? u32(s_.place()[at]) : 0;
        is_possible &= own != kNotPossible;
        const u32 sum = tile_scan(own == kNotPossible ? 0 : own);
        if (at < blocks_) s_.place()[at] = u32(all + sum - (own == kNotPossible ? 0 : own));
        all += shuffle(sum, kTile - 1);
      }
      const bool is_well = ballot(!is_possible) == 0 && first + all == bytes;
      if (lane() == 0) s_.status = is_well ? kOk : kCorrupt;
    }
    barrier();
    const u32 status = s_.status;
    barrier();
    return status;
  }

  LEEWAY_DEVICE void decode_blocks(const u8* payload, const Grid& grid, u32 bits) const {
    const u8* const heads = payload + s_.heads_at;
    const u8* const bodies = heads + u64(blocks_) * args_.recipe.head_bytes;
    for (u32 block = tile(); block < blocks_; block += kTiles) {
      const BlockHead head = BlockHead::of(load(heads + block * args_.recipe.head_bytes));
      const u64 sum = tile_scan(u64(read_body(head, bodies + s_.place()[block])));
      const i64 code = i64(sum << (64 - bits)) >> (64 - bits);
      const u32 i = block * kBlock + lane();
      if (i < chunk_.size) put(i, to_bits(recover(grid, code, T(0))));
    }
  }

  // Lays a list of patches over the values; by one tile, every lane reads the list.
  LEEWAY_DEVICE u32 apply_list(const u8* payload, u64 at, u64 end, u32 stated) const {
    if (at == end) return stated == 0 ? kOk : kCorrupt;
    ByteReader in{payload, at, end};
    const u64 runs = in.get_varint();
    if (in.failed || runs > chunk_.size) return kCorrupt;
    if (runs == 0) return in.left() == 0 && stated == 0 ? kOk : kCorrupt;
    const u32 palette = u32(in.get(1));
    const u64 palette_at = in.at;
    if (in.failed || palette > 16 || palette * sizeof(T) > in.left()) return kCorrupt;
    in.at += palette * sizeof(T);
    u64 position = 0, kept = 0;
    for (u64 run = 0; run < runs; ++run) {
      const u64 gap = in.get_varint(), more = in.get_varint(), entry = in.get(1);
      if (in.failed || gap >= chunk_.size - position) return kCorrupt;
      position += gap;
      if (more > chunk_.size - position - 1 || entry > palette) return kCorrupt;
      ByteReader value{payload, palette_at + entry * sizeof(T), end};
      const u64 bits = entry < palette ? value.get(sizeof(T)) : in.get(sizeof(T));
      if (in.failed) return kCorrupt;
      for (u64 k = lane(); k <= more; k += kTile) put(u32(position + k), Bits<T>(bits));
      position += more + 1;
      kept += more + 1;
      // Lists do not overlap, so lanes need not wait for each other.
      if (position == chunk_.size && run + 1 < runs) return kCorrupt;
    }
    return in.left() == 0 && kept == stated ? kOk : kCorrupt;
  }

  static constexpr u32 kNotPossible = ~u32(0);

  const DecompressArgs& args_;
  DecompressShared& s_;
  const u32 ordinal_;
  const u64 stream_bytes_;
  const Chunk chunk_;
  const u32 blocks_;
  u64 first_[kMostRank];
  bool is_whole_;
  const u8* frame_ = nullptr;
};

}  // namespace leeway::gpu
