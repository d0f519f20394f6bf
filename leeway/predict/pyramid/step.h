// SPDX-License-Identifier: BSD-3-Clause
// Step, slice, class, stretch: where a walk is, from the outside to the inside. Each refers to the
// one around it, so whoever has a class has its slice and its step.
#pragma once

#include "leeway/predict/pyramid/blend.h"
#include "leeway/predict/pyramid/memory.h"
#include "leeway/predict/pyramid/stencil.h"
#include "leeway/predict/pyramid/tiles.h"
#include "leeway/stage/codes.h"

namespace leeway::pyramid {

// The values of a box that a level adds, and what is known about that level.
template <class C>
struct Step {
  const TileStep& tile;
  const Polyphase& layout;
  size_t rank;     // active axes
  size_t level;    // in the whole array, of which this may be a sample of the coarse levels
  C inverse;       // 1 over the level's quantization step
  C* numbers;      // the values, by the layout
  u8* magnitudes;  // of their codes
  Memory<C>& memory;
  Memory<C>* coarser;  // of the next coarser level, or null
};

// One position along the frozen axes.
template <class C>
struct Slice {
  const Step<C>& step;
  Index index;   // along the frozen axes
  size_t first;  // its first value in the storage

  size_t place(const Part& part, size_t row) const { return first + part.first + row * part.pitch; }
};

// A row of a part, and where in that row.
struct Position {
  Extents index;
  size_t row;  // the number of the row
  size_t x;
};

inline size_t row_number(const Part& part, const Extents& index) {
  size_t row = 0;
  for (size_t axis = 0; axis + 1 < part.rank; ++axis) row = row * part.extents[axis] + index[axis];
  return row;
}

// The part that the points of a class are interpolated from along one axis.
struct Side {
  size_t axis;
  const Part* part;
  size_t stride;  // along the axis
};

// The points of a slice with the same odd coordinates.
template <class C>
class Class {
 public:
  Class(const Slice<C>& slice, const Part& part, Learner<float>& expectation)
      : slice(slice), part(part), expectation(expectation) {
    const Polyphase& layout = slice.step.layout;
    for (size_t axis = 0; axis < layout.rank(); ++axis) {
      if (!(part.odd >> axis & 1)) continue;
      const Part& side = *layout.find(part.odd ^ (1u << axis));
      size_t stride = side.pitch;
      for (size_t k = axis + 1; k + 1 < layout.rank(); ++k) stride *= side.extents[k];
      sides_[sides_count_++] = {axis, &side, stride};
    }
  }
  std::span<const Side> sides() const { return {sides_.data(), sides_count_}; }

  const Slice<C>& slice;
  const Part& part;
  Learner<float>& expectation;
  Learner<C>* learner = nullptr;  // of the weights of taps; null if there are none
  const std::vector<Tap>* taps = nullptr;
  std::array<const Part*, kMostTaps> holders;  // of the taps
  bool is_by_planes = false;                   // whether rows do not need the row before

 private:
  std::array<Side, kMaxActive> sides_;
  size_t sides_count_ = 0;
};

// Rows of a band that have neighbours in the same places.
struct Stretch {
  Lines lines;
  size_t first;  // its first value in the band
  Known known;
};

// What is computed for the values of a band, row after row without gaps. Vector code may write a
// little past the end.
template <class C>
struct BandValues {
  template <class V>
  using Row = std::array<V, kMostCodes + kRowRoom>;
  Row<C> guess, predicted;
  Row<float> activity{}, expected;
  Row<u8> contexts;
};

}  // namespace leeway::pyramid
