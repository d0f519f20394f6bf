// SPDX-License-Identifier: BSD-3-Clause
// Fast hash: the checksum of decoded values while they stand in registers.
//
// Both fast paths hold a pass of 8192 values in the same way: tile t has 1024 of them, and in round
// r lane 8 g + k has the 16 bytes 4 k ... 4 k + 3 of block 8 g + r, a quarter of a stripe.
#pragma once

#include "leeway/gpu/layout.h"
#include "leeway/gpu/xxh3.h"

namespace leeway::gpu {

constexpr u32 kPassValues = 8192, kRounds = 8, kFewestFast = 8192;
constexpr u32 kRoundingBits = 0x4B400000u;  // of 1.5 * 2^23

struct FastHashShared {
  alignas(16) Cell<u32> keys[24][4];
  Cell<u64> last[8];  // the last 16 values
};

LEEWAY_DEVICE u32 group_of_lane() { return lane() / 8; }
LEEWAY_DEVICE u32 unit_of_lane() { return lane() % 8; }
// The number of this lane's first value in a pass.
LEEWAY_DEVICE u32 first_of_lane(u32 pass) {
  return pass * kPassValues + tile() * 1024 + group_of_lane() * 256 + unit_of_lane() * 4;
}

LEEWAY_DEVICE void prepare_keys(FastHashShared& s) {
  if (thread() >= 22) return;
  const u64 a = secret(8 * thread()), b = secret(8 * thread() + 8);
  store_shared(s.keys[thread()], Quad{u32(a), u32(a >> 32), u32(b), u32(b >> 32)});
}

// The sums of a lane over a pass.
struct QuarterSums {
  u64 even = 0, odd = 0;

  LEEWAY_DEVICE void add(const FastHashShared& s, u32 round, const u32 (&w)[4]) {
    const u32 unit = unit_of_lane();
    const Quad key = load_shared<Quad>(s.keys[unit / 4 + 2 * (unit % 4) + 2 * round]);
    even += u64(w[0] ^ key.x) * (w[1] ^ key.y) + (u64(w[3]) << 32 | w[2]);
    odd += u64(w[2] ^ key.z) * (w[3] ^ key.w) + (u64(w[1]) << 32 | w[0]);
  }
  // By all lanes of a tile.
  LEEWAY_DEVICE void share(HashShared& s, u32 pass) {
    even += shuffle_xor(even, 4);
    odd += shuffle_xor(odd, 4);
    const u32 unit = unit_of_lane();
    if (unit >= 4) return;
    Cell<u64>* const sums = s.sums[pass * 32 + tile() * 4 + group_of_lane()];
    sums[2 * unit] = even;
    sums[2 * unit + 1] = odd;
  }
};

// Keeps value i if it is one of the last 16 of a chunk.
LEEWAY_DEVICE void keep_last(FastHashShared& s, u32 size, u32 i, u32 bits) {
  if (i < size && i + 16 >= size)
    store_shared(reinterpret_cast<Cell<u32>*>(s.last) + (i + 16 - size), bits);
}

// The hash of so many values, when all sums are there; by one tile.
LEEWAY_DEVICE u64 finish_fast_hash(const HashShared& s, const FastHashShared& fast, u32 size) {
  const u32 j = lane() % 8, bytes = size * 4, blocks = (bytes - 1) / kHashBlock;
  u64 sum = xxh3::first_sum(j);
  for (u32 row = 0; row < blocks; ++row) sum = xxh3::scramble(sum + s.sums[row][j], j);
  return xxh3::finish(sum + s.sums[blocks][j], fast.last[j], bytes, j);
}

}  // namespace leeway::gpu
