// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/pack_blocks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "leeway/base/bits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/encode/pack_blocks.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::pack_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Vectors of at most a row of the block.
using Words = hn::CappedTag<u16, kPackLanes>;
using Lanes = hn::CappedTag<u32, kPackLanes>;

constexpr u32 low_bits(size_t k) { return u32((u64(1) << k) - 1); }

template <class D, class V>
HWY_INLINE V unzigzagged(D d, V z) {
  const auto sign = hn::Sub(hn::Zero(d), hn::And(z, hn::Set(d, hn::TFromD<D>(1))));
  return hn::Xor(hn::ShiftRight<1>(z), sign);
}

// Packs the low k bits of 16 rows of values, one row after the other in every lane. The code is
// unrolled for every width, because the branches of a loop would differ between widths.
template <size_t k>
struct Rows {
  static constexpr size_t shift(size_t row) { return row * k % 16; }
  template <size_t row, class V>
  static HWY_INLINE void pack_row(const u16* values, V& word, u16*& to) {
    const Words d;
    auto value = hn::LoadU(d, values + row * kPackLanes);
    if constexpr (k < 16) value = hn::And(value, hn::Set(d, u16(low_bits(k))));
    word = shift(row) == 0 ? value : hn::Or(word, hn::ShiftLeft<shift(row)>(value));
    if constexpr (shift(row) + k >= 16) {
      hn::StoreU(word, d, to);
      to += kPackLanes;
      if constexpr (shift(row) + k > 16) word = hn::ShiftRight<16 - shift(row)>(value);
    }
  }
  // Unpacks values or, if `codes`, the codes whose zigzag numbers they are.
  template <bool codes, size_t row, class V>
  static HWY_INLINE void unpack_row(const u16*& from, V& word, u16* values) {
    const Words d;
    if constexpr (shift(row) == 0) word = hn::LoadU(d, from);
    auto value = hn::ShiftRight<shift(row)>(word);
    if constexpr (shift(row) + k >= 16) from += kPackLanes;
    if constexpr (shift(row) + k > 16) {
      word = hn::LoadU(d, from);
      value = hn::Or(value, hn::ShiftLeft<16 - shift(row)>(word));
    }
    if constexpr (k < 16) value = hn::And(value, hn::Set(d, u16(low_bits(k))));
    if constexpr (codes) value = unzigzagged(d, value);
    hn::StoreU(value, d, values + row * kPackLanes);
  }
  template <size_t... row>
  static HWY_INLINE void pack(const u16* values, u16* to, std::index_sequence<row...>) {
    const Words d;
    for (size_t lane = 0; lane < kPackLanes; lane += hn::Lanes(d)) {
      auto word = hn::Zero(d);
      u16* next = to + lane;
      (pack_row<row>(values + lane, word, next), ...);
    }
  }
  template <bool codes, size_t... row>
  static HWY_INLINE void unpack(const u16* from, u16* values, std::index_sequence<row...>) {
    const Words d;
    for (size_t lane = 0; lane < kPackLanes; lane += hn::Lanes(d)) {
      auto word = hn::Zero(d);
      const u16* next = from + lane;
      (unpack_row<codes, row>(next, word, values + lane), ...);
    }
  }
  static void pack_all(const u16* HWY_RESTRICT values, u16* HWY_RESTRICT to) {
    pack(values, to, std::make_index_sequence<kPackRows>());
  }
  template <bool codes>
  static void unpack_all(const u16* HWY_RESTRICT from, u16* HWY_RESTRICT values) {
    unpack<codes>(from, values, std::make_index_sequence<kPackRows>());
  }
};

using PackAll = void (*)(const u16*, u16*);
template <size_t... i>
constexpr std::array<PackAll, 16> packers(std::index_sequence<i...>) {
  return {Rows<i + 1>::pack_all...};
}
template <bool codes, size_t... i>
constexpr std::array<PackAll, 16> unpackers(std::index_sequence<i...>) {
  return {Rows<i + 1>::template unpack_all<codes>...};
}

// The scalar form, for fewer rows; it also defines what a lane holds.
void pack_some(const u16* values, size_t rows, size_t k, u8* to) {
  std::array<u16, kPackBlock> words{};
  for (size_t i = 0; i < rows * kPackLanes; ++i) {
    const size_t bit = i / kPackLanes * k, word = bit / 16 * kPackLanes + i % kPackLanes;
    const u32 value = (values[i] & low_bits(k)) << bit % 16;
    words[word] = u16(words[word] | value);
    if (bit % 16 + k > 16) words[word + kPackLanes] = u16(value >> 16);
  }
  std::memcpy(to, words.data(), part_bytes(rows, k));
}
void unpack_some(const u8* from, size_t rows, size_t k, u16* values) {
  std::array<u16, kPackBlock> words{};
  std::memcpy(words.data(), from, part_bytes(rows, k));
  for (size_t i = 0; i < rows * kPackLanes; ++i) {
    const size_t bit = i / kPackLanes * k, word = bit / 16 * kPackLanes + i % kPackLanes;
    u32 value = words[word];
    if (bit % 16 + k > 16) value |= u32(words[word + kPackLanes]) << 16;
    values[i] = u16(value >> bit % 16 & low_bits(k));
  }
}

