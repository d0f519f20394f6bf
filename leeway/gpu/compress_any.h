// SPDX-License-Identifier: BSD-3-Clause
// Compress any chunk: whatever its values, shape and place in memory. A lane has a value, a tile a
// block; values are read again wherever they are needed, nothing is kept.
//
// What becomes of a value that has no code, of special ones and those that would become a fill
// value, is that of codec/mask.h and join/quantize_first.h: a special value counts as the ordinary
// one before it, a value without a code has the code before it.
#pragma once

#include "leeway/gpu/blocks.h"
#include "leeway/gpu/container.h"
#include "leeway/gpu/fast_hash.h"
#include "leeway/gpu/look_back.h"
#include "leeway/gpu/patch_list.h"

namespace leeway::gpu {

// Shared memory of both ways to compress a chunk (compress_fast.h is the other).
constexpr u32 kImageBytes = 20480, kRowWords = 704;  // of a tile
struct CompressShared {
  HashShared hash;
  SumsShared sums;
  alignas(16) Cell<u32> image[kImageBytes / 4 + 4];
  alignas(16) Cell<u32> rows[kTiles][kRowWords];
  FastHashShared fast;
  Cell<u32> totals[2][kTiles];
  Cell<u32> is_last;
  Cell<u32> flags[kTiles], special[kTiles], exact[kTiles], first[kTiles];
  Cell<u64> worst[kTiles];
  Cell<u32> list_runs[2], list_bytes[2];
  Cell<u32> bodies;
  Cell<u64> before;
  Cell<u32> chunk;

  // For chunks of any kind, a number for each block:
  LEEWAY_DEVICE Cell<u32>* ordinary() { return image; }  // 1 + the last ordinary value before it
  // 1 + the value whose code is the last before it
  LEEWAY_DEVICE Cell<u32>* coded() { return image + kMostBlocks; }
  LEEWAY_DEVICE Cell<u32>* place() { return image + 2 * kMostBlocks; }  // of its body
};
static_assert(3 * kMostBlocks * 4 <= kImageBytes, "three numbers for each block");

enum class Form : u32 { constant, stored, narrow, wide, impossible };

template <class T>
class AnyChunk {
 public:
  LEEWAY_DEVICE AnyChunk(const CompressArgs& args, CompressShared& s, u32 ordinal,
                         const Place& place, double bound)
      : args_(args),
        s_(s),
        ordinal_(ordinal),
        place_(place),
        chunk_(find_chunk(args.layout, ordinal)),
        blocks_((chunk_.size + kBlock - 1) / kBlock),
        grid_(bound > 0 ? bound : 1),
        has_bound_(bound > 0) {}

  // Writes the frame.
  LEEWAY_DEVICE FrameFacts compress() {
    look_at_values();
    if (form_ == Form::wide) look_at_codes();
    measure();
    if (tile() == 1) {
      const u64 before = look_back(states(), place_.turn, frame_bytes());
      if (lane() == 0) s_.before = before;
    }
    barrier();
    const u64 place = place_.first + s_.before;
    FrameFacts facts{ordinal_, payload_,       special_, exact_, has_bound_ ? grid_.bound : 0,
                     0,        decoded_hash(), 0};
    if (form_ == Form::narrow || form_ == Form::wide)
      facts.max_error = stated_error(worst_, grid_.bound);
    if (place + frame_bytes() > args_.capacity) return facts;
    u8* const frame = args_.stream + place;
    write_payload(frame + kFrameHead);
    barrier();
    facts.payload_hash = hash_of_memory(s_.hash, frame + kFrameHead, payload_);
    if (thread() == 0) write_head(facts, s_.hash, frame);
    return facts;
  }
  LEEWAY_DEVICE Form form() const { return form_; }

 private:
  static constexpr u32 kDiffers = 1, kHasSpecial = 2, kHasWide = 4, kNone = ~u32(0);

  // A value and what becomes of it.
  struct Seen {
    bool is_there, is_special, is_coded;
    T value;      // as it is
    T effective;  // an ordinary value
    u32 source;   // 1 + the number of the effective value; 0: there is none
    Quantized<T> quantized;
  };

