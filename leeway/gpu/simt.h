// SPDX-License-Identifier: BSD-3-Clause
// SIMT: everything that a kernel may use of a GPU, for CUDA, for HIP, and for the emulator.
//
// Rules for kernels: no name of CUDA or HIP outside of this file and its three bodies; a tile is 32
// lanes, whatever the hardware has; a tile operation is reached by all lanes of a tile or by none,
// a barrier by all threads of the CTA or by none; memory that threads share is declared in Cells,
// or passed through load() and store(); floating-point arithmetic is done by the functions below,
// which never become a fused multiply-add. C++17.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leeway::gpu {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

constexpr u32 kTile = 32, kThreads = 256, kTiles = kThreads / kTile;

struct alignas(16) Quad {
  u32 x, y, z, w;
};

}  // namespace leeway::gpu

#if defined(__CUDACC__)
#include "leeway/gpu/simt_cuda.h"
#elif defined(LEEWAY_GPU_HIP)
#include "leeway/gpu/simt_hip.h"
#else
#include "leeway/gpu/simt_emulator.h"
#endif

namespace leeway::gpu {

LEEWAY_DEVICE u32 lane() { return thread() % kTile; }
LEEWAY_DEVICE u32 tile() { return thread() / kTile; }

LEEWAY_DEVICE u64 shuffle_xor(u64 v, u32 mask) {
  return u64(shuffle_xor(u32(v >> 32), mask)) << 32 | shuffle_xor(u32(v), mask);
}
LEEWAY_DEVICE u64 shuffle_up(u64 v, u32 delta) {
  return u64(shuffle_up(u32(v >> 32), delta)) << 32 | shuffle_up(u32(v), delta);
}
LEEWAY_DEVICE u64 shuffle(u64 v, u32 from) {
  return u64(shuffle(u32(v >> 32), from)) << 32 | shuffle(u32(v), from);
}
// Values of a type and their bits.
LEEWAY_DEVICE u64 tile_sum(u64 v) {
  for (u32 d = 16; d > 0; d >>= 1) v += shuffle_xor(v, d);
  return v;
}
LEEWAY_DEVICE u32 tile_or(u32 v) {
  for (u32 d = 16; d > 0; d >>= 1) v |= shuffle_xor(v, d);
  return v;
}
LEEWAY_DEVICE u64 tile_or(u64 v) {
  for (u32 d = 16; d > 0; d >>= 1) v |= shuffle_xor(v, d);
  return v;
}
// The largest number of the tile.
LEEWAY_DEVICE u64 tile_max(u64 v) {
  for (u32 d = 16; d > 0; d >>= 1) {
    const u64 other = shuffle_xor(v, d);
    v = other > v ? other : v;
  }
  return v;
}
// The sum of this lane and those before it.
LEEWAY_DEVICE u32 tile_scan(u32 v) {
  for (u32 d = 1; d < kTile; d <<= 1) {
    const u32 before = shuffle_up(v, d);
    if (lane() >= d) v += before;
  }
  return v;
}
LEEWAY_DEVICE u64 tile_scan(u64 v) {
  for (u32 d = 1; d < kTile; d <<= 1) {
    const u64 before = shuffle_up(v, d);
    if (lane() >= d) v += before;
  }
  return v;
}

}  // namespace leeway::gpu
