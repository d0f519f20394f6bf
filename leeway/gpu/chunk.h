// SPDX-License-Identifier: BSD-3-Clause
// Chunk: the values of one chunk in the caller's array.
#pragma once

#include "leeway/gpu/grid.h"
#include "leeway/gpu/layout.h"

namespace leeway::gpu {

// The values of a chunk in row-major order, or of a part of it.
struct Chunk {
  u64 offset;  // of the first value, in bytes
  u32 size;    // values
  u32 is_one_piece;
  u32 extents[kMostRank];
  i64 strides[kMostRank];
  u32 rank;

  // Where value i is.
  LEEWAY_DEVICE u64 at(u32 i, u32 bytes) const {
    if (is_one_piece) return offset + u64(i) * bytes;
    u64 place = offset;
    for (u32 axis = rank; axis-- > 0;) {
      const u32 extent = extents[axis], rest = i / extent;
      place += u64(i64(i - rest * extent) * strides[axis]);
      i = rest;
    }
    return place;
  }
};

// Which chunk of the grid has this number: its first index.
LEEWAY_DEVICE void first_of_chunk(const Layout& layout, u32 ordinal, u64* first) {
  for (u32 axis = layout.rank; axis-- > 0;) {
    const u32 count = layout.grid[axis];
    first[axis] = u64(ordinal % count) * layout.chunk[axis];
    ordinal /= count;
  }
}

LEEWAY_DEVICE Chunk find_chunk(const Layout& layout, u32 ordinal) {
  u64 first[kMostRank];
  first_of_chunk(layout, ordinal, first);
  Chunk chunk;
  chunk.offset = 0;
  chunk.size = 1;
  chunk.is_one_piece = 1;
  chunk.rank = layout.rank;
  for (u32 axis = layout.rank; axis-- > 0;) {
    const u64 left = layout.extents[axis] - first[axis];
    const u32 extent = left < layout.chunk[axis] ? u32(left) : layout.chunk[axis];
    chunk.extents[axis] = extent;
    chunk.strides[axis] = layout.strides[axis];
    chunk.offset += first[axis] * u64(layout.strides[axis]);
    const i64 piece = i64(chunk.size) * (layout.is_f64 ? 8 : 4);
    if (extent > 1 && layout.strides[axis] != piece) chunk.is_one_piece = 0;
    chunk.size *= extent;
  }
  return chunk;
}

// The number of the n-th chunk of a box.
LEEWAY_DEVICE u32 wanted_chunk(const Layout& layout, const Wanted& wanted, u32 n) {
  u32 ordinal = 0, step = 1;
  for (u32 axis = layout.rank; axis-- > 0;) {
    const u32 count = wanted.chunks[axis];
    ordinal += (wanted.first_chunk[axis] + n % count) * step;
    n /= count;
    step *= layout.grid[axis];
  }
  return ordinal;
}

// How many values a chunk has.
LEEWAY_DEVICE u32 size_of_chunk(const Layout& layout, u32 ordinal) {
  u32 size = 1;
  for (u32 axis = layout.rank; axis-- > 0;) {
    const u32 count = layout.grid[axis];
    const u64 left = layout.extents[axis] - u64(ordinal % count) * layout.chunk[axis];
    size *= left < layout.chunk[axis] ? u32(left) : layout.chunk[axis];
    ordinal /= count;
  }
  return size;
}

LEEWAY_DEVICE u32 varint_bytes(u64 v) {
  const u32 width = bit_width(v);
  return width == 0 ? 1 : (width + 6) / 7;
}

// Where one lane writes bytes one after the other.
struct ByteWriter {
  u8* to;
  LEEWAY_DEVICE void put(u64 v, u32 bytes) {
    for (u32 k = 0; k < bytes; ++k) store(to++, u8(v >> 8 * k));
  }
  LEEWAY_DEVICE void put_varint(u64 v) {
    for (; v >= 0x80; v >>= 7) store(to++, u8(u8(v) | 0x80));
    store(to++, u8(v));
  }
};

}  // namespace leeway::gpu
