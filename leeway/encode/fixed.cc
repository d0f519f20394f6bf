// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/fixed.h"

#include <algorithm>
#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/encode/fixed.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kGroup = 32;  // codes handled at once: 4 bytes of a plane

#if HWY_TARGET == HWY_SCALAR

// Bit `bit` of 32 magnitudes as four bytes, code 0 first, in the high bit of the first byte.
void put_planes(const u32* magnitudes, size_t planes, size_t step, u8* to) {
  for (size_t plane = 0; plane < planes; ++plane, to += step)
    for (size_t byte = 0; byte < kGroup / 8; ++byte) {
      u32 bits = 0;
      for (size_t i = 0; i < 8; ++i) bits = bits << 1 | (magnitudes[8 * byte + i] >> plane & 1);
      to[byte] = u8(bits);
    }
}
void get_planes(const u8* from, size_t planes, size_t step, u32* magnitudes) {
  for (size_t i = 0; i < kGroup; ++i) magnitudes[i] = 0;
  for (size_t plane = 0; plane < planes; ++plane, from += step)
    for (size_t i = 0; i < kGroup; ++i)
      magnitudes[i] |= u32(from[i / 8] >> (7 - i % 8) & 1) << plane;
}

#else

using Bytes8 = hn::CappedTag<u8, kGroup>;

// Reverses groups of eight bytes: the mask of a vector has lane 0 in its low bit, a plane in the
// high one.
template <class V>
HWY_INLINE V reversed_by_eight(V v) {
  alignas(16) static constexpr u8 kOrder[16] = {7,  6,  5,  4,  3,  2,  1, 0,
                                                15, 14, 13, 12, 11, 10, 9, 8};
  return hn::TableLookupBytes(v, hn::LoadDup128(Bytes8(), kOrder));
}

// Bit planes of 32 magnitudes, four bytes each at distance `step`. Eight planes are one byte of
// every magnitude, and the highest bit of a byte is what a mask is made of.
void put_planes(const u32* HWY_RESTRICT magnitudes, size_t planes, size_t step,
                u8* HWY_RESTRICT to) {
  const Bytes8 d;
  const hn::RebindToSigned<Bytes8> di;
  alignas(32) u8 bytes[kGroup];
  for (size_t low = 0; low < planes; low += 8) {
    for (size_t i = 0; i < kGroup; ++i) bytes[i] = u8(magnitudes[i] >> low);
    const size_t count = std::min<size_t>(8, planes - low);
    for (size_t lane = 0; lane < kGroup; lane += hn::Lanes(d)) {
      auto v = reversed_by_eight(hn::LoadU(d, bytes + lane));
      for (size_t skip = count; skip < 8; ++skip) v = hn::Add(v, v);
      for (size_t plane = count; plane-- > 0; v = hn::Add(v, v)) {
        u8 bits[8];
        hn::StoreMaskBits(di, hn::Lt(hn::BitCast(di, v), hn::Zero(di)), bits);
        std::memcpy(to + (low + plane) * step + lane / 8, bits, hn::Lanes(d) / 8);
      }
    }
  }
}

void get_planes(const u8* HWY_RESTRICT from, size_t planes, size_t step,
                u32* HWY_RESTRICT magnitudes) {
  const Bytes8 d;
  alignas(16) static constexpr u8 kBit[16] = {128, 64, 32, 16, 8, 4, 2, 1,
                                              128, 64, 32, 16, 8, 4, 2, 1};
  alignas(32) static constexpr u8 kByte[32] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
                                               2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3};
  const auto bit = hn::LoadDup128(d, kBit);
  alignas(32) u8 bytes[kGroup];
  if (planes == 0) std::memset(magnitudes, 0, kGroup * sizeof(u32));
  for (size_t low = 0; low < planes; low += 8) {
    const size_t count = std::min<size_t>(8, planes - low);
    for (size_t lane = 0; lane < kGroup; lane += hn::Lanes(d)) {
      const auto which = hn::LoadU(d, kByte + lane);
      auto v = hn::Zero(d);
      for (size_t plane = count; plane-- > 0;) {
        u32 four;
        std::memcpy(&four, from + (low + plane) * step, 4);
        const hn::Repartition<u32, Bytes8> d32;
        const auto spread = hn::TableLookupBytes(hn::BitCast(d, hn::Set(d32, four)), which);
        const auto set = hn::VecFromMask(d, hn::TestBit(spread, bit));
        v = hn::Sub(hn::Add(v, v), set);
      }
      hn::StoreU(v, d, bytes + lane);
    }
    if (low == 0)
      for (size_t i = 0; i < kGroup; ++i) magnitudes[i] = bytes[i];
    else
      for (size_t i = 0; i < kGroup; ++i) magnitudes[i] |= u32(bytes[i]) << low;
  }
}

