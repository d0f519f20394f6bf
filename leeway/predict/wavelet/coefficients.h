// SPDX-License-Identifier: BSD-3-Clause
// Coefficients: a decomposed array as codes, and back (wavelet.md, "Codes").
//
// Every band has a step of its own: that of the array over the norm of what a coefficient stands
// for, so that all errors weigh the same. A coefficient gets the nearest code, or the next smaller
// one where that saves more bits than it costs in error.
#pragma once

#include "leeway/predict/wavelet/bands.h"
#include "leeway/stage/codes.h"

namespace leeway::wavelet {

// Replaces coefficients by what decoders will have. `trade` is what a bit is worth, in squared
// steps times 100. Returns false if a coefficient is too large for its step.
template <class C>
bool encode(C* coefficients, const Shape& shape, const Bands& bands, double step, i32 trade,
            AnySink& codes, Writer& notes);
template <class C>
void decode(C* coefficients, const Shape& shape, const Bands& bands, double step, AnySource& codes,
            Reader& notes);

// About the bits that coefficients would cost at a step, times 2^16: a quick measure that compares
// decompositions.
template <class C>
u64 cost(const C* coefficients, const Shape& shape, const Bands& bands, double step);

// Codes are smaller than this.
inline constexpr double kMostCode = 0x1p30;

// The step of a band.
template <class C>
C step_of(const Band& band, double step) {
  return C(step / band.norm);
}

}  // namespace leeway::wavelet
