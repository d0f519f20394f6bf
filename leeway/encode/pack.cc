// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/pack.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "leeway/encode/token.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/encode/pack.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_ENCODE_PACK_FORMAT
#define LEEWAY_ENCODE_PACK_FORMAT
namespace leeway {

inline constexpr size_t kPackBlock = 256, kPackLanes = 16, kPackRows = kPackBlock / kPackLanes;
inline constexpr u8 kPackPatched = 0x40, kPackWide = 0x80;

constexpr size_t rows_of(size_t n) { return (n + kPackLanes - 1) / kPackLanes; }
// Of rows at a width of at most 16 bits.
constexpr size_t part_bytes(size_t rows, size_t width) {
  return (rows * width + 15) / 16 * kPackLanes * sizeof(u16);
}
// Of rows at any width: above 16 bits, the low halves come first.
constexpr size_t pack_bytes(size_t rows, size_t width) {
  return width <= 16 ? part_bytes(rows, width)
                     : part_bytes(rows, 16) + part_bytes(rows, width - 16);
}

}  // namespace leeway
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::CappedTag<u16, kPackLanes>;  // as many of the lanes as the target has
using Lanes = hn::CappedTag<u32, kPackLanes>;

constexpr u32 low_bits(size_t k) { return u32((u64(1) << k) - 1); }

// 16 rows of values below 2^k, one behind the other in every lane. Written out for every width,
// because a loop would branch differently for each.
template <size_t k>
struct Rows {
  static constexpr size_t shift(size_t row) { return row * k % 16; }
  template <size_t row, class V>
  static HWY_INLINE void pack_row(const u16* values, V& word, u16*& to) {
    const Words d;
    const auto value = hn::LoadU(d, values + row * kPackLanes);
    word = shift(row) == 0 ? value : hn::Or(word, hn::ShiftLeft<shift(row)>(value));
    if constexpr (shift(row) + k >= 16) {
      hn::StoreU(word, d, to);
      to += kPackLanes;
      if constexpr (shift(row) + k > 16) word = hn::ShiftRight<16 - shift(row)>(value);
    }
  }
  template <size_t row, class V>
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
  template <size_t... row>
  static HWY_INLINE void unpack(const u16* from, u16* values, std::index_sequence<row...>) {
    const Words d;
    for (size_t lane = 0; lane < kPackLanes; lane += hn::Lanes(d)) {
      auto word = hn::Zero(d);
      const u16* next = from + lane;
      (unpack_row<row>(next, word, values + lane), ...);
    }
  }
  static void pack_all(const u16* HWY_RESTRICT values, u16* HWY_RESTRICT to) {
    pack(values, to, std::make_index_sequence<kPackRows>());
  }
  static void unpack_all(const u16* HWY_RESTRICT from, u16* HWY_RESTRICT values) {
    unpack(from, values, std::make_index_sequence<kPackRows>());
  }
};

using PackAll = void (*)(const u16*, u16*);
template <size_t... i>
constexpr std::array<PackAll, 16> packers(std::index_sequence<i...>) {
  return {Rows<i + 1>::pack_all...};
}
template <size_t... i>
constexpr std::array<PackAll, 16> unpackers(std::index_sequence<i...>) {
  return {Rows<i + 1>::unpack_all...};
}

