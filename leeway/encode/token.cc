// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/token.h"

#include <array>
#include <limits>

#include "leeway/core/codes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/encode/token.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_ENCODE_TOKEN_BLOCK
#define LEEWAY_ENCODE_TOKEN_BLOCK
namespace leeway {
inline constexpr size_t kBlock = 32;  // tokens looked at together
}
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::HWY_NAMESPACE {

// In blocks of 32, as many as there are: every code as if it had a token of its own; large[b] says
// whether one in block b has not.
template <class I>
void to_direct(const I* HWY_RESTRICT codes, size_t n, u8* HWY_RESTRICT tokens,
               u8* HWY_RESTRICT large) {
  using U = std::make_unsigned_t<I>;
  for (size_t done = 0; done + kBlock <= n; done += kBlock) {
    U all = 0;
    for (size_t i = 0; i < kBlock; ++i) {
      const auto q = codes[done + i];
      const U z = U((U(q) << 1) ^ U(q >> (8 * sizeof(I) - 1)));
      all |= z;
      tokens[done + i] = u8(z);
    }
    large[done / kBlock] = all >= kDirectTokens;
  }
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

void to_direct_32(const i32* codes, size_t n, u8* tokens, u8* large) {
  to_direct(codes, n, tokens, large);
}
void to_direct_64(const i64* codes, size_t n, u8* tokens, u8* large) {
  to_direct(codes, n, tokens, large);
}
void from_direct_32(const u8* tokens, size_t n, i32* codes, u8* large) {
  from_direct(tokens, n, codes, large);
}
void from_direct_64(const u8* tokens, size_t n, i64* codes, u8* large) {
  from_direct(tokens, n, codes, large);
}

}  // namespace leeway::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway {
namespace {

HWY_EXPORT(to_direct_32);
HWY_EXPORT(to_direct_64);
HWY_EXPORT(from_direct_32);
HWY_EXPORT(from_direct_64);

void to_direct(const i32* codes, size_t n, u8* tokens, u8* large) {
  HWY_DYNAMIC_DISPATCH(to_direct_32)(codes, n, tokens, large);
}
void to_direct(const i64* codes, size_t n, u8* tokens, u8* large) {
  HWY_DYNAMIC_DISPATCH(to_direct_64)(codes, n, tokens, large);
}
void from_direct(const u8* tokens, size_t n, i32* codes, u8* large) {
  HWY_DYNAMIC_DISPATCH(from_direct_32)(tokens, n, codes, large);
}
void from_direct(const u8* tokens, size_t n, i64* codes, u8* large) {
  HWY_DYNAMIC_DISPATCH(from_direct_64)(tokens, n, codes, large);
}

template <class I>
u8 token_of(I code, BitWriter& raw) {
  constexpr int s = kTokenBits<I>;
  const u64 z = zigzag(code);
  if (z < kDirectTokens) return u8(z);
  if (code == std::numeric_limits<I>::min()) return kLowestToken<I>;
  const int n = std::bit_width(z), low = n - 1 - s;
  raw.put(z & ((u64(1) << low) - 1), low);
  return u8(kDirectTokens + (u32(n - 8) << s) + (u32(z >> low) & ((1u << s) - 1)));
}

template <class I>
I code_of(u8 token, BitReader& raw) {
  constexpr int s = kTokenBits<I>;
  using U = std::make_unsigned_t<I>;
  if (token < kDirectTokens) return unzigzag(U(token));
  if (token == kLowestToken<I>) return std::numeric_limits<I>::min();
  const u32 rest = token - kDirectTokens;
  const int n = int(rest >> s) + 8, low = n - 1 - s;
  if (n > int(8 * sizeof(I))) fail_corrupt("token outside the alphabet");
  const u64 top = (u64(1) << s) | (rest & ((1u << s) - 1));
  return unzigzag(U((top << low) | raw.get(low)));
}

// All at once, then one by one what that was wrong for.
template <class I>
void to_tokens(std::span<const I> codes, std::span<u8> tokens, BitWriter& raw) {
  std::array<u8, kMostCodes / kBlock> large;
  for (size_t first = 0; first < codes.size(); first += kMostCodes) {
    const size_t count = std::min(kMostCodes, codes.size() - first);
    to_direct(codes.data() + first, count, tokens.data() + first, large.data());
    for (size_t i = 0; i < count; i += kBlock) {
      const size_t end = std::min(count, i + kBlock);
      const bool whole = end == i + kBlock;
      if (whole && !large[i / kBlock]) continue;
      for (size_t k = first + i; k < first + end; ++k)
        if (!whole || zigzag(codes[k]) >= kDirectTokens) tokens[k] = token_of(codes[k], raw);
    }
  }
}

template <class I>
void from_tokens(std::span<const u8> tokens, BitReader& raw, std::span<I> codes) {
  std::array<u8, kMostCodes / kBlock> large;
  for (size_t first = 0; first < tokens.size(); first += kMostCodes) {
    const size_t count = std::min(kMostCodes, tokens.size() - first);
    from_direct(tokens.data() + first, count, codes.data() + first, large.data());
    for (size_t i = 0; i < count; i += kBlock) {
      const size_t end = std::min(count, i + kBlock);
      const bool whole = end == i + kBlock;
      if (whole && !large[i / kBlock]) continue;
      for (size_t k = first + i; k < first + end; ++k)
        if (!whole || tokens[k] >= kDirectTokens) codes[k] = code_of<I>(tokens[k], raw);
    }
  }
}

}  // namespace

void tokenize(std::span<const i32> codes, std::span<u8> tokens, BitWriter& raw) {
  to_tokens(codes, tokens, raw);
}
void tokenize(std::span<const i64> codes, std::span<u8> tokens, BitWriter& raw) {
  to_tokens(codes, tokens, raw);
}
void detokenize(std::span<const u8> tokens, BitReader& raw, std::span<i32> codes) {
  from_tokens(tokens, raw, codes);
}
void detokenize(std::span<const u8> tokens, BitReader& raw, std::span<i64> codes) {
  from_tokens(tokens, raw, codes);
}

}  // namespace leeway
#endif
