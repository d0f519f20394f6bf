// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/token.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/encode/token.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::HWY_NAMESPACE {

// Codes at the front, in blocks of 32, that all have a token of their own; returns how many were
// done.
template <class I>
size_t to_direct(const I* HWY_RESTRICT codes, size_t n, u8* HWY_RESTRICT tokens) {
  constexpr size_t kBlock = 32;
  using U = std::make_unsigned_t<I>;
  size_t done = 0;
  for (; done + kBlock <= n; done += kBlock) {
    U all = 0;
    for (size_t i = 0; i < kBlock; ++i) {
      const auto q = codes[done + i];
      const U z = U((U(q) << 1) ^ U(q >> (8 * sizeof(I) - 1)));
      all |= z;
      tokens[done + i] = u8(z);
    }
    if (all >= kDirectTokens) break;
  }
  return done;
}

template <class I>
size_t from_direct(const u8* HWY_RESTRICT tokens, size_t n, I* HWY_RESTRICT codes) {
  constexpr size_t kBlock = 32;
  size_t done = 0;
  for (; done + kBlock <= n; done += kBlock) {
    u8 all = 0;
    for (size_t i = 0; i < kBlock; ++i) all |= tokens[done + i];
    if (all >= kDirectTokens) break;
    for (size_t i = 0; i < kBlock; ++i) {
      const u8 z = tokens[done + i];
      codes[done + i] = I(i8((z >> 1) ^ -(z & 1)));
    }
  }
  return done;
}

size_t to_direct_32(const i32* codes, size_t n, u8* tokens) { return to_direct(codes, n, tokens); }
size_t to_direct_64(const i64* codes, size_t n, u8* tokens) { return to_direct(codes, n, tokens); }
size_t from_direct_32(const u8* tokens, size_t n, i32* codes) {
  return from_direct(tokens, n, codes);
}
size_t from_direct_64(const u8* tokens, size_t n, i64* codes) {
  return from_direct(tokens, n, codes);
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

size_t to_direct(const i32* codes, size_t n, u8* tokens) {
  return HWY_DYNAMIC_DISPATCH(to_direct_32)(codes, n, tokens);
}
size_t to_direct(const i64* codes, size_t n, u8* tokens) {
  return HWY_DYNAMIC_DISPATCH(to_direct_64)(codes, n, tokens);
}
size_t from_direct(const u8* tokens, size_t n, i32* codes) {
  return HWY_DYNAMIC_DISPATCH(from_direct_32)(tokens, n, codes);
}
size_t from_direct(const u8* tokens, size_t n, i64* codes) {
  return HWY_DYNAMIC_DISPATCH(from_direct_64)(tokens, n, codes);
}

constexpr size_t kStretch = 64;  // values done one by one before the fast loop is tried again

template <class I>
u8 token_of(I code, BitWriter& raw) {
  constexpr int s = kTokenBits<I>;
  const u64 z = zigzag(code);
  if (z < kDirectTokens) return u8(z);
  const int n = std::bit_width(z), low = n - 1 - s;
  raw.put(z & ((u64(1) << low) - 1), low);
  return u8(kDirectTokens + (u32(n - 8) << s) + (u32(z >> low) & ((1u << s) - 1)));
}

template <class I>
I code_of(u8 token, BitReader& raw) {
  constexpr int s = kTokenBits<I>;
  using U = std::make_unsigned_t<I>;
  if (token < kDirectTokens) return unzigzag(U(token));
  const u32 rest = token - kDirectTokens;
  const int n = int(rest >> s) + 8, low = n - 1 - s;
  if (n > int(8 * sizeof(I))) fail_corrupt("token outside the alphabet");
  const u64 top = (u64(1) << s) | (rest & ((1u << s) - 1));
  return unzigzag(U((top << low) | raw.get(low)));
}

template <class I>
void to_tokens(std::span<const I> codes, std::span<u8> tokens, BitWriter& raw) {
  for (size_t i = 0; i < codes.size();) {
    i += to_direct(codes.data() + i, codes.size() - i, tokens.data() + i);
    for (const size_t stop = std::min(codes.size(), i + kStretch); i < stop; ++i)
      tokens[i] = token_of(codes[i], raw);
  }
}

template <class I>
void from_tokens(std::span<const u8> tokens, BitReader& raw, std::span<I> codes) {
  for (size_t i = 0; i < tokens.size();) {
    i += from_direct(tokens.data() + i, tokens.size() - i, codes.data() + i);
    for (const size_t stop = std::min(tokens.size(), i + kStretch); i < stop; ++i)
      codes[i] = code_of<I>(tokens[i], raw);
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