#endif

// Magnitudes of 32 codes and their "or", and which are negative, as a plane.
u32 split_signs(const i32* HWY_RESTRICT codes, u32* HWY_RESTRICT magnitudes, u8* signs) {
  u32 negative[kGroup], all = 0;
  for (size_t i = 0; i < kGroup; ++i) {
    const u32 sign = u32(codes[i] >> 31);
    negative[i] = sign & 1;
    magnitudes[i] = (u32(codes[i]) ^ sign) - sign;
    all |= magnitudes[i];
  }
  put_planes(negative, 1, kGroup / 8, signs);
  return all;
}
void join_signs(const u32* HWY_RESTRICT magnitudes, const u8* signs, i32* HWY_RESTRICT codes) {
  u32 negative[kGroup];
  get_planes(signs, 1, kGroup / 8, negative);
  for (size_t i = 0; i < kGroup; ++i)
    codes[i] = i32((magnitudes[i] ^ (u32(0) - negative[i])) + negative[i]);
}

}  // namespace leeway::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway {
namespace {

HWY_EXPORT(put_planes);
HWY_EXPORT(get_planes);
HWY_EXPORT(split_signs);
HWY_EXPORT(join_signs);

constexpr size_t kGroup = 32, kMostBlock = 64;
constexpr u8 kOutlier = 0x80;

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

struct Head {
  size_t planes, outlier_bytes;  // 0 bytes: plain

  u8 byte() const {
    return outlier_bytes ? u8(kOutlier | (outlier_bytes - 1) << 5 | planes) : u8(planes);
  }
  size_t body_bytes(size_t plane_bytes) const {
    if (outlier_bytes == 0 && planes == 0) return 0;
    return outlier_bytes + (1 + planes) * plane_bytes;
  }
};

// The smaller form, given the first magnitude and the "or" of the others.
Head choose(const Fixed::Params& params, u64 first, u64 others) {
  const Head plain{size_t(std::bit_width(first | others)), 0};
  if (params.outlier == 0) return plain;
  const Head outlier{size_t(std::bit_width(others)),
                     std::max<size_t>(1, size_t(std::bit_width(first) + 7) / 8)};
  const auto plane = size_t(params.block / 8);
  const bool possible = outlier.outlier_bytes <= 4 && outlier.planes <= 31;
  return possible && outlier.body_bytes(plane) < plain.body_bytes(plane) ? outlier : plain;
}

template <class I>
class FixedSink final : public CodeSink<I> {
 public:
  FixedSink(const Fixed::Params& params, size_t count, Writer& out)
      : params_(params), block_(size_t(params.block)), out_(out) {
    heads_.reserve((count + block_ - 1) / block_ * size_t(params.head));
  }
  I* room(size_t) override { return codes_.data() + left_; }
  void put(size_t count, const u8*) override {
    left_ += count;
    const size_t whole = left_ / block_ * block_;
    for (size_t first = 0; first < whole; first += block_) encode(codes_.data() + first);
    left_ -= whole;
    std::copy_n(codes_.data() + whole, left_, codes_.data());
  }
  void finish() override {
    if (left_ > 0) {
      std::fill_n(codes_.data() + left_, block_ - left_, I(0));
      encode(codes_.data());
    }
    out_.put_bytes(heads_.bytes());
    out_.put_bytes(bodies_.bytes());
  }

 private:
  void encode(const I* codes) {
    if constexpr (sizeof(I) == 4)
      if (block_ % kGroup == 0) return encode_groups(codes);
    Planes planes;
    split(codes, block_, planes);
    u64 others = 0;
    for (size_t i = 1; i < block_; ++i) others |= planes.magnitudes[i];
    const Head head = begin(planes.magnitudes[0], others, planes.signs.data());
    if (head.outlier_bytes) planes.magnitudes[0] = 0;
    put_planes_of(planes, block_, head.planes, planes_to_);
  }

  // 32-bit codes in one or two groups of 32.
  void encode_groups(const i32* codes) {
    std::array<u32, kMostBlock> magnitudes;
    std::array<u8, kMostBlock / 8> signs;
    u32 all = 0;
    size_t done = 0;
    do {
      all |= HWY_DYNAMIC_DISPATCH(split_signs)(codes + done, magnitudes.data() + done,
                                               signs.data() + done / 8);
      done += kGroup;
    } while (done < block_);
    u32 others = 0;
    for (size_t i = 1; i < block_; ++i) others |= magnitudes[i];
    const Head head = begin(magnitudes[0], others, signs.data());
    if (head.outlier_bytes) magnitudes[0] = 0;
    if (all == 0) return;
    for (size_t i = 0; i < block_; i += kGroup)
      HWY_DYNAMIC_DISPATCH(put_planes)
      (magnitudes.data() + i, head.planes, block_ / 8, planes_to_ + i / 8);
  }