// Packs the low k bits of every value, k from 1 to 16.
HWY_INLINE u8* pack_part(const u16* values, size_t rows, size_t k, u8* to) {
  static constexpr auto kPackers = packers(std::make_index_sequence<16>());
  if (rows == kPackRows)
    kPackers[k - 1](values, reinterpret_cast<u16*>(to));
  else
    pack_some(values, rows, k, to);
  return to + part_bytes(rows, k);
}
// Packs a block at width k, up to the width of its values.
HWY_INLINE u8* pack_block(const u16* z, size_t rows, size_t k, u8* to) {
  return pack_part(z, rows, k, to);
}
HWY_INLINE u8* pack_block(const u32* HWY_RESTRICT z, size_t rows, size_t k, u8* to) {
  const Lanes d;
  const hn::Rebind<u16, Lanes> d16;
  const hn::RebindToSigned<Lanes> di;
  alignas(64) u16 low[kPackBlock], high[kPackBlock];
  const auto mask = hn::Set(d, low_bits(16));
  for (size_t i = 0; i < rows * kPackLanes; i += hn::Lanes(d)) {
    const auto v = hn::LoadU(d, z + i);
    hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, hn::And(v, mask))), d16, low + i);
    if (k > 16)
      hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, hn::ShiftRight<16>(v))), d16, high + i);
  }
  if (k <= 16) return pack_part(low, rows, k, to);
  return pack_part(high, rows, k - 16, pack_part(low, rows, 16, to));
}

template <bool codes>
HWY_INLINE void unpack_part(const u8* from, size_t rows, size_t k, u16* values) {
  static constexpr auto kUnpackers = unpackers<codes>(std::make_index_sequence<16>());
  if (rows == kPackRows) return kUnpackers[k - 1](reinterpret_cast<const u16*>(from), values);
  unpack_some(from, rows, k, values);
  const Words d;
  for (size_t i = 0; codes && i < rows * kPackLanes; i += hn::Lanes(d))
    hn::StoreU(unzigzagged(d, hn::LoadU(d, values + i)), d, values + i);
}
void unpack_block(const u8* from, size_t rows, size_t k, u16* codes) {
  unpack_part<true>(from, rows, k, codes);
}
void unpack_block(const u8* from, size_t rows, size_t k, u32* HWY_RESTRICT codes) {
  const Lanes d;
  const hn::Rebind<u16, Lanes> dh;
  alignas(64) u16 low[kPackBlock], high[kPackBlock];
  if (k <= 16) {  // the codes have at most 16 bits
    unpack_part<true>(from, rows, k, low);
    const hn::RebindToSigned<Lanes> di;
    const hn::RebindToSigned<decltype(dh)> dhi;
    for (size_t i = 0; i < rows * kPackLanes; i += hn::Lanes(d))
      hn::StoreU(hn::BitCast(d, hn::PromoteTo(di, hn::BitCast(dhi, hn::LoadU(dh, low + i)))), d,
                 codes + i);
    return;
  }
  unpack_part<false>(from, rows, 16, low);
  unpack_part<false>(from + part_bytes(rows, 16), rows, k - 16, high);
  for (size_t i = 0; i < rows * kPackLanes; i += hn::Lanes(d)) {
    const auto z = hn::Or(hn::PromoteTo(d, hn::LoadU(dh, low + i)),
                          hn::ShiftLeft<16>(hn::PromoteTo(d, hn::LoadU(dh, high + i))));
    hn::StoreU(unzigzagged(d, z), d, codes + i);
  }
}

// The zigzag numbers of a block, filled up with zeros. `tops` is the "or" of every lane of each
// half of the block: of 32 groups of eight numbers.
template <class U>
struct Block {
  alignas(64) U z[kPackBlock];
  alignas(64) U tops[2 * kPackLanes];
  alignas(64) U all[kPackLanes];  // the "or" of both halves
  size_t rows;

  size_t widest() const {
    u64 bits = 0;
    for (size_t i = 0; i < kPackLanes; i += 8 / sizeof(U)) {
      u64 lanes;
      std::memcpy(&lanes, all + i, 8);
      bits |= lanes;
    }
    for (size_t shift = 32; shift >= 8 * sizeof(U); shift /= 2) bits |= bits >> shift;
    return size_t(std::bit_width(U(bits)));
  }
};

