// SPDX-License-Identifier: BSD-3-Clause
// Compress fast: a chunk of f32 that is one piece of memory, has neither special values nor such
// that need patches, and whose differences fit 15 bits. All others are for compress_any.h. Memory
// that does not begin at a multiple of 16 bytes is loaded by 4 bytes a lane, still in whole lines.
//
// Codes never leave the chip. A pass is 8192 values, 1024 for each tile: lane 8 g + k loads, in
// round r, the 16 bytes 4 k ... 4 k + 3 of block 8 g + r, so that a request is four whole lines.
// Values are quantized, checked against the bound and added to the checksum where they are; their
// differences go through shared memory, so that lane l gets block l: value j in the low half of
// register j, value j + 16 in the high half. There the block is sized, and its planes come out of a
// transposition of bits. What is written is put together in shared memory, the image, and copied in
// whole lines when the place is known; passes that do not fit there are coded again afterwards.
#pragma once

#include "leeway/gpu/compress_any.h"
#include "leeway/gpu/planes.h"

namespace leeway::gpu {

class FastChunk {
 public:
  LEEWAY_DEVICE FastChunk(const CompressArgs& args, CompressShared& s, u32 ordinal,
                          const Place& place, const Chunk& chunk, double bound)
      : args_(args),
        s_(s),
        ordinal_(ordinal),
        place_(place),
        size_(chunk.size),
        grid_(bound),
        blocks_((chunk.size + kBlock - 1) / kBlock),
        passes_((chunk.size + kPassValues - 1) / kPassValues),
        from_(args.values + i64(chunk.offset)),
        is_aligned_(reinterpret_cast<std::uintptr_t>(from_) % 16 == 0) {}

  // Says whether the chunk could be coded; if not, nothing has been said of it.
  LEEWAY_DEVICE bool compress(FrameFacts& facts) {
    prepare();
    u32 place = 4 + blocks_ * args_.recipe.head_bytes;  // of the next body, in the payload
    image_end_ = passes_;
    LEEWAY_NO_UNROLL
    for (u32 pass = 0; pass < passes_; ++pass) {
      // The last stripe of the checksum is the last 16 values, wherever they are.
      if (is_aligned_ && (pass + 1) * kPassValues + 16 <= size_)
        code_pass<false, true>(pass, place, 0);
      else
        code_pass<true, true>(pass, place, 0);
    }
    payload_ = place;
    if (!is_fine()) return false;
    if (tile() == 1) {
      const u64 before = look_back(args_.work.zeros + kZerosBefore, place_.turn, frame_bytes());
      if (lane() == 0) s_.before = before;
    }
    if (tile() == 0) {
      const u64 hash = finish_fast_hash(s_.hash, s_.fast, size_);
      if (lane() == 0) s_.hash.result = hash;
    }
    barrier();
    const u64 at = place_.first + s_.before;
    facts = {ordinal_,       payload_, 0, 0, grid_.bound, stated_error(worst_, grid_.bound),
             s_.hash.result, 0};
    barrier();
    if (at + frame_bytes() > args_.capacity) return true;
    u8* const frame = args_.stream + at;
    facts.payload_hash = write_out(frame + kFrameHead);
    if (thread() == 0) write_head(facts, s_.hash, frame);
    return true;
  }

 private:
  LEEWAY_DEVICE u64 frame_bytes() const { return aligned(kFrameHead + payload_); }

  LEEWAY_DEVICE void prepare() {
    prepare_keys(s_.fast);
    clear_image();
    barrier();
  }
  LEEWAY_DEVICE void clear_image() {
    for (u32 k = thread(); k < kImageBytes / 16 + 1; k += kThreads)
      store_shared(s_.image + 4 * k, Quad{0, 0, 0, 0});
  }

