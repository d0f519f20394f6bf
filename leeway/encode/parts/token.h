// SPDX-License-Identifier: BSD-3-Clause
// Token: codes as one byte each plus raw bits, the alphabet of the entropy coders (token.md).
//
// z = zigzag(q) = 0, 1, 2, 3, ... for q = 0, -1, 1, -2, ...  Small z are their own token. A larger
// z of n bits becomes its bit length, its next s bits, and the other n-1-s bits raw; s is 2 for
// 32-bit codes and 1 for 64-bit ones, so that 256 tokens suffice. The lowest code, which marks a
// value kept exactly, has a token of its own. Narrow codes, of 16 bits, have the tokens of 32-bit
// codes.
#pragma once

#include <span>
#include <vector>

#include "leeway/base/bits.h"
#include "leeway/base/buffer.h"

namespace leeway {

inline constexpr u32 kDirectTokens = 128;

template <class I>
inline constexpr int kTokenBits = sizeof(I) == 8 ? 1 : 2;  // bits of the mantissa in the token

// The token of the lowest code, after those of all bit lengths.
template <class I>
inline constexpr u8 kLowestToken = u8(kDirectTokens + ((8 * sizeof(I) - 7) << kTokenBits<I>));

// tokens.size() == codes.size().
void tokenize(std::span<const i16> codes, std::span<u8> tokens, BitWriter& raw);
void tokenize(std::span<const i32> codes, std::span<u8> tokens, BitWriter& raw);
void tokenize(std::span<const i64> codes, std::span<u8> tokens, BitWriter& raw);
// The inverse; throws if raw bits are missing.
void detokenize(std::span<const u8> tokens, BitReader& raw, std::span<i16> codes);
void detokenize(std::span<const u8> tokens, BitReader& raw, std::span<i32> codes);
void detokenize(std::span<const u8> tokens, BitReader& raw, std::span<i64> codes);

}  // namespace leeway