// The same for fewer rows, in no hurry; it also says what a lane holds.
void pack_some(const u16* values, size_t rows, size_t k, u8* to) {
  std::array<u16, kPackBlock> words{};
  for (size_t i = 0; i < rows * kPackLanes; ++i) {
    const size_t bit = i / kPackLanes * k, word = bit / 16 * kPackLanes + i % kPackLanes;
    const u32 value = u32(values[i]) << bit % 16;
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

// Bits [low, low + k) of every z, k from 1 to 16.
u8* pack_part(const u32* HWY_RESTRICT z, size_t rows, size_t low, size_t k, u8* to) {
  const Lanes d;
  const hn::Rebind<u16, Lanes> dh;
  const hn::RebindToSigned<Lanes> di;
  alignas(64) u16 values[kPackBlock];
  const auto mask = hn::Set(d, low_bits(k));
  for (size_t i = 0; i < rows * kPackLanes; i += hn::Lanes(d)) {
    const auto part = hn::And(hn::ShiftRightSame(hn::LoadU(d, z + i), int(low)), mask);
    hn::StoreU(hn::DemoteTo(dh, hn::BitCast(di, part)), dh, values + i);
  }
  static constexpr auto kPackers = packers(std::make_index_sequence<16>());
  if (rows == kPackRows)
    kPackers[k - 1](values, reinterpret_cast<u16*>(to));
  else
    pack_some(values, rows, k, to);
  return to + part_bytes(rows, k);
}
// A block at width k, 1 to 32.
u8* pack_block(const u32* z, size_t rows, size_t k, u8* to) {
  if (k <= 16) return pack_part(z, rows, 0, k, to);
  return pack_part(z, rows, 16, k - 16, pack_part(z, rows, 0, 16, to));
}

void unpack_part(const u8* from, size_t rows, size_t k, u16* values) {
  static constexpr auto kUnpackers = unpackers(std::make_index_sequence<16>());
  if (rows == kPackRows)
    kUnpackers[k - 1](reinterpret_cast<const u16*>(from), values);
  else
    unpack_some(from, rows, k, values);
}
void unpack_block(const u8* from, size_t rows, size_t k, u32* HWY_RESTRICT codes) {
  const Lanes d;
  const hn::Rebind<u16, Lanes> dh;
  alignas(64) u16 low[kPackBlock], high[kPackBlock];
  unpack_part(from, rows, std::min<size_t>(k, 16), low);
  if (k > 16) unpack_part(from + part_bytes(rows, 16), rows, k - 16, high);
  if (k <= 16) {  // codes of 16 bits, too
    const hn::RebindToSigned<Lanes> di;
    const hn::RebindToSigned<decltype(dh)> dhi;
    const auto one = hn::Set(dh, u16(1));
    for (size_t i = 0; i < rows * kPackLanes; i += hn::Lanes(d)) {
      const auto z = hn::LoadU(dh, low + i);
      const auto sign = hn::Sub(hn::Zero(dh), hn::And(z, one));
      const auto code = hn::BitCast(dhi, hn::Xor(hn::ShiftRight<1>(z), sign));
      hn::StoreU(hn::BitCast(d, hn::PromoteTo(di, code)), d, codes + i);
    }
    return;
  }
  const auto one = hn::Set(d, 1u);
  for (size_t i = 0; i < rows * kPackLanes; i += hn::Lanes(d)) {
    const auto z = hn::Or(hn::PromoteTo(d, hn::LoadU(dh, low + i)),
                          hn::ShiftLeft<16>(hn::PromoteTo(d, hn::LoadU(dh, high + i))));
    const auto sign = hn::Sub(hn::Zero(d), hn::And(z, one));
    hn::StoreU(hn::Xor(hn::ShiftRight<1>(z), sign), d, codes + i);
  }
}

// zigzag of n codes, filled up with zeros. `tops` gets the "or" of every lane of both halves of
// the block: of 32 groups of eight.
struct Block {
  alignas(64) u32 z[kPackBlock];
  alignas(64) u32 tops[2 * kPackLanes];
  size_t rows;
};

void zigzag_block(const i32* codes, size_t n, Block& block) {
  const Lanes d;
  const hn::RebindToSigned<Lanes> di;
  block.rows = rows_of(n);
  alignas(64) i32 filled[kPackBlock];
  if (n < kPackBlock) {
    std::copy_n(codes, n, filled);
    std::fill(filled + n, filled + kPackBlock, 0);
    codes = filled;
  }
  constexpr size_t kHalf = kPackBlock / 2;
  for (size_t half = 0; half < 2; ++half)
    for (size_t lane = 0; lane < kPackLanes; lane += hn::Lanes(d)) {
      auto top = hn::Zero(d);
      for (size_t i = half * kHalf + lane; i < (half + 1) * kHalf; i += kPackLanes) {
        const auto code = hn::LoadU(di, codes + i);
        const auto z = hn::BitCast(d, hn::Xor(hn::Add(code, code), hn::ShiftRight<31>(code)));
        hn::StoreU(z, d, block.z + i);
        top = hn::Or(top, z);
      }
      hn::StoreU(top, d, block.tops + half * kPackLanes + lane);
    }
}
// Says false if a code does not fit 32 bits.
bool zigzag_block(const i64* codes, size_t n, Block& block) {
  std::array<i32, kPackBlock> narrow;
  bool fits = true;
  for (size_t i = 0; i < n; ++i) {
    narrow[i] = i32(codes[i]);
    fits &= narrow[i] == codes[i];
  }
  if (fits) zigzag_block(narrow.data(), n, block);
  return fits;
}

// Calls f(i, mask) for vectors of n values: which of them need more than k bits; k < 32.
template <class F>
HWY_INLINE void for_each_wider(const u32* values, size_t n, size_t k, F&& f) {
  const Lanes d;
  const hn::RebindToSigned<Lanes> di;
  // Compared as signed numbers: that is one instruction.
  const auto sign = hn::Set(d, u32(1) << 31);
  const auto limit = hn::BitCast(di, hn::Xor(hn::Set(d, low_bits(k)), sign));
  for (size_t i = 0; i < n; i += hn::Lanes(d))
    f(i, hn::Gt(hn::BitCast(di, hn::Xor(hn::LoadU(d, values + i), sign)), limit));
}
// A bit for each of 64 values.
HWY_INLINE u64 find_wider(const u32* values, size_t k) {
  const hn::RebindToSigned<Lanes> di;
  u64 wider = 0;
  for_each_wider(values, 64, k, [&](size_t i, auto mask) HWY_ATTR {
    u8 bytes[8];
    hn::StoreMaskBits(di, mask, bytes);
    u16 bits = bytes[0];
    if constexpr (hn::MaxLanes(di) == 16) std::memcpy(&bits, bytes, sizeof bits);
    wider |= u64(bits) << i;
  });
  return wider;
}
HWY_INLINE size_t count_wider(const u32* values, size_t n, size_t k) {
  const hn::RebindToSigned<Lanes> di;
  size_t count = 0;
  for_each_wider(values, n, k,
                 [&](size_t, auto mask) HWY_ATTR { count += hn::CountTrue(di, mask); });
  return count;
}

struct Choice {
  size_t width, high_bytes = 0, patches = 0;
  std::array<u64, kPackBlock / 64> wider{};  // a bit for each patched value
};

// The width that takes the fewest bytes, or nearly so. How many codes would be patched is guessed
// from `tops` and counted for the best guess only.
Choice choose_width(const Block& block) {
  // If so many of 32 groups of eight have a wider code, there are probably so many: 32 x 8 p with
  // (1 - p)^8 = 1 - groups / 32. More than this never pay.
  constexpr std::array<u8, 20> kGuess = {0,  1,  2,  3,  4,  5,  7,  8,  9,  10,
                                         12, 13, 15, 16, 18, 20, 22, 24, 26, 28};
  u32 all = 0;
  for (const u32 top : block.tops) all |= top;
  Choice best{.width = size_t(std::bit_width(all))};
  const size_t widest = best.width;
  size_t best_bytes = pack_bytes(block.rows, widest);
  for (size_t width = widest; width-- > 0;) {
    const size_t groups = count_wider(block.tops, 2 * kPackLanes, width);
    if (groups >= kGuess.size()) break;
    const size_t high_bytes = (widest - width + 7) / 8;
    const size_t bytes = pack_bytes(block.rows, width) + 2 + kGuess[groups] * (1 + high_bytes);
    if (bytes < best_bytes) {
      best = {.width = width, .high_bytes = high_bytes};
      best_bytes = bytes;
    }
  }
  if (best.width == widest) return best;
  for (size_t i = 0; i < kPackBlock; i += 64) {
    best.wider[i / 64] = find_wider(block.z + i, best.width);
    best.patches += size_t(std::popcount(best.wider[i / 64]));
  }
  const size_t bytes =
      pack_bytes(block.rows, best.width) + 2 + best.patches * (1 + best.high_bytes);
  if (best.patches > 255 || bytes >= pack_bytes(block.rows, widest)) return {.width = widest};
  return best;
}

// The high parts of the z that need more than the chosen width.
u8* put_patches(const Block& block, const Choice& choice, u8* to) {
  *to++ = u8(choice.patches);
  *to++ = u8(choice.high_bytes);
  u8* high = to + choice.patches;
  for (size_t word = 0; word < choice.wider.size(); ++word)
    for (u64 rest = choice.wider[word]; rest != 0; rest &= rest - 1) {
      const size_t i = 64 * word + size_t(std::countr_zero(rest));
      const u32 above = block.z[i] >> choice.width;
      *to++ = u8(i);
      std::memcpy(high, &above, sizeof above);  // the bytes too many are written again
      high += choice.high_bytes;
    }
  return high;
}

template <class I>
u8* encode(const I* codes, size_t n, u8* to) {
  Block block;
  for (size_t first = 0; first < n; first += kPackBlock) {
    const size_t count = std::min(kPackBlock, n - first);
    bool narrow = true;
    if constexpr (sizeof(I) == 8)
      narrow = zigzag_block(codes + first, count, block);
    else
      zigzag_block(codes + first, count, block);
    if (!narrow) {
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

void unpack(const u8* from, size_t rows, size_t k, u32* codes) {
  if (k == 0)
    std::memset(codes, 0, rows * kPackLanes * sizeof(u32));
  else
    unpack_block(from, rows, k, codes);
}

u8* encode_32(const i32* codes, size_t n, u8* to) { return encode(codes, n, to); }
u8* encode_64(const i64* codes, size_t n, u8* to) { return encode(codes, n, to); }

}  // namespace leeway::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway {
namespace {

HWY_EXPORT(encode_32);
HWY_EXPORT(encode_64);
HWY_EXPORT(unpack);

u8* encode_blocks(const i32* codes, size_t n, u8* to) {
  return HWY_DYNAMIC_DISPATCH(encode_32)(codes, n, to);
}
u8* encode_blocks(const i64* codes, size_t n, u8* to) {
  return HWY_DYNAMIC_DISPATCH(encode_64)(codes, n, to);
}

template <class I>
class PackSink final : public BlockSink<I, kPackBlock> {
 public:
  explicit PackSink(Writer& out) : BlockSink<I, kPackBlock>(kPackBlock), out_(out) {}

 private:
  void encode(I* codes, size_t count) override {
    const size_t start = out_.size(), blocks = (count + kPackBlock - 1) / kPackBlock;
    u8* const to = out_.extend(blocks * (1 + kPackBlock * sizeof(I))).data();
    out_.truncate(start + size_t(encode_blocks(codes, count, to) - to));
  }
  Writer& out_;
};

struct PatchList {
  ByteView positions, highs;
  size_t high_bytes = 1;
};

PatchList read_patches(Reader& in, size_t n, size_t width) {
  PatchList patches;
  const size_t count = in.get<u8>();
  patches.high_bytes = in.get<u8>();
  if (count == 0 || patches.high_bytes < 1 || patches.high_bytes > 4)
    fail_corrupt("impossible patches of a block");
  if (width + 8 * (patches.high_bytes - 1) >= 32) fail_corrupt("patches of a block are too wide");
  patches.positions = in.take(count);
  patches.highs = in.take(count * patches.high_bytes);
  for (size_t i = 0; i < count; ++i)
    if (patches.positions[i] >= n || (i > 0 && patches.positions[i] <= patches.positions[i - 1]))
      fail_corrupt("a patch lies outside its block");
  return patches;
}

// The code that has these high bits, too.
i32 with_high_bits(i32 code, u32 high, size_t width) {
  if (high == 0 || (width > 0 && high >> (32 - width) != 0)) fail_corrupt("impossible patch");
  return unzigzag(zigzag(code) | high << width);
}

// The next block, of n codes.
template <class I>
void decode_block(Reader& in, I* codes, size_t n) {
  const size_t rows = rows_of(n);
  const u8 head = in.get<u8>();
  if (head == kPackWide && sizeof(I) == 8) {
    for (size_t i = 0; i < n; ++i) codes[i] = I(unzigzag(in.get<u64>()));
    return;
  }
  const size_t width = head & 0x3f;
  if (head & kPackWide || width > 32) fail_corrupt("impossible width of a block");
  PatchList patches;
  if (head & kPackPatched) patches = read_patches(in, n, width);
  const ByteView words = in.take(pack_bytes(rows, width));
  // Straight to the codes where the block is whole and they are of the same width.
  std::array<u32, kPackBlock> block;
  const bool direct = sizeof(I) == 4 && n == kPackBlock;
  u32* const to = direct ? reinterpret_cast<u32*>(codes) : block.data();
  HWY_DYNAMIC_DISPATCH(unpack)(words.data(), rows, width, to);
  for (size_t i = 0; i < patches.positions.size(); ++i) {
    u32 high = 0;
    for (size_t k = patches.high_bytes; k-- > 0;)
      high = high << 8 | patches.highs[i * patches.high_bytes + k];
    u32& code = to[patches.positions[i]];
    code = u32(with_high_bits(i32(code), high, width));
  }
  if (!direct)
    for (size_t i = 0; i < n; ++i) codes[i] = I(i32(block[i]));
}

template <class I>
class PackSource final : public BlockSource<I, kPackBlock> {
 public:
  PackSource(Reader& in, size_t count) : BlockSource<I, kPackBlock>(kPackBlock, count), in_(in) {}

 private:
  void decode(I* codes, size_t count) override {
    for (size_t first = 0; first < count; first += kPackBlock)
      decode_block(in_, codes + first, std::min(kPackBlock, count - first));
  }
  Reader& in_;
};

}  // namespace

template <class I>
std::unique_ptr<CodeSink<I>> Pack::sink(size_t, Writer& out) const {
  return std::make_unique<PackSink<I>>(out);
}
template <class I>
std::unique_ptr<CodeSource<I>> Pack::source(Reader& in, size_t count) const {
  return std::make_unique<PackSource<I>>(in, count);
}
template std::unique_ptr<CodeSink<i32>> Pack::sink<i32>(size_t, Writer&) const;
template std::unique_ptr<CodeSink<i64>> Pack::sink<i64>(size_t, Writer&) const;
template std::unique_ptr<CodeSource<i32>> Pack::source<i32>(Reader&, size_t) const;
template std::unique_ptr<CodeSource<i64>> Pack::source<i64>(Reader&, size_t) const;

}  // namespace leeway
#endif