  // Codes the values of a pass. Bodies begin at `place` of the payload, of which the image has what
  // comes after `window`; place goes on by their size. kFirst: not the second time.
  template <bool kChecked, bool kFirst>
  LEEWAY_DEVICE void code_pass(u32 pass, u32& place, u32 window) {
    quantize_values<kChecked, kFirst>(pass);
    tile_sync();
    u32 c[16];
    take_block(c);
    tile_sync();
    u32 first;
    const BlockHead head = size_block(c, first);
    const u32 bytes = head.body_bytes(), sum = tile_scan(bytes);
    Cell<u32>* const totals = s_.totals[pass & 1];
    if (lane() == kTile - 1) totals[tile()] = sum;
    if (kFirst) put_head(pass * kThreads + thread(), head);
    barrier();
    u32 at = place + sum - bytes, all = 0;
    LEEWAY_UNROLL
    for (u32 k = 0; k < kTiles; ++k) {
      const u32 total = totals[k];
      if (k < tile()) at += total;
      all += total;
    }
    place += all;
    if (kFirst && (place > kImageBytes || image_end_ < passes_)) {
      if (image_end_ == passes_) image_end_ = pass, image_bytes_ = place - all;
      return;
    }
    if (bytes) put_body(c, first, head, at - window);
  }

  // Four values from number i on, which is a multiple of 4; 0 behind the end.
  template <bool kChecked>
  LEEWAY_DEVICE Quad four_values(u32 i) const {
    if (!kChecked || (is_aligned_ && i + 4 <= size_))
      return load_stream(reinterpret_cast<const Quad*>(from_) + i / 4);
    const u32* const words = reinterpret_cast<const u32*>(from_) + i;
    const u32 left = i < size_ ? size_ - i : 0;
    return {left > 0 ? load(words) : 0, left > 1 ? load(words + 1) : 0,
            left > 2 ? load(words + 2) : 0, left > 3 ? load(words + 3) : 0};
  }

  template <bool kChecked, bool kFirst>
  LEEWAY_DEVICE void quantize_values(u32 pass) {
    const u32 base = first_of_lane(pass);
    Quad x[kRounds];
    LEEWAY_UNROLL
    for (u32 r = 0; r < kRounds; ++r) x[r] = four_values<kChecked>(base + 32 * r);
    const u32 stripes = (size_ * 4 - 1) / kStripe;
    QuarterSums sums;
    LEEWAY_UNROLL
    for (u32 r = 0; r < kRounds; ++r) {
      const u32 v[4] = {x[r].x, x[r].y, x[r].z, x[r].w}, i = base + 32 * r;
      u32 s[4], w[4];
      LEEWAY_UNROLL
      for (u32 k = 0; k < 4; ++k) {
        const float value = from_bits(v[k]), t = mul(value, grid_.short_inverse),
                    shifted = add(t, 12582912.0f),
                    y = mul(sub(shifted, 12582912.0f), grid_.short_step);
        s[k] = to_bits(shifted);
        w[k] = to_bits(y);
        if (kFirst) {
          // As integers they have the same order, and NaN is the largest.
          const u32 error = to_bits(magnitude(sub(value, y))), code = to_bits(magnitude(t));
          worst_bits_ = error > worst_bits_ ? error : worst_bits_;
          largest_ = code > largest_ ? code : largest_;
        }
      }
      if (kFirst && (!kChecked || i / 16 < stripes)) sums.add(s_.fast, r, w);
      if (kFirst && kChecked) {
        LEEWAY_UNROLL
        for (u32 k = 0; k < 4; ++k) keep_last(s_.fast, size_, i + k, w[k]);
      }
      const u32 up = shuffle_up(s[3], 1);
      const u32 before[4] = {unit_of_lane() ? up : kRoundingBits, s[0], s[1], s[2]};
      LEEWAY_UNROLL
      for (u32 k = 0; k < 4; ++k) {
        i32 d = i32(s[k] - before[k]);
        if (kChecked && i + k >= size_) d = 0;
        const u32 m = u32(d < 0 ? -d : d);
        wide_ |= m;
        store_shared(row_of_differences() + (r * 20 + k) * 2, u16(m | (u32(d) & 0x8000u)));
      }
    }
    if (kFirst) sums.share(s_.hash, pass);
  }
  // Where this lane's values of a round go: row r of the group has value j of block r in the low
  // half of word j, value j + 16 in the high half.
  LEEWAY_DEVICE Cell<u16>* row_of_differences() const {
    return reinterpret_cast<Cell<u16>*>(s_.rows[tile()] + group_of_lane() * 176 +
                                        4 * (unit_of_lane() % 4)) +
           unit_of_lane() / 4;
  }
  LEEWAY_DEVICE void take_block(u32 (&c)[16]) const {
    const Cell<u32>* const row = s_.rows[tile()] + group_of_lane() * 176 + unit_of_lane() * 20;
    LEEWAY_UNROLL
    for (u32 k = 0; k < 4; ++k) {
      const Quad four = load_shared<Quad>(row + 4 * k);
      c[4 * k] = four.x, c[4 * k + 1] = four.y, c[4 * k + 2] = four.z, c[4 * k + 3] = four.w;
    }
  }