  LEEWAY_DEVICE u64* states() const { return args_.work.zeros + kZerosBefore; }
  LEEWAY_DEVICE u64 frame_bytes() const { return aligned(kFrameHead + payload_); }
  LEEWAY_DEVICE T value(u32 i) const {
    return from_bits(
        load(reinterpret_cast<const Bits<T>*>(args_.values + i64(chunk_.at(i, sizeof(T))))));
  }
  LEEWAY_DEVICE bool is_fill(T v) const {
    bool is = false;
    for (u32 k = 0; k < args_.fills; ++k) is |= u64(to_bits(v)) == args_.fill[k];
    return is;
  }
  LEEWAY_DEVICE bool is_special(T v) const { return is_nonfinite(v) || is_fill(v); }
  template <class F>
  LEEWAY_DEVICE void for_own_blocks(const F& f) const {
    for (u32 block = tile(); block < blocks_; block += kTiles) f(block);
  }
  // Collects what the tiles have found.
  LEEWAY_DEVICE void share_worst(u64 worst) {
    worst = tile_max(worst);
    if (lane() == 0) s_.worst[tile()] = worst;
  }
  LEEWAY_DEVICE void take_worst() {
    u64 worst = 0;
    for (u32 k = 0; k < kTiles; ++k) worst = u64(s_.worst[k]) > worst ? u64(s_.worst[k]) : worst;
    worst_ = from_bits(Bits<T>(worst));
  }

  // Constant, narrow or wide; where the ordinary values are.
  LEEWAY_DEVICE void look_at_values() {
    const Bits<T> first_bits = to_bits(value(0));
    u32 flags = 0, special = 0, first = kNone;
    u64 worst = 0;
    for_own_blocks([&](u32 block) {
      const u32 i = block * kBlock + lane();
      const bool is_there = i < chunk_.size;
      const T v = is_there ? value(i) : T(0);
      const bool skip = is_there && is_special(v);
      if (is_there) {
        const Quantized<T> q = quantize(grid_, v);
        if (to_bits(v) != first_bits) flags |= kDiffers;
        if (skip) flags |= kHasSpecial;
        if (!q.has_code || !q.is_narrow || is_fill(q.value)) flags |= kHasWide;
        if (q.has_code && u64(to_bits(q.error)) > worst) worst = to_bits(q.error);
        special += skip;
        if (!skip && first == kNone) first = i;
      }
      const u32 ordinary = ballot(is_there && !skip);
      if (lane() == 0) s_.ordinary()[block] = ordinary ? block * kBlock + bit_width(ordinary) : 0;
    });
    flags = tile_or(flags);
    special = u32(tile_sum(u64(special)));
    first = ~u32(tile_max(u64(~first)));
    share_worst(worst);
    if (lane() == 0)
      s_.flags[tile()] = flags, s_.special[tile()] = special, s_.first[tile()] = first;
    barrier();
    flags = 0, first_ordinary_ = kNone;
    for (u32 k = 0; k < kTiles; ++k) {
      flags |= s_.flags[k];
      special_ += s_.special[k];
      first_ordinary_ = s_.first[k] < first_ordinary_ ? u32(s_.first[k]) : first_ordinary_;
    }
    take_worst();
    form_ = !(flags & kDiffers)                   ? Form::constant
            : !has_bound_                         ? Form::impossible
            : !(flags & (kHasSpecial | kHasWide)) ? Form::narrow
                                                  : Form::wide;
    if (tile() == 0) scan_last(s_.ordinary());
    barrier();
  }

  // What stands in an entry is the last number before it, if there is one.
  LEEWAY_DEVICE void scan_last(Cell<u32>* entries) const {
    u32 carried = 0;
    for (u32 base = 0; base < blocks_; base += kTile) {
      const u32 at = base + lane();
      u32 last = at < blocks_ ? u32(entries[at]) : 0;
      for (u32 d = 1; d < kTile; d <<= 1) {
        const u32 before = shuffle_up(last, d);
        if (lane() >= d && last == 0) last = before;
      }
      const u32 before = shuffle_up(last, 1), all = shuffle(last, kTile - 1);
      if (at < blocks_) entries[at] = lane() > 0 && before ? before : carried;
      carried = all ? all : carried;
    }
  }

