// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/fixed_blocks.h"

#include <algorithm>
#include <array>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/encode/fixed_blocks.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::fixed_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// Writes the bits of 32 bytes as eight bit planes of four bytes each, `step` bytes apart. The bit
// of byte 0 is the high bit of a plane's first byte. With `without_first`, byte 0 counts as 0.
void put_planes(const u8* bytes, bool without_first, size_t step, u8* to) {
  for (size_t plane = 0; plane < 8; ++plane, to += step)
    for (size_t byte = 0; byte < 4; ++byte) {
      u32 bits = 0;
      for (size_t i = 8 * byte; i < 8 * byte + 8; ++i)
        bits = bits << 1 | (without_first && i == 0 ? 0 : bytes[i] >> plane & 1);
      to[byte] = u8(bits);
    }
}
// Reads the bytes of `count` planes, at most eight; `all`: eight planes may be read.
void get_planes(const u8* from, size_t count, bool, size_t step, u8* bytes) {
  for (size_t i = 0; i < kFixedGroup; ++i) bytes[i] = 0;
  for (size_t plane = 0; plane < count; ++plane, from += step)
    for (size_t i = 0; i < kFixedGroup; ++i)
      bytes[i] = u8(bytes[i] | (from[i / 8] >> (7 - i % 8) & 1) << plane);
}
// Writes the highest bits of 32 bytes as a plane.
void put_signs(const u8* bytes, u8* to) {
  for (size_t byte = 0; byte < 4; ++byte) {
    u32 bits = 0;
    for (size_t i = 8 * byte; i < 8 * byte + 8; ++i) bits = bits << 1 | bytes[i] >> 7;
    to[byte] = u8(bits);
  }
}
// 0 or -1 for every code.
void get_signs(const u8* from, i8* signs) {
  for (size_t i = 0; i < kFixedGroup; ++i) signs[i] = i8(-(from[i / 8] >> (7 - i % 8) & 1));
}

#else

using ByteLanes = hn::CappedTag<u8, kFixedGroup>;
using ByteVec = hn::Vec<ByteLanes>;
alignas(32) constexpr u8 kFirstByte[kFixedGroup] = {0xff}, kNoByte[kFixedGroup] = {};

// Writes the highest bit of every lane as a plane. The mask of a vector has lane 0 in its low bit,
// a plane has it in the high bit of a byte: so lanes must come with every eight reversed.
HWY_INLINE void put_high_bits(ByteVec v, u8* to) {
  const hn::RebindToSigned<ByteLanes> di;
  u8 bits[8];
  hn::StoreMaskBits(di, hn::Lt(hn::BitCast(di, v), hn::Zero(di)), bits);
  std::memcpy(to, bits, hn::Lanes(di) / 8);
}
HWY_INLINE ByteVec reversed_by_eight(ByteVec v) {
  alignas(16) static constexpr u8 kOrder[16] = {7,  6,  5,  4,  3,  2,  1, 0,
                                                15, 14, 13, 12, 11, 10, 9, 8};
  return hn::TableLookupBytes(v, hn::LoadDup128(ByteLanes(), kOrder));
}

HWY_INLINE void put_planes(const u8* HWY_RESTRICT bytes, bool without_first, size_t step,
                           u8* HWY_RESTRICT to) {
  const ByteLanes d;
  for (size_t lane = 0; lane < kFixedGroup; lane += hn::Lanes(d)) {
    auto v = hn::LoadU(d, bytes + lane);
    if (lane == 0) v = hn::AndNot(hn::LoadU(d, without_first ? kFirstByte : kNoByte), v);
    v = reversed_by_eight(v);
    for (size_t plane = 8; plane-- > 0; v = hn::Add(v, v))
      put_high_bits(v, to + plane * step + lane / 8);
  }
}
HWY_INLINE void put_signs(const u8* HWY_RESTRICT bytes, u8* HWY_RESTRICT to) {
  const ByteLanes d;
  for (size_t lane = 0; lane < kFixedGroup; lane += hn::Lanes(d))
    put_high_bits(reversed_by_eight(hn::LoadU(d, bytes + lane)), to + lane / 8);
}

// Returns -1 in the lanes, counted from `lane`, whose bit of the plane is set; every eight
// reversed.
HWY_INLINE ByteVec spread_plane(const u8* plane, size_t lane) {
  const ByteLanes d;
  return hn::VecFromMask(d, hn::LoadMaskBits(d, plane + lane / 8));
}
HWY_INLINE void get_planes(const u8* HWY_RESTRICT from, size_t count, bool all, size_t step,
                           u8* HWY_RESTRICT bytes) {
  const ByteLanes d;
  for (size_t lane = 0; lane < kFixedGroup; lane += hn::Lanes(d)) {
    auto v = hn::Zero(d);
    const auto add = [&](size_t plane) HWY_ATTR {
      v = hn::Sub(hn::Add(v, v), spread_plane(from + plane * step, lane));
    };
    if (all)  // a loop of constant length
      for (size_t plane = 8; plane-- > 0;) add(plane);
    else
      for (size_t plane = count; plane-- > 0;) add(plane);
    v = hn::And(v, hn::Set(d, u8((1u << count) - 1)));
    hn::StoreU(reversed_by_eight(v), d, bytes + lane);
  }
}
// 0 or -1 for every code.
HWY_INLINE void get_signs(const u8* from, i8* signs) {
  const ByteLanes d;
  for (size_t lane = 0; lane < kFixedGroup; lane += hn::Lanes(d))
    hn::StoreU(reversed_by_eight(spread_plane(from, lane)), d, reinterpret_cast<u8*>(signs) + lane);
}