template <class I, class U>
HWY_INLINE bool zigzag_block(const I* codes, size_t n, Block<U>& block) {
  const hn::CappedTag<U, kPackLanes> d;
  const hn::RebindToSigned<decltype(d)> di;
  block.rows = rows_of(n);
  alignas(64) I filled[kPackBlock];
  if (n < kPackBlock) {
    std::copy_n(codes, n, filled);
    std::fill(filled + n, filled + kPackBlock, I(0));
    codes = filled;
  }
  constexpr size_t kHalf = kPackBlock / 2;
  for (size_t lane = 0; lane < kPackLanes; lane += hn::Lanes(d)) {
    auto all = hn::Zero(d);
    for (size_t half = 0; half < 2; ++half) {
      auto top = hn::Zero(d);
      for (size_t i = half * kHalf + lane; i < (half + 1) * kHalf; i += kPackLanes) {
        const auto code = hn::LoadU(di, codes + i);
        const auto z =
            hn::BitCast(d, hn::Xor(hn::Add(code, code), hn::ShiftRight<8 * sizeof(I) - 1>(code)));
        hn::StoreU(z, d, block.z + i);
        top = hn::Or(top, z);
      }
      hn::StoreU(top, d, block.tops + half * kPackLanes + lane);
      all = hn::Or(all, top);
    }
    hn::StoreU(all, d, block.all + lane);
  }
  return true;
}
// Returns false if a code needs more than 32 bits.
HWY_INLINE bool zigzag_block(const i64* codes, size_t n, Block<u32>& block) {
  std::array<i32, kPackBlock> narrow;
  bool fits = true;
  for (size_t i = 0; i < n; ++i) {
    narrow[i] = i32(codes[i]);
    fits &= narrow[i] == codes[i];
  }
  return fits && zigzag_block(narrow.data(), n, block);
}

// Calls f(i, mask) for every vector of n values: the mask of values that need more than k bits.
template <class D, class F>
HWY_INLINE void for_each_wider(D d, const hn::TFromD<D>* values, size_t n, size_t k, F&& f) {
  using U = hn::TFromD<D>;
  const hn::RebindToSigned<D> di;
  // Signed numbers are compared, because that is one instruction.
  const auto sign = hn::Set(d, U(U(1) << (8 * sizeof(U) - 1)));
  const auto limit = hn::BitCast(di, hn::Xor(hn::Set(d, U(low_bits(k))), sign));
  for (size_t i = 0; i < n; i += hn::Lanes(d))
    f(i, hn::Gt(hn::BitCast(di, hn::Xor(hn::LoadU(d, values + i), sign)), limit));
}
// Returns a bit for each of 64 values: whether it needs more than k bits.
template <class U>
HWY_INLINE u64 find_wider(const U* values, size_t k) {
  const hn::CappedTag<U, 64 / sizeof(U)> d;
  const hn::RebindToSigned<decltype(d)> di;
  u64 wider = 0;
  for_each_wider(d, values, 64, k, [&](size_t i, auto mask) HWY_ATTR {
    u8 bytes[8];
    hn::StoreMaskBits(di, mask, bytes);
    u32 bits = bytes[0];
    if constexpr (hn::MaxLanes(di) > 8) std::memcpy(&bits, bytes, hn::MaxLanes(di) / 8);
    wider |= u64(bits) << i;
  });
  return wider;
}
template <class U>
HWY_INLINE size_t count_wider(const U (&values)[2 * kPackLanes], size_t k) {
  const hn::CappedTag<U, kPackLanes> d;  // vectors of the same size as those just written
  const hn::RebindToSigned<decltype(d)> di;
  size_t count = 0;
  for_each_wider(d, values, 2 * kPackLanes, k,
                 [&](size_t, auto mask) HWY_ATTR { count += hn::CountTrue(di, mask); });
  return count;
}

struct Choice {
  size_t width, high_bytes = 0, patches = 0;
  std::array<u64, kPackBlock / 64> wider{};  // a bit for each patched value
};

