// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/fixed.h"

#include <algorithm>
#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/encode/fixed.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_ENCODE_FIXED_HEAD
#define LEEWAY_ENCODE_FIXED_HEAD
namespace leeway::fixed_kernels {

inline constexpr size_t kFixedGroup = 32;  // codes handled at once: 4 bytes of a plane
inline constexpr u8 kFixedOutlier = 0x80;

struct FixedHead {
  size_t planes, outlier_bytes;  // 0 bytes: plain

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

// The smaller form, given the first magnitude and the "or" of the others.
HWY_INLINE FixedHead choose_fixed(bool may_be_outlier, size_t plane, u64 first, u64 others) {
  const FixedHead plain{size_t(std::bit_width(first | others)), 0};
  if (!may_be_outlier) return plain;
  const FixedHead outlier{size_t(std::bit_width(others)),
                          std::max<size_t>(1, size_t(std::bit_width(first) + 7) / 8)};
  const bool possible = outlier.outlier_bytes <= 4 && outlier.planes <= 31;
  return possible && outlier.body_bytes(plane) < plain.body_bytes(plane) ? outlier : plain;
}

}  // namespace leeway::fixed_kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::fixed_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// The bits of 32 bytes as eight bit planes, four bytes each at distance `step`: that of byte 0 in
// the high bit of the first. If `without_first`, byte 0 counts as 0.
void put_planes(const u8* bytes, bool without_first, size_t step, u8* to) {
  for (size_t plane = 0; plane < 8; ++plane, to += step)
    for (size_t byte = 0; byte < 4; ++byte) {
      u32 bits = 0;
      for (size_t i = 8 * byte; i < 8 * byte + 8; ++i)
        bits = bits << 1 | (without_first && i == 0 ? 0 : bytes[i] >> plane & 1);
      to[byte] = u8(bits);
    }
}
// The bytes of `count` planes, at most eight; `all`: eight planes can be read.
void get_planes(const u8* from, size_t count, bool, size_t step, u8* bytes) {
  for (size_t i = 0; i < kFixedGroup; ++i) bytes[i] = 0;
  for (size_t plane = 0; plane < count; ++plane, from += step)
    for (size_t i = 0; i < kFixedGroup; ++i)
      bytes[i] = u8(bytes[i] | (from[i / 8] >> (7 - i % 8) & 1) << plane);
}
// The highest bits of 32 bytes as a plane.
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

// The highest bit of every lane as a plane, four bytes. The mask of a vector has lane 0 in its low
// bit, a plane in the high one of a byte: lanes must come reversed by eight.
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

// -1 in the lanes, from `lane` on, whose bit of the plane is set; lanes reversed by eight.
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
    if (all)  // without a loop that ends here or there
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

// What many blocks are made of, by bytes of the same weight, for all of them before any is packed:
// simple loops, and nothing is read right behind its being written.
struct Pieces {
  alignas(64) u8 bytes[4][kMostCodes];  // of the magnitudes, the lowest first
  alignas(64) u8 signs[kMostCodes];     // the highest bytes of the codes
  u32 firsts[kMostCodes / kFixedGroup], others[kMostCodes / kFixedGroup];  // of every block
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

// Whole blocks of one or two groups, at most kMostCodes codes; returns the end of the bodies.
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
    std::memcpy(to, &magnitude, 4);  // the bytes too many are written again
    to += head.outlier_bytes;
    for (size_t i = 0; i < block; i += kFixedGroup) {
      const bool without_first = i == 0 && head.outlier_bytes > 0;
      u8* const group = to + i / 8;
      put_signs(pieces.signs + first + i, group);
      // Planes too many are written again.
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

// The inverse; heads and the size of the bodies were checked. `end`: of what can be read.
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
}  // namespace leeway::fixed_kernels

namespace leeway {
using namespace fixed_kernels;
namespace {

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

constexpr size_t kMostBlock = 64;

// What a block is made of.
struct Planes {
  std::array<u64, kMostBlock> magnitudes;
  std::array<u8, kMostBlock / 8> signs;
};

// The definition, for any block and width.
template <class I>
void split(const I* codes, size_t n, Planes& planes) {
  planes.signs = {};
  for (size_t i = 0; i < n; ++i) {
    const bool negative = codes[i] < 0;
    planes.magnitudes[i] = u64(negative ? u64(0) - u64(i64(codes[i])) : u64(codes[i]));
    planes.signs[i / 8] |= u8(u8(negative) << (7 - i % 8));
  }
}
void put_planes_of(const Planes& block, size_t n, size_t planes, u8* to) {
  for (size_t plane = 0; plane < planes; ++plane, to += n / 8) {
    std::memset(to, 0, n / 8);
    for (size_t i = 0; i < n; ++i)
      to[i / 8] |= u8((block.magnitudes[i] >> plane & 1) << (7 - i % 8));
  }
}

template <class I>
class FixedSink final : public BlockSink<I, kMostBlock> {
 public:
  FixedSink(const Fixed::Params& params, size_t count, Writer& out)
      : BlockSink<I, kMostBlock>(size_t(params.block)),
        params_(params),
        block_(size_t(params.block)),
        out_(out),
        heads_at_(out.size()) {
    const size_t heads = (count + block_ - 1) / block_ * size_t(params.head);
    heads_.reserve(heads);
    out_.extend(heads);
  }

 private:
  void encode(I* codes, size_t count) override {
    for (; count % block_ > 0; ++count) codes[count] = 0;
    if constexpr (sizeof(I) <= 4)
      if (block_ % kFixedGroup == 0) {
        const size_t start = out_.size();
        u8* const heads = heads_.extend(count / block_ * size_t(params_.head)).data();
        // Four bytes, a sign plane and 32 planes are the most.
        u8* const to = out_.extend(count / block_ * (4 + 33 * block_ / 8)).data();
        out_.truncate(start + encode_blocks(params_, codes, count, heads, to));
        return;
      }
    for (size_t first = 0; first < count; first += block_) encode_block(codes + first);
  }
  void end() override { out_.replace(heads_at_, heads_.size(), heads_.bytes()); }

