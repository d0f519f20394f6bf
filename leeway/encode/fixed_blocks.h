// SPDX-License-Identifier: BSD-3-Clause
// Fixed blocks: the heads of blocks (fixed.md), and the vector code for blocks of 32 and 64 codes
// of at most 32 bits.
#pragma once

#include <bit>

#include "leeway/base/bytes.h"
#include "leeway/encode/fixed.h"

namespace leeway::fixed_kernels {

inline constexpr size_t kFixedGroup = 32;  // codes handled at once: 4 bytes of a plane
inline constexpr u8 kFixedOutlier = 0x80;

struct FixedHead {
  size_t planes, outlier_bytes;  // no bytes: the block has no outlier

  u8 byte() const {
    return outlier_bytes ? u8(kFixedOutlier | (outlier_bytes - 1) << 5 | planes) : u8(planes);
  }
  static FixedHead of(u8 byte) {
    if (byte & kFixedOutlier) return {size_t(byte & 31), size_t(byte >> 5 & 3) + 1};
    return {byte, 0};
  }
  size_t body_bytes(size_t plane_bytes) const {
    if (outlier_bytes == 0 && planes == 0) return 0;
    return outlier_bytes + (1 + planes) * plane_bytes;
  }
};

// Chooses the smaller form of a block from its first magnitude and the "or" of the others.
[[gnu::always_inline]] inline FixedHead choose_fixed(bool may_be_outlier, size_t plane, u64 first,
                                                     u64 others) {
  const FixedHead plain{size_t(std::bit_width(first | others)), 0};
  if (!may_be_outlier) return plain;
  const FixedHead outlier{size_t(std::bit_width(others)),
                          std::max<size_t>(1, size_t(std::bit_width(first) + 7) / 8)};
  const bool possible = outlier.outlier_bytes <= 4 && outlier.planes <= 31;
  return possible && outlier.body_bytes(plane) < plain.body_bytes(plane) ? outlier : plain;
}

// Encodes whole blocks, with `params.head` bytes each at `heads`; returns the size of the bodies.
size_t encode_blocks(const Fixed::Params& params, const i16* codes, size_t count, u8* heads,
                     u8* bodies);
size_t encode_blocks(const Fixed::Params& params, const i32* codes, size_t count, u8* heads,
                     u8* bodies);
// Decodes them. Heads and the size of the bodies were checked; `bodies` may go on after those of
// the blocks: all of it may be read.
void decode_blocks(const Fixed::Params& params, const u8* heads, ByteView bodies, i16* codes,
                   size_t count);
void decode_blocks(const Fixed::Params& params, const u8* heads, ByteView bodies, i32* codes,
                   size_t count);

}  // namespace leeway::fixed_kernels