  LEEWAY_DEVICE_CALL Seen see(u32 block) const {
    const u32 i = block * kBlock + lane();
    Seen seen{};
    seen.is_there = i < chunk_.size;
    seen.value = seen.is_there ? value(i) : T(0);
    seen.is_special = seen.is_there && is_special(seen.value);
    const u32 ordinary = ballot(seen.is_there && !seen.is_special),
              before = ordinary & ((u32(1) << lane()) - 1);
    seen.source = i + 1;
    seen.effective = seen.value;
    if (seen.is_special) {
      seen.source = before ? block * kBlock + bit_width(before) : u32(s_.ordinary()[block]);
      if (seen.source == 0) seen.source = first_ordinary_ + 1;  // 0 if there is none
      seen.effective = seen.source ? value(seen.source - 1) : T(0);
    }
    seen.quantized = quantize(grid_, seen.effective);
    seen.is_coded = seen.is_there && seen.quantized.has_code &&
                    (seen.is_special || !is_fill(seen.quantized.value));
    return seen;
  }

  LEEWAY_DEVICE void look_at_codes() {
    u32 exact = 0;
    u64 worst = 0;
    for_own_blocks([&](u32 block) {
      const Seen seen = see(block);
      if (seen.is_there && seen.quantized.has_code && u64(to_bits(seen.quantized.error)) > worst)
        worst = to_bits(seen.quantized.error);
      exact += seen.is_there && !seen.is_coded;
      const u32 coded = ballot(seen.is_coded);
      const u32 last = shuffle(seen.source, coded ? bit_width(coded) - 1 : 0);
      if (lane() == 0) s_.coded()[block] = coded ? last : 0;
    });
    exact = u32(tile_sum(u64(exact)));
    share_worst(worst);
    if (lane() == 0) s_.exact[tile()] = exact;
    barrier();
    for (u32 k = 0; k < kTiles; ++k) exact_ += s_.exact[k];
    take_worst();
    if (tile() == 0) scan_last(s_.coded());
    barrier();
  }

  // The code of a lane, less the one before it in the block.
  LEEWAY_DEVICE_CALL LaneCode code_of(u32 block) const {
    const u32 i = block * kBlock + lane();
    i64 code;
    if (form_ == Form::narrow) {
      code = i < chunk_.size ? quantize(grid_, value(i)).code : 0;
    } else {
      const Seen seen = see(block);
      const u32 coded = ballot(seen.is_coded), before = coded & (~u32(0) >> (31 - lane()));
      const u32 carried = s_.coded()[block];
      code = i64(shuffle(u64(seen.quantized.code), before ? bit_width(before) - 1 : 0));
      if (!before) code = carried ? quantize(grid_, value(carried - 1)).code : 0;
    }
    const i64 previous = i64(shuffle_up(u64(code), 1));
    LaneCode result = difference(code, lane() > 0 ? previous : 0, code_bits());
    if (i >= chunk_.size) result = {0, false};
    return result;
  }
  LEEWAY_DEVICE u32 code_bits() const { return form_ == Form::narrow ? 16 : 8 * sizeof(T); }

  LEEWAY_DEVICE auto special_patch() const {
    return [this](u32 block) {
      const u32 i = block * kBlock + lane();
      const T v = i < chunk_.size ? value(i) : T(0);
      return Patch<T>{i < chunk_.size && is_special(v), to_bits(v)};
    };
  }
  LEEWAY_DEVICE auto exact_patch() const {
    return [this](u32 block) {
      const Seen seen = see(block);
      return Patch<T>{seen.is_there && !seen.is_coded, to_bits(seen.effective)};
    };
  }

  // Tile 0 has the list of special values, tile 1 that of exact ones.
  template <class PatchOf>
  LEEWAY_DEVICE void measure_own_list(u32 number, u32 count, const PatchOf& patch) {
    ListSize size;
    if (count > 0) {
      palette_ = choose_palette<T>(blocks_, patch);
      size = measure_list<T>(blocks_, patch, palette_);
    }
    if (lane() == 0) s_.list_runs[number] = size.runs, s_.list_bytes[number] = size.bytes;
  }
  // A list in the form of the stage zstd: as it is.
  LEEWAY_DEVICE u32 content_bytes(u32 number) const {
    const u32 bytes = s_.list_bytes[number];
    return bytes ? bytes + 1 : 0;
  }
  LEEWAY_DEVICE u32 section_bytes(u32 number) const {
    return varint_bytes(content_bytes(number)) + content_bytes(number);
  }