  // Writes all but the planes.
  Head begin(u64 first, u64 others, const u8* signs) {
    const Head head = choose(params_, first, others);
    heads_.put(head.byte());
    for (i32 k = 1; k < params_.head; ++k) heads_.put(u8(0));
    u8* to = bodies_.extend(head.body_bytes(block_ / 8)).data();
    if (head.body_bytes(block_ / 8) == 0) return head;
    for (size_t k = 0; k < head.outlier_bytes; ++k) *to++ = u8(first >> 8 * k);
    std::memcpy(to, signs, block_ / 8);
    planes_to_ = to + block_ / 8;
    return head;
  }

  Fixed::Params params_;
  size_t block_;
  std::array<I, kMostBlock + kMostCodes> codes_;
  size_t left_ = 0;  // less than a block, from the put() before
  Writer heads_, bodies_;
  u8* planes_to_ = nullptr;
  Writer& out_;
};

template <class I>
class FixedSource final : public CodeSource<I> {
 public:
  FixedSource(const Fixed::Params& params, Reader& in, size_t count)
      : params_(params),
        block_(size_t(params.block)),
        in_(in),
        heads_(in.take((count + block_ - 1) / block_ * size_t(params.head))) {}
  void next(std::span<I> codes, const u8*) override {
    while (!codes.empty()) {
      if (waiting_.empty()) {
        if (codes.size() >= block_) {
          decode(codes.data());
          codes = codes.subspan(block_);
          continue;
        }
        decode(buffer_.data());
        waiting_ = std::span<const I>(buffer_).first(block_);
      }
      const size_t n = std::min(waiting_.size(), codes.size());
      std::copy_n(waiting_.data(), n, codes.data());
      waiting_ = waiting_.subspan(n);
      codes = codes.subspan(n);
    }
  }

 private:
  Head next_head() {
    const u8 byte = heads_[at_];
    for (i32 k = 1; k < params_.head; ++k)
      if (heads_[at_ + size_t(k)] != 0) fail_corrupt("impossible head of a block");
    at_ += size_t(params_.head);
    if (byte & kOutlier) {
      if (params_.outlier == 0) fail_corrupt("outlier in a plain stream");
      return {size_t(byte & 31), size_t(byte >> 5 & 3) + 1};
    }
    if (byte > 8 * sizeof(I)) fail_corrupt("too many planes in a block");
    return {byte, 0};
  }

  void decode(I* codes) {
    const Head head = next_head();
    Reader body(in_.take(head.body_bytes(block_ / 8)));
    if (body.remaining() == 0) return void(std::fill_n(codes, block_, I(0)));
    u64 outlier = 0;
    for (size_t k = 0; k < head.outlier_bytes; ++k) outlier |= u64(body.get<u8>()) << 8 * k;
    const u8* signs = body.take(block_ / 8).data();
    const u8* planes = body.rest().data();
    if constexpr (sizeof(I) == 4)
      if (block_ % kGroup == 0) {
        std::array<u32, kMostBlock> magnitudes;
        for (size_t i = 0; i < block_; i += kGroup) {
          HWY_DYNAMIC_DISPATCH(get_planes)
          (planes + i / 8, head.planes, block_ / 8, magnitudes.data() + i);
          magnitudes[0] |= u32(outlier);
          HWY_DYNAMIC_DISPATCH(join_signs)(magnitudes.data() + i, signs + i / 8, codes + i);
        }
        return;
      }
    for (size_t i = 0; i < block_; ++i) {
      u64 magnitude = i == 0 ? outlier : 0;
      for (size_t plane = 0; plane < head.planes; ++plane)
        magnitude |= u64(planes[plane * (block_ / 8) + i / 8] >> (7 - i % 8) & 1) << plane;
      codes[i] = I(signs[i / 8] >> (7 - i % 8) & 1 ? u64(0) - magnitude : magnitude);
    }
  }

  Fixed::Params params_;
  size_t block_;
  Reader& in_;
  ByteView heads_;
  size_t at_ = 0;  // in heads_
  std::array<I, kMostBlock> buffer_;
  std::span<const I> waiting_;  // in buffer_
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
template std::unique_ptr<CodeSink<i32>> Fixed::sink<i32>(size_t, Writer&) const;
template std::unique_ptr<CodeSink<i64>> Fixed::sink<i64>(size_t, Writer&) const;
template std::unique_ptr<CodeSource<i32>> Fixed::source<i32>(Reader&, size_t) const;
template std::unique_ptr<CodeSource<i64>> Fixed::source<i64>(Reader&, size_t) const;

}  // namespace leeway
#endif
