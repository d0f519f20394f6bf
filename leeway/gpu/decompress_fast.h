// SPDX-License-Identifier: BSD-3-Clause
// Decompress fast: a chunk of f32 that goes as a whole to one piece of memory, has nothing but
// codes, and whose differences fit 15 bits. It refuses all others, and all in which anything is
// odd, for decompress_any.h, which says what is wrong.
//
// A pass is 256 blocks, one for each thread: their heads say where their bodies are, the bodies
// come into shared memory in whole lines, and a lane takes the planes of its own block, transposes
// them to 32 differences, and adds these up. Values go through shared memory once more, so that
// what is stored is in whole lines, and join the checksum on their way (fast_hash.h).
#pragma once

#include "leeway/gpu/blocks.h"
#include "leeway/gpu/fast_hash.h"
#include "leeway/gpu/frame.h"
#include "leeway/gpu/grid.h"
#include "leeway/gpu/planes.h"

namespace leeway::gpu {

struct DecodeFastShared {
  FastHashShared hash;
  // For each tile the values of a pass, of lane l in the units 8 l to 8 l + 7; before that the
  // bodies of the pass, for all tiles.
  alignas(16) Cell<u32> rows[kTiles][kBlock * kTile];
  Cell<u32> totals[2][kTiles];
  Cell<u32> is_odd[kTiles];
  Cell<u32> is_well;
};

class FastDecoder {
 public:
  // `to`: where the values go. The payload has a frame's padding behind it.
  LEEWAY_DEVICE FastDecoder(DecodeFastShared& s, HashShared& hash, const u8* payload, u32 bytes,
                            u32 size, u8* to)
      : s_(s),
        hash_(hash),
        payload_(payload),
        bytes_(bytes),
        size_(size),
        blocks_((size + kBlock - 1) / kBlock),
        to_(to),
        is_aligned_(reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {}

  // Says whether all went well and the values have this hash.
  LEEWAY_DEVICE bool decompress(const Recipe& recipe, double bound, u64 decoded_hash) {
    const Grid grid(bound);
    const u32 first = load(reinterpret_cast<const u32*>(payload_)), kind = first & 0xff;
    // Lists and notes are empty; heads come next.
    if (!(grid.short_step > 0) || first >> 8 != 0 || (kind != kCoded && kind != kNarrow))
      return false;
    most_ = kind == kNarrow ? 32767 : 65536;
    head_bytes_ = recipe.head_bytes;
    outlier_ = recipe.outlier;
    step_ = grid.short_step;
    u32 place = 4 + blocks_ * head_bytes_;  // of the next body
    if (place > bytes_) return false;
    prepare_keys(s_.hash);
    const u32 passes = (size_ + kPassValues - 1) / kPassValues;
    LEEWAY_NO_UNROLL
    for (u32 pass = 0; pass < passes; ++pass) {
      const bool is_inside = is_aligned_ && (pass + 1) * kPassValues + 16 <= size_;
      if (!(is_inside ? decode_pass<false>(pass, place) : decode_pass<true>(pass, place)))
        return false;
    }
    return place == bytes_ && has_hash(decoded_hash);
  }

 private:
  // The head of the block of this thread; is_odd_ if it is none that this path knows.
  LEEWAY_DEVICE BlockHead read_head(u32 block) {
    if (block >= blocks_) return {};
    u32 byte;
    if (head_bytes_ == 4)
      byte = load(reinterpret_cast<const u32*>(payload_) + 1 + block);
    else
      byte = load(payload_ + 4 + block);
    const BlockHead head = BlockHead::of(byte & 0xff);
    if (byte > 0xff || head.planes > 15 || head.outlier_bytes > (outlier_ ? 2u : 0u)) {
      is_odd_ = true;
      return {};
    }
    return head;
  }

  template <bool kChecked>
  LEEWAY_DEVICE bool decode_pass(u32 pass, u32& place) {
    constexpr u32 kOdd = u32(1) << 31;
    const BlockHead head = read_head(pass * kThreads + thread());
    const u32 size = head.body_bytes(), sum = tile_scan(size);
    Cell<u32>* const totals = s_.totals[pass & 1];
    const u32 odd = ballot(is_odd_);
    if (lane() == kTile - 1) totals[tile()] = odd ? kOdd : sum;
    barrier();
    u32 at = sum - size, all = 0, any_odd = 0;
    LEEWAY_UNROLL
    for (u32 k = 0; k < kTiles; ++k) {
      const u32 total = totals[k];
      any_odd |= total & kOdd;
      if (k < tile()) at += total;
      all += total;
    }
    if (any_odd || all > bytes_ - place) return false;
    const u32 skew = place % 16;
    fetch(place - skew, skew + all);
    barrier();
    u32 c[16], first = 0;
    take_planes(head, skew + at, c, first);
    barrier();  // what was the bodies becomes the values
    values_of_planes(c);
    c[0] |= first;
    put_values(c);
    tile_sync();
    take_values<kChecked>(pass);
    place += all;
    return true;
  }

  // Bodies of a pass from a multiple of 16 bytes on.
  LEEWAY_DEVICE Cell<u32>* image() const { return s_.rows[0]; }
  LEEWAY_DEVICE void fetch(u32 begin, u32 bytes) {
    const u32 units = (bytes + 15) / 16;
    const Quad* const from = reinterpret_cast<const Quad*>(payload_ + begin);
    for (u32 k = thread(); k <= units; k += kThreads)
      store_shared(image() + 4 * k, k < units ? load(from + k) : Quad{0, 0, 0, 0});
  }

  LEEWAY_DEVICE void take_planes(const BlockHead& head, u32 at, u32 (&c)[16], u32& first) {
    LEEWAY_UNROLL
    for (u32 k = 0; k < 16; ++k) c[k] = 0;
    if (head.body_bytes() == 0) return;
    if (head.outlier_bytes) {
      const u32 low = image()[at / 4], high = image()[at / 4 + 1];
      first = funnel_right(low, high, at % 4 * 8) & (head.outlier_bytes == 1 ? 0xffu : 0xffffu);
      is_odd_ |= first > 0x7fff;
      at += head.outlier_bytes;
    }
    const u32 shift = at % 4 * 8;
    const Cell<u32>* in = image() + at / 4;
    u32 held = in[0], next = in[1];
    c[15] = funnel_right(held, next, shift);
    LEEWAY_UNROLL
    for (u32 k = 0; k < 15; ++k)
      if (k < head.planes) {
        held = next;
        next = in[k + 2];
        c[k] = funnel_right(held, next, shift);
      }
  }

  LEEWAY_DEVICE void put_values(const u32 (&c)[16]) {
    i32 code = 0;
    Cell<u32>* const row = s_.rows[tile()] + lane() * kBlock;
    LEEWAY_UNROLL
    for (u32 u = 0; u < 8; ++u) {
      u32 w[4];
      LEEWAY_UNROLL
      for (u32 i = 0; i < 4; ++i) {
        const u32 j = 4 * u + i, v = j < 16 ? c[j % 16] & 0xffff : c[j % 16] >> 16, m = v & 0x7fff;
        code = v & 0x8000 ? code - i32(m) : code + i32(m);
        is_beyond_ |= code > most_ || code < -most_;
        w[i] = to_bits(mul(sub(from_bits(kRoundingBits + u32(code)), 12582912.0f), step_));
      }
      // Units are mixed, so that neither writing nor reading meets in a bank.
      store_shared(row + 4 * (u ^ unit_of_lane()), Quad{w[0], w[1], w[2], w[3]});
    }
  }

  template <bool kChecked>
  LEEWAY_DEVICE void take_values(u32 pass) {
    const u32 base = first_of_lane(pass), stripes = (size_ * 4 - 1) / kStripe;
    QuarterSums sums;
    LEEWAY_UNROLL
    for (u32 r = 0; r < kRounds; ++r) {
      const u32 block = group_of_lane() * 8 + r, i = base + 32 * r;
      const Quad v = load_shared<Quad>(s_.rows[tile()] + block * kBlock + 4 * (unit_of_lane() ^ r));
      const u32 w[4] = {v.x, v.y, v.z, v.w};
      if (!kChecked || i / 16 < stripes) sums.add(s_.hash, r, w);
      u32* const to = reinterpret_cast<u32*>(to_) + i;
      const bool is_whole = !kChecked || (is_aligned_ && i + 4 <= size_);
      if (is_whole) store_stream(reinterpret_cast<Quad*>(to), v);
      if (kChecked) {
        LEEWAY_UNROLL
        for (u32 k = 0; k < 4; ++k) {
          keep_last(s_.hash, size_, i + k, w[k]);
          if (!is_whole && i + k < size_) store(to + k, w[k]);
        }
      }
    }
    sums.share(hash_, pass);
  }

  LEEWAY_DEVICE bool has_hash(u64 decoded_hash) {
    const u32 odd = ballot(is_odd_ || is_beyond_);
    if (lane() == 0) s_.is_odd[tile()] = odd;
    barrier();
    if (tile() == 0) {
      const u64 hash = finish_fast_hash(hash_, s_.hash, size_);
      u32 any = 0;
      for (u32 k = 0; k < kTiles; ++k) any |= s_.is_odd[k];
      if (lane() == 0) s_.is_well = !any && hash == decoded_hash;
    }
    barrier();
    const u32 is_well = s_.is_well;
    barrier();
    return is_well;
  }

  DecodeFastShared& s_;
  HashShared& hash_;
  const u8* const payload_;
  const u32 bytes_, size_, blocks_;
  u8* const to_;
  const bool is_aligned_;
  u32 head_bytes_ = 0, outlier_ = 0;
  i32 most_ = 0;
  float step_ = 0;
  bool is_odd_ = false, is_beyond_ = false;
};

// With registers of its own. All threads know the answer.
LEEWAY_DEVICE_CALL bool decompress_fast(DecodeFastShared& s, HashShared& hash, const Recipe& recipe,
                                        const FrameFacts& facts, const u8* payload, u32 size,
                                        u8* to) {
  FastDecoder decoder(s, hash, payload, facts.payload_bytes, size, to);
  const bool is_done = decoder.decompress(recipe, facts.bound, facts.decoded_hash);
  barrier();
  return is_done;
}

}  // namespace leeway::gpu