  // The head of the block of this lane; `first` is the magnitude that its body begins with.
  LEEWAY_DEVICE BlockHead size_block(u32 (&c)[16], u32& first) {
    u32 others = c[0] & 0xffff0000u;
    LEEWAY_UNROLL
    for (u32 k = 1; k < 16; ++k) others |= c[k];
    others = (others | others >> 16) & 0x7fff;
    differs_ |= others;
    first = c[0] & 0x7fff;
    BlockHead head{bit_width(first | others), 0};
    if (args_.recipe.outlier) {
      const BlockHead outlier{bit_width(others), first > 255 ? 2u : 1u};
      if (outlier.body_bytes() < head.body_bytes()) {
        head = outlier;
        c[0] &= 0xffff8000u;
      }
    }
    planes_of_values(c);
    return head;
  }

  LEEWAY_DEVICE void put_head(u32 block, const BlockHead& head) {
    if (block >= blocks_) return;
    if (args_.recipe.head_bytes == 4)
      s_.image[1 + block] = head.byte();
    else
      shared_or(s_.image + (4 + block) / 4, u32(head.byte()) << 8 * (block % 4));
  }
  // At any byte. Words that a block has for itself are stored; others, which are 0 before, get
  // bits.
  LEEWAY_DEVICE void put_body(const u32 (&c)[16], u32 first, const BlockHead& head, u32 at) {
    if (head.outlier_bytes) {
      const u32 shift = at % 4 * 8;
      shared_or(s_.image + at / 4, first << shift);
      if (shift == 24 && head.outlier_bytes > 1) shared_or(s_.image + at / 4 + 1, first >> 8);
      at += head.outlier_bytes;
    }
    const u32 shift = at % 4 * 8;
    Cell<u32>* to = s_.image + at / 4;
    if (shift)
      shared_or(to, c[15] << shift);
    else
      *to = c[15];
    u32 held = c[15];
    LEEWAY_UNROLL
    for (u32 k = 0; k < 15; ++k)
      if (k < head.planes) {
        *++to = funnel_left(held, c[k], shift);
        held = c[k];
      }
    if (shift) shared_or(to + 1, held >> (32 - shift));
  }