#endif

// Many blocks, split into bytes of equal weight. All blocks are split before any is packed: the
// loops stay simple, and nothing is read right after it has been written.
struct Pieces {
  alignas(64) u8 bytes[4][kMostCodes];  // bytes of the magnitudes, the lowest first
  alignas(64) u8 signs[kMostCodes];     // the highest bytes of the codes
  u32 firsts[kMostCodes / kFixedGroup], others[kMostCodes / kFixedGroup];  // for each block
};

template <class I, class U = std::make_unsigned_t<I>>
HWY_INLINE U magnitude_of(I code) {
  const auto sign = U(code >> (8 * sizeof(I) - 1));
  return U((U(code) ^ sign) - sign);
}

template <size_t block, class I>
HWY_INLINE void split(const I* HWY_RESTRICT codes, size_t count, Pieces& pieces) {
  using U = std::make_unsigned_t<I>;
  alignas(64) static constexpr std::array<U, block> kNotFirst = [] {
    std::array<U, block> mask;
    mask.fill(U(~U(0)));
    mask[0] = 0;
    return mask;
  }();
  U all = 0;
  for (size_t first = 0; first < count; first += block) {
    U some = 0;
    for (size_t i = 0; i < block; ++i) {
      const I code = codes[first + i];
      const U magnitude = magnitude_of(code);
      some = U(some | (magnitude & kNotFirst[i]));
      pieces.signs[first + i] = u8(U(code) >> (8 * sizeof(I) - 8));
      pieces.bytes[0][first + i] = u8(magnitude);
      pieces.bytes[1][first + i] = u8(magnitude >> 8);
    }
    pieces.firsts[first / block] = magnitude_of(codes[first]);
    pieces.others[first / block] = some;
    all = U(all | pieces.firsts[first / block] | some);
  }
  if constexpr (sizeof(I) > 2)
    for (size_t i = 0; all > 0xffff && i < count; ++i) {
      const U magnitude = magnitude_of(codes[i]);
      pieces.bytes[2][i] = u8(magnitude >> 16);
      pieces.bytes[3][i] = u8(magnitude >> 24);
    }
}

// Encodes whole blocks of one or two groups, at most kMostCodes codes; returns their end.
template <size_t block, class I>
HWY_INLINE u8* encode_piece(const Fixed::Params& params, const I* HWY_RESTRICT codes, size_t count,
                            u8* HWY_RESTRICT heads, u8* HWY_RESTRICT to) {
  constexpr size_t plane = block / 8;
  const bool may_be_outlier = params.outlier != 0;
  Pieces pieces;
  split<block>(codes, count, pieces);
  for (size_t first = 0; first < count; first += block, heads += params.head) {
    const u32 magnitude = pieces.firsts[first / block];
    const FixedHead head =
        choose_fixed(may_be_outlier, plane, magnitude, pieces.others[first / block]);
    heads[0] = head.byte();
    for (i32 k = 1; k < params.head; ++k) heads[k] = 0;
    if (head.body_bytes(plane) == 0) continue;
    std::memcpy(to, &magnitude, 4);  // bytes beyond the outlier are overwritten
    to += head.outlier_bytes;
    for (size_t i = 0; i < block; i += kFixedGroup) {
      const bool without_first = i == 0 && head.outlier_bytes > 0;
      u8* const group = to + i / 8;
      put_signs(pieces.signs + first + i, group);
      // Planes beyond the last are overwritten.
      put_planes(pieces.bytes[0] + first + i, without_first, plane, group + plane);
      for (size_t low = 8; low < head.planes; low += 8)
        put_planes(pieces.bytes[low / 8] + first + i, without_first, plane,
                   group + (1 + low) * plane);
    }
    to += (1 + head.planes) * plane;
  }
  return to;
}
template <size_t block, class I>
HWY_INLINE size_t encode_blocks_of(const Fixed::Params& params, const I* codes, size_t count,
                                   u8* heads, u8* bodies) {
  u8* to = bodies;
  for (size_t first = 0; first < count; first += kMostCodes)
    to = encode_piece<block>(params, codes + first, std::min(kMostCodes, count - first),
                             heads + first / block * size_t(params.head), to);
  return size_t(to - bodies);
}

