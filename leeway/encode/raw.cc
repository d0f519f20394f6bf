// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/raw.h"

#include <bit>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/encode/raw.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_ENCODE_RAW_NARROWED
#define LEEWAY_ENCODE_RAW_NARROWED
namespace leeway::raw_kernels {
struct Narrowed {
  size_t count;
  u32 bits;
};
}  // namespace leeway::raw_kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::raw_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The "or" of the magnitudes of all codes; the lowest code has the magnitude 2^(bits - 1).
template <class D>
class AllBits {
 public:
  explicit AllBits(D d) : d_(d), any_(hn::Zero(d)) {}
  void add(hn::Vec<D> codes) { any_ = hn::Or(any_, hn::Abs(codes)); }
  u32 value() const {
    HWY_ALIGN i32 lanes[hn::MaxLanes(D())];
    hn::Store(any_, d_, lanes);
    u32 bits = 0;
    for (size_t k = 0; k < hn::Lanes(d_); ++k) bits |= u32(lanes[k]);
    return bits;
  }

 private:
  D d_;
  hn::Vec<D> any_;
};

// Writes code >> shift in `bytes` bytes each, for codes at the front; returns how many were done
// and what their bits are. May write up to 16 bytes more.
Narrowed narrow(const i32* codes, size_t n, size_t bytes, int shift, u8* to) {
  const hn::ScalableTag<i32> d;
  const size_t lanes = hn::Lanes(d);
  AllBits bits(d);
  size_t i = 0;
  const auto next = [&](size_t at) HWY_ATTR {
    const auto v = hn::LoadU(d, codes + at);
    bits.add(v);
    return hn::ShiftRightSame(v, shift);
  };
  if (bytes == 1) {
    const hn::Rebind<i8, decltype(d)> narrow;
    for (; i + lanes <= n; i += lanes)
      hn::StoreU(hn::DemoteTo(narrow, next(i)), narrow, reinterpret_cast<i8*>(to + i));
  } else if (bytes == 2) {
    const hn::Rebind<i16, decltype(d)> narrow;
    for (; i + lanes <= n; i += lanes)
      hn::StoreU(hn::DemoteTo(narrow, next(i)), narrow, reinterpret_cast<i16*>(to + 2 * i));
  } else if (bytes == 3) {
#if HWY_TARGET != HWY_SCALAR
    const hn::CappedTag<i32, 4> four;
    const hn::CappedTag<u8, 16> sixteen;
    alignas(16) static constexpr u8 kOrder[16] = {0,  1,  2,  4,  5,  6,  8,  9,
                                                  10, 12, 13, 14, 15, 15, 15, 15};
    const auto order = hn::Load(sixteen, kOrder);
    AllBits bits_of_fours(four);
    for (; i + 4 <= n; i += 4) {
      const auto v = hn::LoadU(four, codes + i);
      bits_of_fours.add(v);
      const auto shifted = hn::BitCast(sixteen, hn::ShiftRightSame(v, shift));
      hn::StoreU(hn::TableLookupBytes(shifted, order), sixteen, to + 3 * i);
    }
    return {i, bits_of_fours.value()};
#endif
  } else {
    for (; i + lanes <= n; i += lanes) hn::StoreU(next(i), d, reinterpret_cast<i32*>(to) + i);
  }
  return {i, bits.value()};
}

// The inverse. May read up to 16 bytes past the codes that it decodes.
size_t widen(const u8* from, size_t n, size_t bytes, int shift, i32* codes) {
  const hn::ScalableTag<i32> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  const auto put = [&](size_t at, auto v)
                       HWY_ATTR { hn::StoreU(hn::ShiftLeftSame(v, shift), d, codes + at); };
  if (bytes == 1) {
    const hn::Rebind<i8, decltype(d)> narrow;
    for (; i + lanes <= n; i += lanes)
      put(i, hn::PromoteTo(d, hn::LoadU(narrow, reinterpret_cast<const i8*>(from + i))));
  } else if (bytes == 2) {
    const hn::Rebind<i16, decltype(d)> narrow;
    for (; i + lanes <= n; i += lanes)
      put(i, hn::PromoteTo(d, hn::LoadU(narrow, reinterpret_cast<const i16*>(from + 2 * i))));
  } else if (bytes == 3) {
#if HWY_TARGET != HWY_SCALAR
    const hn::CappedTag<i32, 4> four;
    const hn::CappedTag<u8, 16> sixteen;
    alignas(16) static constexpr u8 kOrder[16] = {0, 0, 1, 2, 0, 3, 4, 5, 0, 6, 7, 8, 0, 9, 10, 11};
    const auto order = hn::Load(sixteen, kOrder);
    for (; i + 6 <= n; i += 4) {  // two codes more, because loads read more than they need
      const auto bytes_of_four = hn::LoadU(sixteen, from + 3 * i);
      const auto v = hn::BitCast(four, hn::TableLookupBytes(bytes_of_four, order));
      hn::StoreU(hn::ShiftLeftSame(hn::ShiftRight<8>(v), shift), four, codes + i);
    }
#endif
  } else {
    for (; i + lanes <= n; i += lanes) put(i, hn::LoadU(d, reinterpret_cast<const i32*>(from) + i));
  }
  return i;
}

}  // namespace leeway::raw_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::raw_kernels {
HWY_EXPORT(narrow);
HWY_EXPORT(widen);
}  // namespace leeway::raw_kernels

