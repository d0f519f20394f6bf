// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/parts/token.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "leeway/stage/codes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/encode/parts/token.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_ENCODE_TOKEN_BLOCK
#define LEEWAY_ENCODE_TOKEN_BLOCK
namespace leeway::token_kernels {
inline constexpr size_t kBlock = 32;  // tokens looked at together

// The raw bits of the codes of a block, and their numbers.
struct LongTokens {
  std::array<u32, kBlock> raw, low;
  u32 most;  // the largest of `low`
};
// Four numbers of at most this many bits can be handled together.
inline constexpr u32 kFewBits = 14;

// The meaning of a token from kDirectTokens on: how many raw bits follow, and the bits above them.
struct LongForm {
  u32 low, leading;
};
template <class I>
constexpr LongForm long_form(u32 token) {
  constexpr u32 s = kTokenBits<I>;
  const u32 rest = token % kDirectTokens;
  return {(rest >> s) + 7 - s, 1u << s | (rest & ((1u << s) - 1))};
}
}  // namespace leeway::token_kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::token_kernels::HWY_NAMESPACE {

// Converts whole blocks of 32 codes as if all were direct tokens; large[b] is set if block b has a
// code that is not.
template <class I>
void to_direct(const I* HWY_RESTRICT codes, size_t n, u8* HWY_RESTRICT tokens,
               u8* HWY_RESTRICT large) {
  using U = std::make_unsigned_t<I>;
  for (size_t done = 0; done + kBlock <= n; done += kBlock) {
    U all = 0;
    for (size_t i = 0; i < kBlock; ++i) {
      const auto q = codes[done + i];
      const U z = U((U(q) << 1) ^ U(q >> (8 * sizeof(I) - 1)));
      all = U(all | z);
      tokens[done + i] = u8(z);
    }
    large[done / kBlock] = all >= kDirectTokens;
  }
}

// Tokens of a block with large codes.
void to_long(const i32* HWY_RESTRICT codes, u8* HWY_RESTRICT tokens, LongTokens& found) {
  constexpr int s = kTokenBits<i32>;
  u32 most = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const u32 z = (u32(codes[i]) << 1) ^ u32(codes[i] >> 31), half = z >> 1;
    // The exponent of a float is a bit length, if rounding cannot carry to the next power.
    const auto power = float(i32(half & ~(half >> 1)));
    const u32 n = (std::bit_cast<u32>(power) >> 23) - 125;
    const u32 is_long = z >= kDirectTokens && z != ~u32(0) ? ~u32(0) : 0,
              low = (n - 1 - s) & is_long;
    const u32 long_token = kDirectTokens + ((n - 8) << s) + (z >> low & ((1u << s) - 1));
    const u32 short_token = z == ~u32(0) ? u32(kLowestToken<i32>) : z;
    tokens[i] = u8((long_token & is_long) | (short_token & ~is_long));
    found.low[i] = low;
    found.raw[i] = z & ((1u << low) - 1);
    most = std::max(most, low);
  }
  found.most = most;
}

template <class I>
void from_direct(const u8* HWY_RESTRICT tokens, size_t n, I* HWY_RESTRICT codes,
                 u8* HWY_RESTRICT large) {
  for (size_t done = 0; done + kBlock <= n; done += kBlock) {
    u8 all = 0;
    for (size_t i = 0; i < kBlock; ++i) all |= tokens[done + i];
    for (size_t i = 0; i < kBlock; ++i) {
      const u8 z = tokens[done + i];
      codes[done + i] = I(i8((z >> 1) ^ -(z & 1)));
    }
    large[done / kBlock] = all >= kDirectTokens;
  }
}

// Handles a block of codes with few raw bits each; returns false and does nothing with others.
template <class I>
bool from_few(const u8* HWY_RESTRICT tokens, BitReader& raw, I* HWY_RESTRICT codes) {
  using Wide = std::conditional_t<sizeof(I) == 2, i32, I>;
  using U = std::make_unsigned_t<Wide>;
  std::array<u8, kBlock> low;
  std::array<u32, kBlock> top, bits;
  u32 most = 0;
  for (size_t i = 0; i < kBlock; ++i) {  // impossible tokens have many bits
    const u32 token = tokens[i], is_long = token >= kDirectTokens ? ~u32(0) : 0;
    const LongForm form = long_form<Wide>(token);
    const u32 n = form.low & is_long;
    top[i] = (form.leading << (n & 15) & is_long) | (token & ~is_long);
    low[i] = u8(n);
    most = std::max(most, n);
  }
  if (most > kFewBits) return false;
  if (!raw.get_run(low.data(), kBlock, [&](size_t i, u64 value) HWY_ATTR { bits[i] = u32(value); }))
    return false;
  U all = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const U z = top[i] | bits[i];
    all |= z;
    codes[i] = I(unzigzag(z));
  }
  if (sizeof(I) == 2 && all > 0xffff) fail_corrupt("a narrow code of more than 16 bits");
  return true;
}
bool from_few_16(const u8* tokens, BitReader& raw, i16* codes) {
  return from_few(tokens, raw, codes);
}
bool from_few_32(const u8* tokens, BitReader& raw, i32* codes) {
  return from_few(tokens, raw, codes);
}
bool from_few_64(const u8* tokens, BitReader& raw, i64* codes) {
  return from_few(tokens, raw, codes);
}

