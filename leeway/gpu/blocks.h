// SPDX-License-Identifier: BSD-3-Clause
// Blocks: the codes of a block of 32, one a lane, as encode/fixed.md writes them.
#pragma once

#include "leeway/gpu/layout.h"

namespace leeway::gpu {

constexpr u32 kOutlierBit = 0x80;

struct BlockHead {
  u32 planes = 0, outlier_bytes = 0;  // none: the block has no outlier

  LEEWAY_DEVICE u8 byte() const {
    return u8(outlier_bytes ? kOutlierBit | (outlier_bytes - 1) << 5 | planes : planes);
  }
  LEEWAY_DEVICE u32 body_bytes() const {
    return planes + outlier_bytes == 0 ? 0 : outlier_bytes + 4 * (planes + 1);
  }
  LEEWAY_DEVICE static BlockHead of(u32 byte) {
    if (byte & kOutlierBit) return {byte & 31, (byte >> 5 & 3) + 1};
    return {byte, 0};
  }
};

// A code of a block: its magnitude, its sign.
struct LaneCode {
  u64 magnitude;
  bool is_negative;
};

// `bits`: width of the codes; differences are modulo 2^bits.
LEEWAY_DEVICE LaneCode difference(i64 code, i64 before, u32 bits) {
  const u32 unused = 64 - bits;
  const i64 d = i64((u64(code) - u64(before)) << unused) >> unused;
  return {d < 0 ? u64(0) - u64(d) : u64(d), d < 0};
}

LEEWAY_DEVICE BlockHead choose_head(const LaneCode& own, bool may_be_outlier) {
  const u64 others = tile_or(lane() == 0 ? u64(0) : own.magnitude),
            first = shuffle(own.magnitude, 0);
  const BlockHead plain{bit_width(first | others), 0};
  if (!may_be_outlier) return plain;
  const u32 bytes = (bit_width(first) + 7) / 8;
  const BlockHead outlier{bit_width(others), bytes > 1 ? bytes : 1};
  const bool is_possible = outlier.outlier_bytes <= 4 && outlier.planes <= 31;
  return is_possible && outlier.body_bytes() < plain.body_bytes() ? outlier : plain;
}

// A plane as it stands in the stream: bit 7 - i % 8 of byte i / 8 is that of lane i.
LEEWAY_DEVICE u32 plane_bytes(u32 votes) { return byte_perm(reverse_bits(votes), 0, 0x0123); }
LEEWAY_DEVICE bool bit_of_plane(u32 plane) {
  return plane >> (lane() / 8 * 8 + 7 - lane() % 8) & 1;
}

// Writes the body of a block; by a whole tile.
LEEWAY_DEVICE void write_body(const LaneCode& code, const BlockHead& head, u8* to) {
  if (head.body_bytes() == 0) return;
  const u64 first = shuffle(code.magnitude, 0);
  if (lane() < head.outlier_bytes) store(to + lane(), u8(first >> 8 * lane()));
  const u64 magnitude = head.outlier_bytes && lane() == 0 ? 0 : code.magnitude;
  to += head.outlier_bytes;
  const auto put = [&](u32 number, u32 plane) {
    if (lane() < 4) store(to + 4 * number + lane(), u8(plane >> 8 * lane()));
  };
  put(0, plane_bytes(ballot(code.is_negative)));
  for (u32 k = 0; k < head.planes; ++k) put(k + 1, plane_bytes(ballot(magnitude >> k & 1)));
}

// The code of this lane; by a whole tile. `from` is where the body begins.
LEEWAY_DEVICE i64 read_body(const BlockHead& head, const u8* from) {
  if (head.body_bytes() == 0) return 0;
  u64 magnitude = 0;
  if (lane() == 0)
    for (u32 k = 0; k < head.outlier_bytes; ++k) magnitude |= u64(load(from + k)) << 8 * k;
  from += head.outlier_bytes;
  // The byte of a plane that has this lane's bit.
  const auto bit = [&](u32 number) {
    return u64(load(from + 4 * number + lane() / 8) >> (7 - lane() % 8) & 1);
  };
  const bool is_negative = bit(0);
  for (u32 k = 0; k < head.planes; ++k) magnitude |= bit(k + 1) << k;
  return i64(is_negative ? u64(0) - magnitude : magnitude);
}

}  // namespace leeway::gpu
