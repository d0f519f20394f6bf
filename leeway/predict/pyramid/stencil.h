// SPDX-License-Identifier: BSD-3-Clause
// Stencil: which values near a point are known before its row (pyramid.md, "Taps").
#pragma once

#include <vector>

#include "leeway/predict/pyramid/polyphase.h"

namespace leeway {

// A known value near the one to predict.
struct Tap {
  u32 odd;                                       // of the part that holds it
  std::array<std::ptrdiff_t, kMaxActive> shift;  // by active axis, in points of its part
  std::array<std::ptrdiff_t, kMaxRank> back;     // by frozen axis, in slices
  i64 distance;
};

// The nearest `most` values that are known before a row of the part: of the grid, of classes before
// it, of rows before, of slices before.
std::vector<Tap> taps_near(const Polyphase& layout, const Part& part, size_t most);

}  // namespace leeway