// Chooses a width that takes the fewest bytes, or nearly so. The number of patches is estimated
// from `tops`, and counted for the best width only.
template <class U>
HWY_INLINE Choice choose_width(const Block<U>& block) {
  // The expected number of wider codes if `groups` of 32 groups of eight have one: 256 p, where
  // (1 - p)^8 = 1 - groups / 32. More patches never pay.
  static constexpr std::array<u8, 20> kGuess = {0,  1,  2,  3,  4,  5,  7,  8,  9,  10,
                                                12, 13, 15, 16, 18, 20, 22, 24, 26, 28};
  const size_t widest = block.widest();
  const size_t most_bytes = pack_bytes(block.rows, widest);
  size_t best_width = widest, best_bytes = most_bytes;
  for (size_t width = widest; width-- > 0;) {
    const size_t groups = count_wider(block.tops, width);
    if (groups >= kGuess.size()) break;
    const size_t high_bytes = (widest - width + 7) / 8;
    const size_t bytes = pack_bytes(block.rows, width) + 2 + kGuess[groups] * (1 + high_bytes);
    best_width = bytes < best_bytes ? width : best_width;
    best_bytes = std::min(bytes, best_bytes);
  }
  Choice best{.width = best_width, .high_bytes = (widest - best_width + 7) / 8};
  if (best_width == widest) return best;
  for (size_t i = 0; i < kPackBlock; i += 64) {
    best.wider[i / 64] = find_wider(block.z + i, best_width);
    best.patches += size_t(std::popcount(best.wider[i / 64]));
  }
  const size_t bytes =
      pack_bytes(block.rows, best.width) + 2 + best.patches * (1 + best.high_bytes);
  if (best.patches > 255 || bytes >= most_bytes) return {.width = widest};
  return best;
}

// Writes the high bits of the numbers that need more than the chosen width.
template <class U>
HWY_INLINE u8* put_patches(const Block<U>& block, const Choice& choice, u8* to) {
  *to++ = u8(choice.patches);
  *to++ = u8(choice.high_bytes);
  // A word seldom has more than four wider values: four are always written, without a branch, and
  // superfluous ones are overwritten.
  u8* position = to;
  for (size_t word = 0; word < choice.wider.size(); ++word) {
    u64 rest = choice.wider[word];
    const auto count = size_t(std::popcount(rest));
    for (size_t i = 0; i < std::max<size_t>(count, 4); ++i, rest &= rest - 1)
      position[i] = u8(64 * word + size_t(std::countr_zero(rest)));
    position += count;
  }
  u8* high = position;
  for (; to < position; ++to, high += choice.high_bytes) {
    const u32 above = u32(block.z[*to]) >> choice.width;
    std::memcpy(high, &above, sizeof above);
  }
  return high;
}

template <class I>
HWY_INLINE u8* encode(const I* codes, size_t n, u8* to) {
  Block<std::conditional_t<sizeof(I) == 2, u16, u32>> block;
  for (size_t first = 0; first < n; first += kPackBlock) {
    const size_t count = std::min(kPackBlock, n - first);
    if (!zigzag_block(codes + first, count, block)) {
      *to++ = kPackWide;
      for (size_t i = 0; i < count; ++i, to += 8) {
        const u64 z = zigzag(i64(codes[first + i]));
        std::memcpy(to, &z, 8);
      }
      continue;
    }
    const Choice choice = choose_width(block);
    *to++ = u8(choice.width | (choice.patches > 0 ? kPackPatched : 0));
    if (choice.patches > 0) to = put_patches(block, choice, to);
    if (choice.width == 0) continue;
    to = pack_block(block.z, block.rows, choice.width, to);
  }
  return to;
}

template <class U>
HWY_INLINE void unpack_any(const u8* from, size_t rows, size_t k, U* codes) {
  if (k == 0)
    std::memset(codes, 0, rows * kPackLanes * sizeof(U));
  else
    unpack_block(from, rows, k, codes);
}

u8* encode_16(const i16* codes, size_t n, u8* to) { return encode(codes, n, to); }
u8* encode_32(const i32* codes, size_t n, u8* to) { return encode(codes, n, to); }
u8* encode_64(const i64* codes, size_t n, u8* to) { return encode(codes, n, to); }
void unpack_16(const u8* from, size_t rows, size_t k, u16* codes) {
  unpack_any(from, rows, k, codes);
}
void unpack_32(const u8* from, size_t rows, size_t k, u32* codes) {
  unpack_any(from, rows, k, codes);
}

}  // namespace leeway::pack_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::pack_kernels {
HWY_EXPORT(encode_16);
HWY_EXPORT(encode_32);
HWY_EXPORT(encode_64);
HWY_EXPORT(unpack_16);
HWY_EXPORT(unpack_32);

void unpack(const u8* from, size_t rows, size_t k, u16* codes) {
  HWY_DYNAMIC_DISPATCH(unpack_16)(from, rows, k, codes);
}
void unpack(const u8* from, size_t rows, size_t k, u32* codes) {
  HWY_DYNAMIC_DISPATCH(unpack_32)(from, rows, k, codes);
}
u8* encode_blocks(const i16* codes, size_t n, u8* to) {
  return HWY_DYNAMIC_DISPATCH(encode_16)(codes, n, to);
}
u8* encode_blocks(const i32* codes, size_t n, u8* to) {
  return HWY_DYNAMIC_DISPATCH(encode_32)(codes, n, to);
}
u8* encode_blocks(const i64* codes, size_t n, u8* to) {
  return HWY_DYNAMIC_DISPATCH(encode_64)(codes, n, to);
}

}  // namespace leeway::pack_kernels
#endif