// Decodes whole blocks; heads and the size of the bodies were checked. Reads nothing at `end`.
template <size_t block, class I>
HWY_INLINE void decode_blocks_of(const Fixed::Params& params, const u8* HWY_RESTRICT heads,
                                 const u8* HWY_RESTRICT bodies, const u8* end,
                                 I* HWY_RESTRICT codes, size_t count) {
  using U = std::make_unsigned_t<I>;
  constexpr size_t plane = block / 8;
  for (size_t first = 0; first < count; first += block, heads += params.head) {
    const FixedHead head = FixedHead::of(heads[0]);
    if (head.body_bytes(plane) == 0) {
      std::memset(codes + first, 0, block * sizeof(I));
      continue;
    }
    u32 outlier;  // a plane of signs follows: four bytes can be read
    std::memcpy(&outlier, bodies, 4);
    outlier &= u32((u64(1) << 8 * head.outlier_bytes) - 1);
    bodies += head.outlier_bytes;
    for (size_t i = 0; i < block; i += kFixedGroup) {
      alignas(32) u8 bytes[kFixedGroup];
      alignas(32) i8 signs[kFixedGroup];
      I* const to = codes + first + i;
      const u8* const planes = bodies + plane + i / 8;
      const auto get = [&](size_t low) HWY_ATTR {
        get_planes(planes + low * plane, std::min<size_t>(8, head.planes - low),
                   size_t(end - bodies) >= (9 + low) * plane, plane, bytes);
      };
      get_signs(bodies + i / 8, signs);
      get(0);
      if (head.planes <= 8) {
        for (size_t k = 0; k < kFixedGroup; ++k) to[k] = I((bytes[k] ^ signs[k]) - signs[k]);
        continue;
      }
      U magnitudes[kFixedGroup];
      for (size_t k = 0; k < kFixedGroup; ++k) magnitudes[k] = bytes[k];
      for (size_t low = 8; low < head.planes; low += 8) {
        get(low);
        for (size_t k = 0; k < kFixedGroup; ++k)
          magnitudes[k] = U(magnitudes[k] | U(bytes[k]) << low);
      }
      for (size_t k = 0; k < kFixedGroup; ++k)
        to[k] = I((magnitudes[k] ^ U(signs[k])) - U(signs[k]));
    }
    const u32 sign = 0 - u32(bodies[0] >> 7);
    codes[first] = head.outlier_bytes ? I((outlier ^ sign) - sign) : codes[first];
    bodies += (1 + head.planes) * plane;
  }
}

template <class I>
HWY_INLINE size_t encode_any(const Fixed::Params& params, const I* codes, size_t count, u8* heads,
                             u8* bodies) {
  return params.block == 32 ? encode_blocks_of<32>(params, codes, count, heads, bodies)
                            : encode_blocks_of<64>(params, codes, count, heads, bodies);
}
template <class I>
HWY_INLINE void decode_any(const Fixed::Params& params, const u8* heads, ByteView bodies, I* codes,
                           size_t count) {
  const u8* const end = bodies.data() + bodies.size();
  if (params.block == 32)
    decode_blocks_of<32>(params, heads, bodies.data(), end, codes, count);
  else
    decode_blocks_of<64>(params, heads, bodies.data(), end, codes, count);
}

size_t encode_16(const Fixed::Params& params, const i16* codes, size_t count, u8* heads,
                 u8* bodies) {
  return encode_any(params, codes, count, heads, bodies);
}
size_t encode_32(const Fixed::Params& params, const i32* codes, size_t count, u8* heads,
                 u8* bodies) {
  return encode_any(params, codes, count, heads, bodies);
}
void decode_16(const Fixed::Params& params, const u8* heads, ByteView bodies, i16* codes,
               size_t count) {
  decode_any(params, heads, bodies, codes, count);
}
void decode_32(const Fixed::Params& params, const u8* heads, ByteView bodies, i32* codes,
               size_t count) {
  decode_any(params, heads, bodies, codes, count);
}

}  // namespace leeway::fixed_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::fixed_kernels {
HWY_EXPORT(encode_16);
HWY_EXPORT(encode_32);
HWY_EXPORT(decode_16);
HWY_EXPORT(decode_32);

size_t encode_blocks(const Fixed::Params& params, const i16* codes, size_t count, u8* heads,
                     u8* bodies) {
  return HWY_DYNAMIC_DISPATCH(encode_16)(params, codes, count, heads, bodies);
}
size_t encode_blocks(const Fixed::Params& params, const i32* codes, size_t count, u8* heads,
                     u8* bodies) {
  return HWY_DYNAMIC_DISPATCH(encode_32)(params, codes, count, heads, bodies);
}
void decode_blocks(const Fixed::Params& params, const u8* heads, ByteView bodies, i16* codes,
                   size_t count) {
  HWY_DYNAMIC_DISPATCH(decode_16)(params, heads, bodies, codes, count);
}
void decode_blocks(const Fixed::Params& params, const u8* heads, ByteView bodies, i32* codes,
                   size_t count) {
  HWY_DYNAMIC_DISPATCH(decode_32)(params, heads, bodies, codes, count);
}

}  // namespace leeway::fixed_kernels
#endif
