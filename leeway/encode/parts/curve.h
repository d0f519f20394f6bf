// SPDX-License-Identifier: BSD-3-Clause
// Curve: frequencies of tokens computed from four numbers, for tables whose list of frequencies
// would be longer than what it saves (rans.md, "Curves").
//
// Zeros have a share of their own; sizes of other codes fall off geometrically, a part of them more
// slowly. Integers only: every host makes the same table.
#pragma once

#include <array>
#include <span>

#include "leeway/base/types.h"

namespace leeway {

inline constexpr int kFrequencyBits = 12;
inline constexpr u32 kFrequencySum = 1u << kFrequencyBits;

// How often each token occurs; tokens after the last that occurs may be left out.
using TokenCounts = std::span<const u32>;

// Numbers a quarter of an octave apart: 4, 5, 6, 7, 8, 10, 12, ...
constexpr u64 quarter_octave(u32 step) { return u64(4 + step % 4) << step / 4; }

struct Curve {
  u32 last;   // token that has a frequency, 0 to 255
  u32 zeros;  // how often they are against the others, in quarter octaves from 2^-8 on, 0 to 63
  u32 mean;   // of |q| - 1 over the others, in quarter octaves from 2^-6 on, 0 to 63
  u32 tail;   // how many others fall off more slowly, and how much: 0 to 3
};
inline constexpr int kCurveBits = 8 + 6 + 6 + 2;

// `mantissa`: how many bits of the mantissa tokens of large codes hold (token.md).
std::array<u16, 256> frequencies_of(const Curve& curve, int mantissa);

// Chooses a curve with which the tokens take few bits: by their mean alone, or the best of several.
Curve first_curve(TokenCounts counts, int mantissa);
Curve best_curve(TokenCounts counts, int mantissa);

// The bits, times 2^16, of the tokens with these frequencies; tokens that occur must not have 0.
u64 bits_under(TokenCounts counts, const std::array<u16, 256>& frequencies);

}  // namespace leeway