  void encode_block(const I* codes) {
    Planes planes;
    split(codes, block_, planes);
    u64 others = 0;
    for (size_t i = 1; i < block_; ++i) others |= planes.magnitudes[i];
    const FixedHead head =
        choose_fixed(params_.outlier != 0, block_ / 8, planes.magnitudes[0], others);
    heads_.put(head.byte());
    for (i32 k = 1; k < params_.head; ++k) heads_.put(u8(0));
    if (head.body_bytes(block_ / 8) == 0) return;
    u8* to = out_.extend(head.body_bytes(block_ / 8)).data();
    for (size_t k = 0; k < head.outlier_bytes; ++k) *to++ = u8(planes.magnitudes[0] >> 8 * k);
    if (head.outlier_bytes) planes.magnitudes[0] = 0;
    std::memcpy(to, planes.signs.data(), block_ / 8);
    put_planes_of(planes, block_, head.planes, to + block_ / 8);
  }

  Fixed::Params params_;
  size_t block_;
  Writer heads_;
  Writer& out_;
  size_t heads_at_;
};

template <class I>
class FixedSource final : public BlockSource<I, kMostBlock> {
 public:
  FixedSource(const Fixed::Params& params, Reader& in, size_t count)
      : BlockSource<I, kMostBlock>(size_t(params.block), count),
        params_(params),
        block_(size_t(params.block)),
        in_(in),
        heads_(in.take((count + block_ - 1) / block_ * size_t(params.head))) {
    for (size_t byte = 0; byte < body_bytes_.size(); ++byte) {
      const FixedHead head = FixedHead::of(u8(byte));
      const bool possible =
          head.planes <= 8 * sizeof(I) && (head.outlier_bytes == 0 || params_.outlier != 0);
      body_bytes_[byte] = possible ? u16(head.body_bytes(block_ / 8)) : kImpossible;
    }
  }

 private:
  void decode(I* codes, size_t count) override {
    count = (count + block_ - 1) / block_ * block_;
    // What the heads say, before anything is done.
    const size_t plane = block_ / 8, head_bytes = size_t(params_.head);
    const ByteView heads = heads_.subspan(at_, count / block_ * head_bytes);
    size_t body_bytes = 0;
    bool possible = true;
    for (size_t i = 0; i < heads.size(); i += head_bytes) {
      for (size_t k = 1; k < head_bytes; ++k) possible &= heads[i + k] == 0;
      possible &= body_bytes_[heads[i]] != kImpossible;
      body_bytes += body_bytes_[heads[i]];
    }
    if (!possible) fail_corrupt("impossible head of a block");
    at_ += heads.size();
    const ByteView all = in_.take(body_bytes);
    if constexpr (sizeof(I) <= 4)
      if (block_ % kFixedGroup == 0) {
        const ByteView readable(all.data(), all.size() + in_.remaining());
        return decode_blocks(params_, heads.data(), readable, codes, count);
      }
    const u8* bodies = all.data();
    for (size_t i = 0; i < heads.size(); i += head_bytes, codes += block_) {
      const FixedHead head = FixedHead::of(heads[i]);
      decode_block(head, bodies, codes);
      bodies += head.body_bytes(plane);
    }
  }

  void decode_block(const FixedHead& head, const u8* body, I* codes) const {
    const size_t plane = block_ / 8;
    if (head.body_bytes(plane) == 0) return void(std::fill_n(codes, block_, I(0)));
    const u8 *signs = body + head.outlier_bytes, *planes = signs + plane;
    for (size_t i = 0; i < block_; ++i) {
      u64 magnitude = 0;
      for (size_t k = 0; i == 0 && k < head.outlier_bytes; ++k) magnitude |= u64(body[k]) << 8 * k;
      for (size_t k = 0; k < head.planes; ++k)
        magnitude |= u64(planes[k * plane + i / 8] >> (7 - i % 8) & 1) << k;
      codes[i] = I(signs[i / 8] >> (7 - i % 8) & 1 ? u64(0) - magnitude : magnitude);
    }
  }

  Fixed::Params params_;
  size_t block_;
  Reader& in_;
  ByteView heads_;
  size_t at_ = 0;  // in heads_
  static constexpr u16 kImpossible = 0xffff;
  std::array<u16, 256> body_bytes_;  // by the first byte of a head
};

}  // namespace

template <class I>
std::unique_ptr<CodeSink<I>> Fixed::sink(size_t count, Writer& out) const {
  return std::make_unique<FixedSink<I>>(params, count, out);
}
template <class I>
std::unique_ptr<CodeSource<I>> Fixed::source(Reader& in, size_t count) const {
  return std::make_unique<FixedSource<I>>(params, in, count);
}
template std::unique_ptr<CodeSink<i16>> Fixed::sink<i16>(size_t, Writer&) const;
template std::unique_ptr<CodeSink<i32>> Fixed::sink<i32>(size_t, Writer&) const;
template std::unique_ptr<CodeSink<i64>> Fixed::sink<i64>(size_t, Writer&) const;
template std::unique_ptr<CodeSource<i16>> Fixed::source<i16>(Reader&, size_t) const;
template std::unique_ptr<CodeSource<i32>> Fixed::source<i32>(Reader&, size_t) const;
template std::unique_ptr<CodeSource<i64>> Fixed::source<i64>(Reader&, size_t) const;

}  // namespace leeway
#endif
