// SPDX-License-Identifier: BSD-3-Clause
// Patch list: values kept bit for bit, as runs with a palette (stage/patches.md), by one tile.
//
// The runs come one after the other; each step is for all lanes of the tile.
#pragma once

#include "leeway/gpu/chunk.h"

namespace leeway::gpu {

constexpr u32 kMostPalette = 16, kMostOnce = 64;

// What a lane knows of its value.
template <class T>
struct Patch {
  bool is_kept;
  Bits<T> bits;
};

// Calls f(first, count, bits) for every run of kept values, in order. patch(block) gives the Patch
// of this lane's value in a block.
template <class T, class PatchOf, class F>
LEEWAY_DEVICE void for_each_run(u32 blocks, const PatchOf& patch, const F& f) {
  u32 first = 0, count = 0;  // the run that may go on
  u64 bits = 0;
  for (u32 block = 0; block < blocks; ++block) {
    const Patch<T> own = patch(block);
    const u64 value = u64(own.bits);
    const u32 kept = ballot(own.is_kept);
    const u64 before = shuffle_up(value, 1);
    // Whether the value goes on with the run of the value before it.
    const bool has_before = lane() == 0 ? count > 0 : (kept >> (lane() - 1) & 1) != 0;
    const bool goes_on = own.is_kept && has_before && value == (lane() == 0 ? bits : before);
    const u32 starts = kept & ~ballot(goes_on);
    for (u32 at = 0; at < kBlock;) {
      const u32 rest = kept >> at;
      if (!(rest & 1)) {  // no value is kept here
        if (count > 0) f(first, count, bits);
        count = 0;
        at += rest ? bit_width(rest & (0u - rest)) - 1 : kBlock - at;
        continue;
      }
      if (starts >> at & 1) {
        if (count > 0) f(first, count, bits);
        first = block * kBlock + at;
        count = 0;
        bits = shuffle(value, at);
      }
      // Up to the next value that is not kept or starts another run.
      const u32 next = at + 1;
      const u32 stops = next < kBlock ? (~kept | starts) >> next : 0;
      const u32 end = stops ? next + bit_width(stops & (0u - stops)) - 1 : kBlock;
      count += end - at;
      at = end;
    }
  }
  if (count > 0) f(first, count, bits);
}

// The palette of a list: lane k holds entry k.
template <class T>
struct Palette {
  u64 entry = 0;
  u32 count = 0;

  // Which entry it is; `count` if none.
  LEEWAY_DEVICE u32 find(u64 bits) const {
    const u32 found = ballot(lane() < count && entry == bits);
    return found ? bit_width(found & (0u - found)) - 1 : count;
  }
};

// The first values that begin more than one run.
template <class T, class PatchOf>
LEEWAY_DEVICE_CALL Palette<T> choose_palette(u32 blocks, const PatchOf& patch) {
  Palette<T> palette;
  u64 once[2] = {0, 0};
  u32 count = 0;
  for_each_run<T>(blocks, patch, [&](u32, u32, u64 bits) {
    if (palette.count == kMostPalette || palette.find(bits) < palette.count) return;
    const u32 low = ballot(lane() < count && once[0] == bits),
              high = ballot(lane() + kTile < count && once[1] == bits);
    if (low | high) {
      if (lane() == palette.count) palette.entry = bits;
      ++palette.count;
    } else if (count < kMostOnce) {
      if (lane() == count % kTile) once[count / kTile] = bits;
      ++count;
    }
  });
  return palette;
}

struct ListSize {
  u32 runs = 0, bytes = 0;
};

template <class T, class PatchOf>
LEEWAY_DEVICE_CALL ListSize measure_list(u32 blocks, const PatchOf& patch,
                                         const Palette<T>& palette) {
  ListSize size;
  u32 end = 0;
  for_each_run<T>(blocks, patch, [&](u32 first, u32 count, u64 bits) {
    const bool is_new = palette.find(bits) == palette.count;
    size.bytes += varint_bytes(first - end) + varint_bytes(count - 1) + 1;
    if (is_new) size.bytes += u32(sizeof(T));
    end = first + count;
    ++size.runs;
  });
  size.bytes += varint_bytes(size.runs) + 1 + palette.count * u32(sizeof(T));
  return size;
}

template <class T, class PatchOf>
LEEWAY_DEVICE_CALL void write_list(u32 blocks, const PatchOf& patch, const Palette<T>& palette,
                                   u32 runs, u8* to) {
  ByteWriter out{to};
  const bool writes = lane() == 0;
  if (writes) {
    out.put_varint(runs);
    out.put(palette.count, 1);
  }
  for (u32 k = 0; k < palette.count; ++k) {
    const u64 bits = shuffle(palette.entry, k);
    if (writes) out.put(bits, sizeof(T));
  }
  u32 end = 0;
  for_each_run<T>(blocks, patch, [&](u32 first, u32 count, u64 bits) {
    const u32 entry = palette.find(bits);
    if (writes) {
      out.put_varint(first - end);
      out.put_varint(count - 1);
      out.put(entry, 1);
      if (entry == palette.count) out.put(bits, sizeof(T));
    }
    end = first + count;
  });
}

}  // namespace leeway::gpu
