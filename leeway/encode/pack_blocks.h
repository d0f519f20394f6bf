// SPDX-License-Identifier: BSD-3-Clause
// Pack blocks: the vector code for blocks of 256 codes (pack.md).
#pragma once

#include "leeway/base/types.h"

namespace leeway::pack_kernels {

inline constexpr size_t kPackBlock = 256, kPackLanes = 16, kPackRows = kPackBlock / kPackLanes;
inline constexpr u8 kPackPatched = 0x40, kPackWide = 0x80;

constexpr size_t rows_of(size_t n) { return (n + kPackLanes - 1) / kPackLanes; }
// The size of rows at a width of at most 16 bits.
constexpr size_t part_bytes(size_t rows, size_t width) {
  return (rows * width + 15) / 16 * kPackLanes * sizeof(u16);
}
// The size of rows at any width. Above 16 bits, all low halves come first.
constexpr size_t pack_bytes(size_t rows, size_t width) {
  return width <= 16 ? part_bytes(rows, width)
                     : part_bytes(rows, 16) + part_bytes(rows, width - 16);
}

// Appends the blocks of n codes at `to`; returns their end. A block takes at most one byte more
// than its codes.
u8* encode_blocks(const i16* codes, size_t n, u8* to);
u8* encode_blocks(const i32* codes, size_t n, u8* to);
u8* encode_blocks(const i64* codes, size_t n, u8* to);
// Unpacks rows of width k to codes, without their patches.
void unpack(const u8* from, size_t rows, size_t k, u16* codes);
void unpack(const u8* from, size_t rows, size_t k, u32* codes);

}  // namespace leeway::pack_kernels
