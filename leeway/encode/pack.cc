// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/pack.h"

#include "leeway/encode/token.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/encode/pack.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_ENCODE_PACK_FORMAT
#define LEEWAY_ENCODE_PACK_FORMAT
namespace leeway {

inline constexpr size_t kPackBlock = 256, kPackLanes = 8, kPackRows = kPackBlock / kPackLanes;
inline constexpr u8 kPackPatched = 0x40, kPackWide = 0x80;

constexpr size_t pack_bytes(size_t rows, size_t width) {
  return (rows * width + 31) / 32 * kPackLanes * sizeof(u32);
}

}  // namespace leeway
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<u32, kPackLanes>;  // as many of the eight as the target has

constexpr u32 low_bits(size_t k) { return u32((u64(1) << k) - 1); }

// A block at width k, 1 to 32: the low bits of every value, row after row.
void pack_block(const u32* HWY_RESTRICT z, size_t rows, size_t k, u8* HWY_RESTRICT to) {
  const Lanes d;
  const auto low = hn::Set(d, low_bits(k));
  for (size_t lane = 0; lane < kPackLanes; lane += hn::Lanes(d)) {
    u32* word_to = reinterpret_cast<u32*>(to) + lane;
    auto word = hn::Zero(d);
    size_t used = 0;  // bits of the word
    for (size_t row = 0; row < rows; ++row) {
      const auto value = hn::And(hn::LoadU(d, z + row * kPackLanes + lane), low);
      word = hn::Or(word, hn::ShiftLeftSame(value, int(used)));
      used += k;
      if (used < 32) continue;
      hn::StoreU(word, d, word_to);
      word_to += kPackLanes;
      used -= 32;
      word = used > 0 ? hn::ShiftRightSame(value, int(k - used)) : hn::Zero(d);
    }
    if (used > 0) hn::StoreU(word, d, word_to);
  }
}
void unpack_block(const u8* HWY_RESTRICT from, size_t rows, size_t k, u32* HWY_RESTRICT codes) {
  const Lanes d;
  const auto low = hn::Set(d, low_bits(k)), one = hn::Set(d, 1u);
  for (size_t lane = 0; lane < kPackLanes; lane += hn::Lanes(d)) {
    const u32* word_from = reinterpret_cast<const u32*>(from) + lane;
    auto word = hn::LoadU(d, word_from);
    size_t used = 0;  // bits of the word
    for (size_t row = 0; row < rows; ++row) {
      auto z = hn::ShiftRightSame(word, int(used));
      used += k;
      if (used > 32 || (used == 32 && row + 1 < rows)) {
        used -= 32;
        word_from += kPackLanes;
        word = hn::LoadU(d, word_from);
        if (used > 0) z = hn::Or(z, hn::ShiftLeftSame(word, int(k - used)));
      }
      z = hn::And(z, low);
      const auto sign = hn::Sub(hn::Zero(d), hn::And(z, one));
      hn::StoreU(hn::Xor(hn::ShiftRight<1>(z), sign), d, codes + row * kPackLanes + lane);
    }
  }
}

// zigzag of n codes, filled up to whole rows with zeros. `tops` gets the "or" of every lane of
// every quarter of the block.
struct Block {
  alignas(32) u32 z[kPackBlock];
  alignas(32) u32 tops[4 * kPackLanes];
  size_t rows;
};

void zigzag_block(const i32* codes, size_t n, Block& block) {
  const Lanes d;
  const hn::RebindToSigned<Lanes> di;
  const size_t whole = n / kPackLanes;
  block.rows = (n + kPackLanes - 1) / kPackLanes;
  if (whole < block.rows) {
    std::memset(block.z + whole * kPackLanes, 0, kPackLanes * sizeof(u32));
    for (size_t i = whole * kPackLanes; i < n; ++i) block.z[i] = zigzag(codes[i]);
  }
  const auto zigzag_row = [&](size_t i) HWY_ATTR {
    const auto code = hn::LoadU(di, codes + i);
    const auto z = hn::BitCast(d, hn::Xor(hn::Add(code, code), hn::ShiftRight<31>(code)));
    hn::StoreU(z, d, block.z + i);
    return z;
  };
  constexpr size_t kQuarter = kPackRows / 4;
  for (size_t lane = 0; lane < kPackLanes; lane += hn::Lanes(d))
    for (size_t quarter = 0; quarter < 4; ++quarter) {
      auto top = hn::Zero(d);
      const size_t first = quarter * kQuarter;
      if (first + kQuarter <= whole) {
        for (size_t row = first; row < first + kQuarter; ++row)
          top = hn::Or(top, zigzag_row(row * kPackLanes + lane));
      } else {
        for (size_t row = first; row < std::min(whole, first + kQuarter); ++row)
          top = hn::Or(top, zigzag_row(row * kPackLanes + lane));
        if (whole < block.rows && whole >= first && whole < first + kQuarter)
          top = hn::Or(top, hn::LoadU(d, block.z + whole * kPackLanes + lane));
      }
      hn::StoreU(top, d, block.tops + quarter * kPackLanes + lane);
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

// A bit for each of n values, at most 64, that needs more than k bits; k < 32.
HWY_INLINE u64 find_wider(const u32* values, size_t n, size_t k) {
  const Lanes d;
  const hn::RebindToSigned<Lanes> di;
  // Compared as signed numbers: that is one instruction.
  const auto sign = hn::Set(d, u32(1) << 31);
  const auto limit = hn::BitCast(di, hn::Xor(hn::Set(d, low_bits(k)), sign));
  u64 wider = 0;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto value = hn::BitCast(di, hn::Xor(hn::LoadU(d, values + i), sign));
    u8 bits[8];
    hn::StoreMaskBits(di, hn::Gt(value, limit), bits);
    wider |= u64(bits[0]) << i;
  }
  return wider;
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
    const auto groups = size_t(std::popcount(find_wider(block.tops, 4 * kPackLanes, width)));
    if (groups >= kGuess.size()) break;
    const size_t high_bytes = (widest - width + 7) / 8;
    const size_t bytes = pack_bytes(block.rows, width) + 2 + kGuess[groups] * (1 + high_bytes);
    if (bytes < best_bytes) {
      best = {.width = width, .high_bytes = high_bytes};
      best_bytes = bytes;
    }
  }
  if (best.width == widest) return best;
  for (size_t i = 0; i < block.rows * kPackLanes; i += 64) {
    const size_t n = std::min<size_t>(64, block.rows * kPackLanes - i);
    best.wider[i / 64] = find_wider(block.z + i, n, best.width);
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
    pack_block(block.z, block.rows, choice.width, to);
    to += pack_bytes(block.rows, choice.width);
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
  const size_t rows = (n + kPackLanes - 1) / kPackLanes;
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