namespace leeway {
using namespace raw_kernels;

namespace {

constexpr size_t kBlock = kMostCodes;
constexpr u8 kHasLowest = 0x80;

constexpr i64 lowest_in(size_t bytes) { return i64(~u64(0) << (8 * bytes - 1)); }

// The form of a block: how its codes are written.
struct Form {
  size_t bytes = 1;
  int shift = 0;
  bool has_lowest = false;
  bool operator==(const Form&) const = default;
};

// By all bits of the magnitudes.
template <class I>
Form form_of(u64 bits) {
  const u64 magnitude = bits & ~(u64(1) << (8 * sizeof(I) - 1));
  const int shift = magnitude > 0 ? std::countr_zero(magnitude) : 0;
  return {size_t(std::bit_width(magnitude >> shift)) / 8 + 1, shift, bits != magnitude};
}

template <class I>
class RawSink final : public BlockSink<I, kBlock> {
 public:
  explicit RawSink(Writer& out) : BlockSink<I, kBlock>(kBlock), out_(out) {}

 private:
  void encode(I* codes, size_t count) override {
    for (size_t first = 0; first < count; first += kBlock)
      encode_block(codes + first, std::min(kBlock, count - first));
  }
  // Most blocks have the form of the block before. It is tried first, which also shows the bits
  // that the codes really need.
  void encode_block(const I* codes, size_t n) {
    const size_t start = out_.size();
    for (;;) {
      const Form tried = form_;
      form_ = form_of<I>(write(codes, n, tried));
      if (form_ == tried) return;
      out_.truncate(start);
    }
  }
  // Returns all bits of the magnitudes.
  u64 write(const I* codes, size_t n, const Form& form) {
    const auto [bytes, shift, has_lowest] = form;
    out_.put(u8(bytes));
    out_.put(u8(u8(shift) | (has_lowest ? kHasLowest : 0)));
    const size_t start = out_.size();
    u8* const to = out_.extend(n * bytes + 16).data();
    Narrowed done{};
    if constexpr (sizeof(I) == 4)
      if (!has_lowest) done = HWY_DYNAMIC_DISPATCH(narrow)(codes, n, bytes, shift, to);
    u64 bits = done.bits;
    for (size_t i = done.count; i < n; ++i) {
      const bool is_lowest = codes[i] == std::numeric_limits<I>::min();
      const i64 code = is_lowest ? lowest_in(bytes) : i64(codes[i]) >> shift;
      std::memcpy(to + i * bytes, &code, sizeof code);  // high bytes are overwritten
      bits |= std::make_unsigned_t<I>(codes[i] < 0 ? 0 - u64(codes[i]) : u64(codes[i]));
    }
    out_.truncate(start + n * bytes);
    return bits;
  }
  Form form_;
  Writer& out_;
};

template <class I>
class RawSource final : public BlockSource<I, kBlock> {
 public:
  RawSource(Reader& in, size_t count) : BlockSource<I, kBlock>(kBlock, count), in_(in) {}

 private:
  void decode(I* codes, size_t count) override {
    for (size_t first = 0; first < count; first += kBlock)
      decode_block(codes + first, std::min(kBlock, count - first));
  }
  void decode_block(I* codes, size_t n) {
    constexpr I lowest = std::numeric_limits<I>::min();
    const size_t bytes = in_.get<u8>();
    const u8 head = in_.get<u8>();
    const int shift = head & 0x3f;
    if (bytes < 1 || bytes > sizeof(I) || head & 0x40 || shift >= int(8 * sizeof(I)))
      fail_corrupt("impossible code size");
    const u8* const from = in_.take(n * bytes).data();
    size_t i = 0;
    if constexpr (sizeof(I) == 4)
      if (!(head & kHasLowest)) i = HWY_DYNAMIC_DISPATCH(widen)(from, n, bytes, shift, codes);
    const int unused = int(64 - 8 * bytes);
    for (; i < n; ++i) {
      u64 word = 0;
      const bool is_inside = (n - i) * bytes >= sizeof word;
      std::memcpy(&word, from + i * bytes, is_inside ? sizeof word : bytes);
      const i64 code = i64(word << unused) >> unused;
      const bool is_lowest = head & kHasLowest && code == lowest_in(bytes);
      codes[i] = is_lowest ? lowest : I(u64(code) << shift);
    }
  }
  Reader& in_;
};

}  // namespace

template <class I>
std::unique_ptr<CodeSink<I>> Raw::sink(size_t, Writer& out) const {
  return std::make_unique<RawSink<I>>(out);
}
template <class I>
std::unique_ptr<CodeSource<I>> Raw::source(Reader& in, size_t count) const {
  return std::make_unique<RawSource<I>>(in, count);
}
template std::unique_ptr<CodeSink<i32>> Raw::sink<i32>(size_t, Writer&) const;
template std::unique_ptr<CodeSink<i64>> Raw::sink<i64>(size_t, Writer&) const;
template std::unique_ptr<CodeSource<i32>> Raw::source<i32>(Reader&, size_t) const;
template std::unique_ptr<CodeSource<i64>> Raw::source<i64>(Reader&, size_t) const;

}  // namespace leeway
#endif