  LEEWAY_DEVICE void measure() {
    const u32 raw = chunk_.size * u32(sizeof(T));
    if (form_ == Form::constant || form_ == Form::impossible) {
      payload_ = 1 + u32(sizeof(T));
      return;
    }
    for_own_blocks([&](u32 block) {
      const BlockHead head = choose_head(code_of(block), args_.recipe.outlier);
      if (lane() == 0) s_.place()[block] = head.body_bytes();
    });
    if (tile() == 0) measure_own_list(0, special_, special_patch());
    if (tile() == 1) measure_own_list(1, exact_, exact_patch());
    barrier();
    if (tile() == 0) {
      u32 all = 0;
      for (u32 base = 0; base < blocks_; base += kTile) {
        const u32 at = base + lane(), own = at < blocks_ ? u32(s_.place()[at]) : 0,
                  sum = tile_scan(own);
        if (at < blocks_) s_.place()[at] = all + sum - own;
        all += shuffle(sum, kTile - 1);
      }
      if (lane() == 0) s_.bodies = all;
    }
    barrier();
    const u32 lists = section_bytes(0) + 1 + section_bytes(1);
    bodies_at_ = 1 + lists + blocks_ * args_.recipe.head_bytes;
    payload_ = bodies_at_ + s_.bodies;
    if (payload_ > raw) {
      form_ = Form::stored;
      payload_ = 1 + raw;
      exact_ = 0;
    }
  }

  LEEWAY_DEVICE Bits<T> decoded(u32 i) const {
    const T v = value(i);
    if (form_ == Form::narrow) return to_bits(quantize(grid_, v).value);
    if (form_ != Form::wide || is_special(v)) return to_bits(v);
    const Quantized<T> q = quantize(grid_, v);
    return to_bits(q.has_code && !is_fill(q.value) ? q.value : v);
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

  template <class PatchOf>
  LEEWAY_DEVICE void write_own_list(u32 number, u32 at, const PatchOf& patch, u8* to) const {
    const u32 content = content_bytes(number);
    ByteWriter out{to + at};
    if (lane() == 0) {
      out.put_varint(content);
      if (content) out.put(0, 1);
    }
    if (content)
      write_list<T>(blocks_, patch, palette_, s_.list_runs[number],
                    to + at + varint_bytes(content) + 1);
  }

  LEEWAY_DEVICE void write_payload(u8* to) const {
    for (u64 k = payload_ + thread(); k < frame_bytes() - kFrameHead; k += kThreads)
      store(to + k, u8(0));
    const u8 kinds[5] = {kConstant, kStored, kNarrow, kCoded, kConstant};
    if (thread() == 0) store(to, kinds[u32(form_)]);
    if (form_ == Form::constant || form_ == Form::impossible || form_ == Form::stored) {
      const u32 count = form_ == Form::stored ? chunk_.size : 1;
      for (u32 i = thread(); i < count; i += kThreads)
        ByteWriter{to + 1 + i * sizeof(T)}.put(to_bits(value(i)), sizeof(T));
      return;
    }
    const u32 notes = 1 + section_bytes(0);
    if (tile() == 0) write_own_list(0, 1, special_patch(), to);
    if (tile() == 1) write_own_list(1, notes + 1, exact_patch(), to);
    if (thread() == 0) store(to + notes, u8(0));
    const u32 heads = notes + 1 + section_bytes(1);
    for_own_blocks([&](u32 block) {
      const LaneCode code = code_of(block);
      const BlockHead head = choose_head(code, args_.recipe.outlier);
      if (lane() < args_.recipe.head_bytes)
        store(to + heads + block * args_.recipe.head_bytes + lane(),
              lane() == 0 ? head.byte() : u8(0));
      write_body(code, head, to + bodies_at_ + s_.place()[block]);
    });
  }

  const CompressArgs& args_;
  CompressShared& s_;
  const u32 ordinal_;
  const Place place_;
  const Chunk chunk_;
  const u32 blocks_;
  const Grid grid_;
  const bool has_bound_;
  Form form_ = Form::wide;
  u32 special_ = 0, exact_ = 0, first_ordinary_ = kNone;
  T worst_ = 0;
  u32 payload_ = 0, bodies_at_ = 0;
  Palette<T> palette_;
};

template <class T>
LEEWAY_DEVICE_CALL FrameFacts compress_any(const CompressArgs& args, CompressShared& s, u32 ordinal,
                                           const Place& place, double bound, Form& form) {
  AnyChunk<T> chunk(args, s, ordinal, place, bound);
  const FrameFacts facts = chunk.compress();
  form = chunk.form();
  return facts;
}

}  // namespace leeway::gpu
