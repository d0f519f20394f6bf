// SPDX-License-Identifier: BSD-3-Clause
// Blend: the vector code of a pyramid. Rows are interpolated along each new axis by a cubic and the
// directions are blended by how calm each is (pyramid.md, "Guess"); the error to expect gives each
// value its context (pyramid.md, "Context").
#pragma once

#include <array>

#include "leeway/base/types.h"

namespace leeway::pyramid {

// Vector code may read, and in rows of results write, this many values after the end of a row.
inline constexpr size_t kRowRoom = 64;

// Rows that are computed together, and the values in each. Results follow each other without gaps.
struct Lines {
  size_t lines, count;
};

// The neighbours along one axis, at -3, -1, 1 and 3 times the level's stride.
template <class C>
struct Neighbours {
  const C *a, *b, *c, *d;
  size_t pitch;  // from row to row
};

// Magnitudes of codes, min(|code|, 255), of some rows.
struct Magnitudes {
  const u8* first;
  size_t pitch;  // from row to row
};

// The magnitudes that are known before a row: first `near` rows of them, those of the values
// interpolated from, then those of values visited before at the same place.
struct Known {
  static constexpr size_t kMost = 32;
  std::array<Magnitudes, kMost> magnitudes;
  size_t near, all;  // how many rows of magnitudes
  void add(const u8* first, size_t pitch) { magnitudes[all++] = {first, pitch}; }
};

// The expected error is a sum: of the activity, the sums of both kinds of known magnitudes, and a
// constant, each times its weight.
struct ErrorWeights {
  float activity, near, before, constant;
};

// Interpolates along 1 to 4 axes. `inverse_step` is 1 over the level's quantization step.
void blend(const Lines& lines, const Neighbours<float>* along, size_t axes, float inverse_step,
           float* predicted, float* activity);
void blend(const Lines& lines, const Neighbours<double>* along, size_t axes, double inverse_step,
           double* predicted, float* activity);

// The error to expect, in quantization steps and at least 2^-7, and as a context: its class in half
// octaves, counted from `first_context`.
void expect_error(const Lines& lines, const Known& known, const ErrorWeights& weights,
                  const float* activity, u32 first_context, float* expected, u8* contexts);

// The means of both kinds of known magnitudes, for eight values from `x` on.
void mean_magnitudes(const Known& known, size_t line, size_t x, float* near, float* before);

}  // namespace leeway::pyramid
