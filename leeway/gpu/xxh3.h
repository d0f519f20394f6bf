// SPDX-License-Identifier: BSD-3-Clause
// XXH3: the 64-bit hash XXH3 with seed 0, by all threads of a CTA [Collet, xxHash].
//
// Inputs of more than 240 bytes are stripes of 64 bytes, 16 of them a block. The sums of a block do
// not depend on each other; tiles compute them, then eight lanes chain the blocks, a few operations
// each. Inputs that are shorter are for one thread.
#pragma once

#include "leeway/gpu/simt.h"

namespace leeway::gpu {

constexpr u64 kPrime32_1 = 0x9E3779B1u, kPrime32_2 = 0x85EBCA77u, kPrime32_3 = 0xC2B2AE3Du;
constexpr u64 kPrime64_1 = 0x9E3779B185EBCA87u, kPrime64_2 = 0xC2B2AE3D27D4EB4Fu,
              kPrime64_3 = 0x165667B19E3779F9u, kPrime64_4 = 0x85EBCA77C2B2AE63u,
              kPrime64_5 = 0x27D4EB2F165667C5u;
constexpr u32 kStripe = 64, kHashBlock = 1024, kHashRows = 128, kShortHash = 240;

LEEWAY_TABLE u64 kHashSecret[24] = {
    0xbe4ba423396cfeb8, 0x1cad21f72c81017c, 0xdb979083e96dd4de, 0x1f67b3b7a4a44072,
    0x78e5c0cc4ee679cb, 0x2172ffcc7dd05a82, 0x8e2443f7744608b8, 0x4c263a81e69035e0,
    0xcb00c391bb52283c, 0xa32e531b8b65d088, 0x4ef90da297486471, 0xd8acdea946ef1938,
    0x3f349ce33f76faa8, 0x1d4f0bc7c7bbdcf9, 0x3159b4cd4be0518a, 0x647378d9c97e9fc8,
    0xc3ebd33483acc5ea, 0xeb6313faffa081c5, 0x49daf0b751dd0d17, 0x9e68d429265516d3,
    0xfca1477d58be162b, 0xce31d07ad1b8f88f, 0x280416958f3acb45, 0x7e404bbbcafbd7af,
};

// Eight bytes of the secret from any place on.
LEEWAY_DEVICE u64 secret(u32 at) {
  const u32 shift = at % 8 * 8;
  const u64 low = kHashSecret[at / 8];
  return shift ? low >> shift | kHashSecret[at / 8 + 1] << (64 - shift) : low;
}

struct HashShared {
  Cell<u64> sums[kHashRows][8];
  Cell<u64> words[kShortHash / 8];
  Cell<u64> result;
};

namespace xxh3 {

LEEWAY_DEVICE u64 fold(u64 a, u64 b) { return (a * b) ^ mul_high(a, b); }
LEEWAY_DEVICE u64 avalanche(u64 h) {
  h ^= h >> 37;
  h *= 0x165667919E3779F9u;
  return h ^ h >> 32;
}
LEEWAY_DEVICE u64 rotate_left(u64 v, u32 n) { return v << n | v >> (64 - n); }
LEEWAY_DEVICE u64 swap_bytes(u64 v) {
  const u32 low = byte_perm(u32(v), 0, 0x0123), high = byte_perm(u32(v >> 32), 0, 0x0123);
  return u64(low) << 32 | high;
}

// Eight bytes from any place of the words on; what is behind the last word is not read.
template <class Word>
LEEWAY_DEVICE u64 bytes_at(const Word* words, u32 at) {
  const u32 shift = at % 8 * 8;
  const u64 low = words[at / 8];
  return shift ? low >> shift | u64(words[at / 8 + 1]) << (64 - shift) : low;
}
template <class Word>
LEEWAY_DEVICE u32 four_bytes_at(const Word* words, u32 at) {
  const u32 shift = at % 8 * 8;
  const u64 low = u64(words[at / 8]) >> shift;
  return shift > 32 ? u32(low | u64(words[at / 8 + 1]) << (64 - shift)) : u32(low);
}
template <class Word>
LEEWAY_DEVICE u64 mix(const Word* words, u32 at, u32 key) {
  return fold(bytes_at(words, at) ^ secret(key), bytes_at(words, at + 8) ^ secret(key + 8));
}

// Of 4 to 240 bytes, or none; words are Cells or a thread's own.
template <class Word>
LEEWAY_DEVICE_CALL u64 short_hash(const Word* words, u32 bytes) {
  if (bytes == 0) {
    u64 h = secret(56) ^ secret(64);
    h = (h ^ h >> 33) * kPrime64_2;
    h = (h ^ h >> 29) * kPrime64_3;
    return h ^ h >> 32;
  }
  if (bytes <= 8) {
    const u64 both = four_bytes_at(words, bytes - 4) + (u64(four_bytes_at(words, 0)) << 32);
    u64 h = both ^ (secret(8) ^ secret(16));
    h ^= rotate_left(h, 49) ^ rotate_left(h, 24);
    h *= 0x9FB21C651E98DF25u;
    h ^= (h >> 35) + bytes;
    h *= 0x9FB21C651E98DF25u;
    return h ^ h >> 28;
  }
  if (bytes <= 16) {
    const u64 low = bytes_at(words, 0) ^ (secret(24) ^ secret(32)),
              high = bytes_at(words, bytes - 8) ^ (secret(40) ^ secret(48));
    return avalanche(bytes + swap_bytes(low) + high + fold(low, high));
  }
  u64 sum = bytes * kPrime64_1;
  if (bytes <= 128) {
    for (u32 k = (bytes - 1) / 32 + 1; k-- > 0;)
      sum += mix(words, 16 * k, 32 * k) + mix(words, bytes - 16 * (k + 1), 32 * k + 16);
    return avalanche(sum);
  }
  for (u32 k = 0; k < 8; ++k) sum += mix(words, 16 * k, 16 * k);
  sum = avalanche(sum);
  for (u32 k = 8; k < bytes / 16; ++k) sum += mix(words, 16 * k, 16 * (k - 8) + 3);
  return avalanche(sum + mix(words, bytes - 16, 136 - 17));
}

LEEWAY_DEVICE u64 first_sum(u32 j) {
  switch (j) {
    case 0:
      return kPrime32_3;
    case 1:
      return kPrime64_1;
    case 2:
      return kPrime64_2;
    case 3:
      return kPrime64_3;
    case 4:
      return kPrime64_4;
    case 5:
      return kPrime32_2;
    case 6:
      return kPrime64_5;
    default:
      return kPrime32_1;
  }
}

// Eight lanes, or groups of eight, each with the sum j = lane % 8.
LEEWAY_DEVICE u64 scramble(u64 sum, u32 j) {
  return (sum ^ sum >> 47 ^ secret(128 + 8 * j)) * kPrime32_1;
}
LEEWAY_DEVICE u64 keyed_product(u64 word, u64 key) {
  const u64 keyed = word ^ key;
  return u64(u32(keyed)) * (keyed >> 32);
}
// `last` is word j of the last 64 bytes. All lanes of the tile take part.
LEEWAY_DEVICE u64 finish(u64 sum, u64 last, u64 bytes, u32 j) {
  sum += keyed_product(last, secret(121 + 8 * j)) + shuffle_xor(last, 1);
  const u64 mine = sum ^ secret(11 + 8 * j), other = shuffle_xor(mine, 1);
  u64 all = fold(mine, other);
  all += shuffle_xor(all, 2);
  all += shuffle_xor(all, 4);
  return avalanche(bytes * kPrime64_1 + all);
}

}  // namespace xxh3

// The hash of so many bytes, at least 4 or none, by the whole CTA. word(w) gives bytes 8 w to
// 8 w + 7 (what is behind the end does not matter); last(j) gives eight bytes from
// bytes - 64 + 8 j on. Ends with a barrier.
template <class Word, class Last>
LEEWAY_DEVICE u64 hash_by_cta(HashShared& s, u64 bytes, const Word& word, const Last& last) {
  if (bytes <= kShortHash) {
    if (thread() < (bytes + 7) / 8) s.words[thread()] = word(u64(thread()));
    barrier();
    if (thread() == 0) s.result = xxh3::short_hash(s.words, u32(bytes));
    barrier();
    const u64 result = s.result;
    barrier();
    return result;
  }
  const u32 j = lane() % 8;
  const u64 blocks = (bytes - 1) / kHashBlock;
  const u32 rest = u32((bytes - 1) % kHashBlock / kStripe);  // whole stripes of the last block
  u64 sum = xxh3::first_sum(j);
  for (u64 base = 0; base <= blocks; base += kHashRows) {
    for (u32 row = tile(); row < kHashRows && base + row <= blocks; row += kTiles) {
      const u32 stripes = base + row < blocks ? kHashBlock / kStripe : rest;
      u64 product = 0, words = 0;
      for (u32 stripe = lane() / 8; stripe < stripes; stripe += 4) {
        const u64 value = word((base + row) * (kHashBlock / 8) + stripe * 8 + j);
        product += xxh3::keyed_product(value, secret(8 * stripe + 8 * j));
        words += value;
      }
      product += shuffle_xor(words, 1);
      product += shuffle_xor(product, 8);
      product += shuffle_xor(product, 16);
      if (lane() < 8) s.sums[row][j] = product;
    }
    barrier();
    if (tile() == 0)
      for (u32 row = 0; row < kHashRows && base + row <= blocks; ++row) {
        sum += s.sums[row][j];
        if (base + row < blocks) sum = xxh3::scramble(sum, j);
      }
    barrier();
  }
  if (tile() == 0) {
    const u64 hash = xxh3::finish(sum, last(j), bytes, j);
    if (lane() == 0) s.result = hash;
  }
  barrier();
  const u64 result = s.result;
  barrier();
  return result;
}

// Of bytes in global memory that begin at a multiple of 8 and may be read up to one.
LEEWAY_DEVICE u64 hash_of_memory(HashShared& s, const u8* from, u64 bytes) {
  const u64* const words = reinterpret_cast<const u64*>(from);
  return hash_by_cta(
      s, bytes, [&](u64 w) { return load(words + w); },
      [&](u32 j) {
        const u64 at = bytes - kStripe + 8 * j;
        const u32 shift = u32(at % 8) * 8;
        const u64 low = load(words + at / 8);
        return shift ? low >> shift | load(words + at / 8 + 1) << (64 - shift) : low;
      });
}

}  // namespace leeway::gpu