void to_direct_16(const i16* codes, size_t n, u8* tokens, u8* large) {
  to_direct(codes, n, tokens, large);
}
void to_direct_32(const i32* codes, size_t n, u8* tokens, u8* large) {
  to_direct(codes, n, tokens, large);
}
void to_direct_64(const i64* codes, size_t n, u8* tokens, u8* large) {
  to_direct(codes, n, tokens, large);
}
void from_direct_16(const u8* tokens, size_t n, i16* codes, u8* large) {
  from_direct(tokens, n, codes, large);
}
void from_direct_32(const u8* tokens, size_t n, i32* codes, u8* large) {
  from_direct(tokens, n, codes, large);
}
void from_direct_64(const u8* tokens, size_t n, i64* codes, u8* large) {
  from_direct(tokens, n, codes, large);
}

}  // namespace leeway::token_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::token_kernels {
HWY_EXPORT(to_long);
HWY_EXPORT(to_direct_16);
HWY_EXPORT(to_direct_32);
HWY_EXPORT(to_direct_64);
HWY_EXPORT(from_few_16);
HWY_EXPORT(from_few_32);
HWY_EXPORT(from_few_64);
HWY_EXPORT(from_direct_16);
HWY_EXPORT(from_direct_32);
HWY_EXPORT(from_direct_64);
}  // namespace leeway::token_kernels

namespace leeway {
using namespace token_kernels;
namespace {

void to_direct(const i16* codes, size_t n, u8* tokens, u8* large) {
  HWY_DYNAMIC_DISPATCH(to_direct_16)(codes, n, tokens, large);
}
void to_direct(const i32* codes, size_t n, u8* tokens, u8* large) {
  HWY_DYNAMIC_DISPATCH(to_direct_32)(codes, n, tokens, large);
}
void to_direct(const i64* codes, size_t n, u8* tokens, u8* large) {
  HWY_DYNAMIC_DISPATCH(to_direct_64)(codes, n, tokens, large);
}
bool from_few(const u8* tokens, BitReader& raw, i16* codes) {
  return HWY_DYNAMIC_DISPATCH(from_few_16)(tokens, raw, codes);
}
bool from_few(const u8* tokens, BitReader& raw, i32* codes) {
  return HWY_DYNAMIC_DISPATCH(from_few_32)(tokens, raw, codes);
}
bool from_few(const u8* tokens, BitReader& raw, i64* codes) {
  return HWY_DYNAMIC_DISPATCH(from_few_64)(tokens, raw, codes);
}
void from_direct(const u8* tokens, size_t n, i16* codes, u8* large) {
  HWY_DYNAMIC_DISPATCH(from_direct_16)(tokens, n, codes, large);
}
void from_direct(const u8* tokens, size_t n, i32* codes, u8* large) {
  HWY_DYNAMIC_DISPATCH(from_direct_32)(tokens, n, codes, large);
}
void from_direct(const u8* tokens, size_t n, i64* codes, u8* large) {
  HWY_DYNAMIC_DISPATCH(from_direct_64)(tokens, n, codes, large);
}

struct RawBits {
  u64 value;
  int count;
};

// If many codes are large, the form of the next one is hard to predict: so neither form branches.
template <class I>
RawBits token_of(I code, u8& token) {
  constexpr int s = kTokenBits<I>;
  const u64 z = zigzag(code);
  const bool is_large = z >= kDirectTokens, is_lowest = code == std::numeric_limits<I>::min();
  const int n = std::bit_width(z | kDirectTokens), low = is_large && !is_lowest ? n - 1 - s : 0;
  const u32 long_token = kDirectTokens + (u32(n - 8) << s) + (u32(z >> low) & ((1u << s) - 1));
  token = u8(is_lowest ? kLowestToken<I> : is_large ? long_token : u32(z));
  return {z & ((u64(1) << low) - 1), low};
}
// A block with large codes.
template <class I>
void large_to_tokens(const I* codes, u8* tokens, BitWriter& raw) {
  if constexpr (sizeof(I) == 2) {
    std::array<i32, kBlock> wide;
    std::copy_n(codes, kBlock, wide.begin());
    large_to_tokens(wide.data(), tokens, raw);
  } else if constexpr (sizeof(I) == 4) {
    LongTokens found;
    HWY_DYNAMIC_DISPATCH(to_long)(codes, tokens, found);
    const auto number = [&](size_t i) { return RawBits{found.raw[i], int(found.low[i])}; };
    return found.most <= kFewBits ? raw.put_run<4>(kBlock, number) : raw.put_run<1>(kBlock, number);
  } else {
    for (size_t i = 0; i < kBlock; ++i) {
      const auto [value, count] = token_of(codes[i], tokens[i]);
      raw.put(value, count);
    }
  }
}

// For every token: how many raw bits follow, and the bits above them.
template <class I>
struct TokenTable {
  using U = std::make_unsigned_t<I>;
  static constexpr u8 kImpossible = 0xff;
  std::array<u8, 256> low{};
  std::array<U, 256> top{};

