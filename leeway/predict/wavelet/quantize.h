// SPDX-License-Identifier: BSD-3-Clause
// Quantize: rows of coefficients to codes and back.
#pragma once

#include <array>

#include "leeway/base/types.h"

namespace leeway::wavelet {

// A size m, rounded to nearest, becomes m - 1 if the coefficient is less than m + lower[context][m]
// steps; sizes of kTraded - 1 and more share a place.
inline constexpr size_t kTraded = 16;
using Trade = std::array<std::array<float, kTraded>, 256>;

// Sizes at a first glance: |c| / step, of which 0.4 and less above an integer is cut off; at most
// 255. Returns how many are not 0.
template <class C>
[[gnu::visibility("hidden")]] size_t glance(const C* coefficients, size_t count, C inverse, u8* sizes);

// Leaves in the coefficients what codes stand for. Returns false if one is too large.
template <class C>
bool quantize(C* coefficients, size_t count, C step, C inverse, const u8* contexts,
              const Trade& trade, i32* codes, u8* sizes);
// The nearest codes.
template <class C>
bool quantize(C* coefficients, size_t count, C step, C inverse, i32* codes);

template <class C, class I>
void recover(const I* codes, size_t count, C step, C* coefficients);

// The sum of log2(1 + 4 (c / step)^2), times 2^15.
template <class C>
u64 octaves(const C* coefficients, size_t count, C inverse);

}  // namespace leeway::wavelet
