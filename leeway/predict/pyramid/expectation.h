// SPDX-License-Identifier: BSD-3-Clause
// Expectation: the error to expect, from the activity of a value and from the magnitudes of known
// codes around it; the weights are learned on the way (pyramid.md, "Context" and "Learning").
#pragma once

#include "leeway/predict/pyramid/step.h"

namespace leeway::pyramid {

inline constexpr size_t kGroup = LeastSquares<float>::kSampleGroup;
// Learned from: the activity, the mean of the near magnitudes, the mean of those before, and 1.
inline constexpr size_t kExpectedFrom = 4;
// One group of values in this many is learned from: at first, and when enough is known.
inline constexpr size_t kExpectedEveryFirst = 4, kExpectedEvery = 64;
inline constexpr u32 kTopContexts = 192;

// Whether any class has enough values for a first solution: one of kExpectedEveryFirst groups is
// learned from, and a row may have one more than its share.
inline bool can_learn_expectations(const Tiles& tiles) {
  const Shape& shape = tiles.shapes[0];
  u64 largest = 1, longest = 1;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    const u64 n = tiles.active >> axis & 1 ? (shape[axis] + 1) / 2 : shape[axis];
    largest *= n;
    longest = std::max(longest, n);
  }
  return largest / kExpectedEveryFirst + longest + kGroup >= LeastSquares<float>::kSolveEvery;
}

// Adds the magnitudes in rows and slices before a row; near ones count twice.
template <class C>
void add_known_before(const Class<C>& points, const Position& at, Known& known) {
  const Slice<C>& slice = points.slice;
  const Part& part = points.part;
  const Polyphase& layout = slice.step.layout;
  const u8* magnitudes = slice.step.magnitudes + slice.place(part, at.row) + at.x;
  const size_t rank = slice.step.rank;
  size_t stride = part.pitch;
  for (size_t axis = rank - 1; axis-- > 0; stride *= part.extents[axis]) {
    if (at.index[axis] == 0 || (points.is_by_planes && axis + 2 == rank)) continue;
    for (const std::ptrdiff_t x : {0, 0, -1, 1})
      known.add(magnitudes - std::ptrdiff_t(stride) + x, part.pitch);
  }
  stride = layout.slice_size();
  for (size_t axis = layout.slices().rank(); axis-- > 0; stride *= size_t(layout.slices()[axis])) {
    if (slice.index[axis] == 0 || known.all + 3 > Known::kMost) continue;
    known.add(magnitudes - stride, part.pitch);
    known.add(magnitudes - stride, part.pitch);
    if (slice.index[axis] > 1) known.add(magnitudes - 2 * stride, part.pitch);
  }
}

// The weights were learned for means of magnitudes; these are for sums.
inline ErrorWeights error_weights(const Learner<float>& expectation, const Known& known) {
  const auto near = float(known.near), before = float(known.all - known.near);
  const float per_near = near > 0 ? 1 / near : 0, per_before = before > 0 ? 1 / before : 0;
  if (!expectation.squares.is_ready()) {
    const float each = known.all > 0 ? 1 / float(known.all) : 0;
    return {0.2f, each, each, 0};
  }
  const auto& w = expectation.squares.weights();
  return {w[0], w[1] * per_near, w[2] * per_before, w[3]};
}

// The first of the contexts of points that are interpolated along this many axes.
inline u32 first_context(size_t level, size_t axes) {
  return axes == 0 ? kTopContexts : u32(32 * (std::min<size_t>(level, 2) * 2 + (axes > 1)));
}

// Learns from a row of a stretch whose codes have these magnitudes.
template <class C>
void learn_expectation(Learner<float>& expectation, const Stretch& stretch, size_t line,
                       const BandValues<C>& band, const u8* magnitudes) {
  const size_t every = expectation.squares.is_full() ? kExpectedEvery : kExpectedEveryFirst;
  const size_t turn = 5 * expectation.rows++ & (every - 1);  // `every` is a power of two
  const size_t count = stretch.lines.count;
  std::array<float, kGroup> near, before, magnitude;
  for (size_t g = turn; (g + 1) * kGroup <= count; g += every) {
    const size_t x = g * kGroup, first = stretch.first + line * count + x;
    mean_magnitudes(stretch.known, line, x, near.data(), before.data());
    for (size_t i = 0; i < kGroup; ++i) magnitude[i] = float(magnitudes[x + i]);
    static constexpr std::array<float, kGroup> kOnes{1, 1, 1, 1, 1, 1, 1, 1}, kZeros{};
    const std::array<const float*, kExpectedFrom> features{
        band.activity.data() + first, near.data(), before.data(), kOnes.data()};
    const float* const expected = band.expected.data() + first;
    expectation.squares.sample(
        {features.data(), kZeros.data(), expected, magnitude.data(), expected, 0, 1.0f});
  }
}

}  // namespace leeway::pyramid