  constexpr TokenTable() {
    for (u32 token = 0; token < 256; ++token) {
      const LongForm form = long_form<I>(token);
      if (token < kDirectTokens) {
        top[token] = U(token);
      } else if (token == kLowestToken<I>) {
        top[token] = std::numeric_limits<U>::max();
      } else if (form.low + kTokenBits<I> >= 8 * sizeof(I)) {
        low[token] = kImpossible;
      } else {
        low[token] = u8(form.low);
        top[token] = U(U(form.leading) << form.low);
      }
    }
  }
};

template <class I>
I code_of(u8 token, BitReader& raw) {
  if constexpr (sizeof(I) == 2) {
    const i32 code = code_of<i32>(token, raw);
    if (code != I(code)) fail_corrupt("a narrow code of more than 16 bits");
    return I(code);
  }
  static constexpr TokenTable<I> kTable;
  const u8 low = kTable.low[token];
  if (low == kTable.kImpossible) fail_corrupt("token outside the alphabet");
  return unzigzag(std::make_unsigned_t<I>(kTable.top[token] | raw.get(low)));
}

// Converts whole blocks: first all at once, then one by one the blocks for which that was wrong.
template <class I>
void blocks_to_tokens(const I* codes, size_t count, u8* tokens, BitWriter& raw) {
  std::array<u8, kMostCodes / kBlock> large;
  to_direct(codes, count, tokens, large.data());
  for (size_t i = 0; i < count; i += kBlock)
    if (large[i / kBlock]) large_to_tokens(codes + i, tokens + i, raw);
}
template <class I>
void blocks_from_tokens(const u8* tokens, size_t count, BitReader& raw, I* codes) {
  std::array<u8, kMostCodes / kBlock> large;
  from_direct(tokens, count, codes, large.data());
  for (size_t i = 0; i < count; i += kBlock) {
    if (!large[i / kBlock] || from_few(tokens + i, raw, codes + i)) continue;
    BitReader local = raw;  // in registers
    for (size_t k = i; k < i + kBlock; ++k) codes[k] = code_of<I>(tokens[k], local);
    raw = local;
  }
}

// A last block that is not full is filled up with zeros, which have no raw bits.
template <class I>
void to_tokens(std::span<const I> codes, std::span<u8> tokens, BitWriter& raw) {
  const size_t whole = codes.size() / kBlock * kBlock, rest = codes.size() - whole;
  for (size_t first = 0; first < whole; first += kMostCodes)
    blocks_to_tokens(codes.data() + first, std::min(kMostCodes, whole - first),
                     tokens.data() + first, raw);
  if (rest == 0) return;
  std::array<I, kBlock> last{};
  std::array<u8, kBlock> last_tokens;
  std::copy_n(codes.data() + whole, rest, last.data());
  blocks_to_tokens(last.data(), kBlock, last_tokens.data(), raw);
  std::copy_n(last_tokens.data(), rest, tokens.data() + whole);
}
template <class I>
void from_tokens(std::span<const u8> tokens, BitReader& raw, std::span<I> codes) {
  const size_t whole = tokens.size() / kBlock * kBlock, rest = tokens.size() - whole;
  for (size_t first = 0; first < whole; first += kMostCodes)
    blocks_from_tokens(tokens.data() + first, std::min(kMostCodes, whole - first), raw,
                       codes.data() + first);
  if (rest == 0) return;
  std::array<u8, kBlock> last{};
  std::array<I, kBlock> last_codes;
  std::copy_n(tokens.data() + whole, rest, last.data());
  blocks_from_tokens(last.data(), kBlock, raw, last_codes.data());
  std::copy_n(last_codes.data(), rest, codes.data() + whole);
}

}  // namespace

void tokenize(std::span<const i16> codes, std::span<u8> tokens, BitWriter& raw) {
  to_tokens(codes, tokens, raw);
}
void tokenize(std::span<const i32> codes, std::span<u8> tokens, BitWriter& raw) {
  to_tokens(codes, tokens, raw);
}
void tokenize(std::span<const i64> codes, std::span<u8> tokens, BitWriter& raw) {
  to_tokens(codes, tokens, raw);
}
void detokenize(std::span<const u8> tokens, BitReader& raw, std::span<i16> codes) {
  from_tokens(tokens, raw, codes);
}
void detokenize(std::span<const u8> tokens, BitReader& raw, std::span<i32> codes) {
  from_tokens(tokens, raw, codes);
}
void detokenize(std::span<const u8> tokens, BitReader& raw, std::span<i64> codes) {
  from_tokens(tokens, raw, codes);
}

}  // namespace leeway
#endif