  // Whether all values have codes that fit, and the chunk is not constant. Writes its kind.
  LEEWAY_DEVICE bool is_fine() {
    const u32 worst = u32(tile_max(u64(worst_bits_))), largest = u32(tile_max(u64(largest_))),
              wide = tile_or(wide_), differs = tile_or(differs_);
    if (lane() == 0) {
      s_.worst[tile()] = u64(largest) << 32 | worst;
      s_.flags[tile()] = wide;
      s_.first[tile()] = differs;
    }
    barrier();
    u32 most_wide = 0, any_differs = 0, most_worst = 0, most_largest = 0;
    LEEWAY_UNROLL
    for (u32 k = 0; k < kTiles; ++k) {
      const u64 both = s_.worst[k];
      most_worst = u32(both) > most_worst ? u32(both) : most_worst;
      most_largest = u32(both >> 32) > most_largest ? u32(both >> 32) : most_largest;
      most_wide |= s_.flags[k];
      any_differs |= s_.first[k];
    }
    worst_ = from_bits(most_worst);
    if (thread() == 0) {
      const bool is_narrow = most_largest <= to_bits(32767.0f);
      shared_or(s_.image, is_narrow ? kNarrow : kCoded);
    }
    barrier();
    return most_worst <= to_bits(grid_.short_limit) && most_largest <= to_bits(grid_.short_most) &&
           most_wide < 0x8000 && any_differs && payload_ <= size_ * 4;
  }

  // Copies the payload to its place; returns its hash.
  LEEWAY_DEVICE u64 write_out(u8* to) {
    const u32 units = u32(frame_bytes() - kFrameHead) / 16;
    if (image_end_ == passes_) {
      copy_units(to, units);
      return hash_by_cta(
          s_.hash, payload_, [&](u64 w) { return image_word(u32(w) * 8); },
          [&](u32 j) { return image_word(payload_ - kStripe + 8 * j); });
    }
    u32 window = 0, place = image_bytes_;
    LEEWAY_NO_UNROLL
    for (u32 pass = image_end_;; ++pass) {
      const bool is_last = pass == passes_;
      const u32 whole = is_last ? units - window / 16 : (place - window) / 16;
      copy_units(to + window, whole);
      if (is_last) break;
      // The bytes behind the last whole unit go on in the next window.
      const Quad rest = load_shared<Quad>(s_.image + 4 * whole);
      barrier();
      clear_image();
      barrier();
      if (thread() == 0) store_shared(s_.image, rest);
      window += 16 * whole;
      barrier();
      code_pass<true, false>(pass, place, window);
      barrier();
    }
    barrier();
    return hash_of_memory(s_.hash, to, payload_);
  }
  LEEWAY_DEVICE void copy_units(u8* to, u32 units) const {
    for (u32 k = thread(); k < units; k += kThreads)
      store(reinterpret_cast<Quad*>(to) + k, load_shared<Quad>(s_.image + 4 * k));
  }
  // Eight bytes of the image from any byte on.
  LEEWAY_DEVICE u64 image_word(u32 at) const {
    const u32 shift = at % 4 * 8;
    const u32 a = s_.image[at / 4], b = s_.image[at / 4 + 1], c = s_.image[at / 4 + 2];
    return u64(funnel_right(b, c, shift)) << 32 | funnel_right(a, b, shift);
  }

  const CompressArgs& args_;
  CompressShared& s_;
  const u32 ordinal_;
  const Place place_;
  const u32 size_;
  const Grid grid_;
  const u32 blocks_, passes_;
  const u8* const from_;
  const bool is_aligned_;
  u32 image_end_ = 0;    // the first pass that is not in the image
  u32 image_bytes_ = 0;  // where its bodies begin
  u32 payload_ = 0;
  u32 worst_bits_ = 0, largest_ = 0, wide_ = 0, differs_ = 0;
  float worst_ = 0;
};

template <class T>
LEEWAY_DEVICE bool compress_fast(const CompressArgs& args, CompressShared& s, u32 ordinal,
                                 const Place& place, double bound, FrameFacts& facts) {
  if constexpr (sizeof(T) == 4) {
    const Chunk chunk = find_chunk(args.layout, ordinal);
    if (!chunk.is_one_piece || chunk.size < kFewestFast || args.fills > 0 ||
        !(bound > 0x1p-98 && bound < 0x1p98))
      return false;
    return FastChunk(args, s, ordinal, place, chunk, bound).compress(facts);
  }
  return false;
}

}  // namespace leeway::gpu
