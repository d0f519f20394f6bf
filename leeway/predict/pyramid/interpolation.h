// SPDX-License-Identifier: BSD-3-Clause
// Interpolation: the first guess at the values of a row (pyramid.md, "Guess").
#pragma once

#include <algorithm>
#include <bit>

#include "leeway/base/buffer.h"
#include "leeway/predict/pyramid/step.h"

namespace leeway::pyramid {

// The next value of the parabola through three, the nearest first.
template <class C>
C beyond(C r0, C r1, C r2) {
  return 3 * (r0 - r1) + r2;
}

// Continues a row beyond its ends: values by a parabola, magnitudes by repetition.
template <class C>
void pad(const Slice<C>& slice, const Part& part, size_t row) {
  C* r = slice.step.numbers + slice.place(part, row);
  u8* s = slice.step.magnitudes + slice.place(part, row);
  const size_t n = part.length();
  r[-1] = n > 2 ? beyond(r[0], r[1], r[2]) : n > 1 ? 2 * r[0] - r[1] : r[0];
  r[n] = n > 2 ? beyond(r[n - 1], r[n - 2], r[n - 3]) : n > 1 ? 2 * r[1] - r[0] : r[0];
  r[n + 1] = n > 1 ? beyond(r[n], r[n - 1], r[n - 2]) : r[0];
  r[-2] = r[-3] = r[-4] = r[-1];
  r[n + 2] = r[n + 3] = r[n + 1];
  s[-1] = s[0];
  s[n] = s[n + 1] = s[n - 1];
}

template <class C>
class Interpolation {
 public:
  // Guesses the rows of a stretch that begins at `at`: interpolated, or from earlier slices where
  // nothing in this one is known. Returns along how many axes, and leaves in the stretch where the
  // magnitudes of the values interpolated from are.
  size_t guess(const Class<C>& points, const Position& at, Stretch& stretch, C* guess,
               float* activity) {
    Known& known = stretch.known;
    known.near = known.all = 0;
    if (points.part.odd == 0) {
      guess_from_slices(points, at, stretch.lines, guess);
      std::fill_n(activity, stretch.lines.lines * stretch.lines.count, 0.0f);
      return 0;
    }
    std::array<Neighbours<C>, kMaxActive> along;
    size_t axes = 0;
    ghosts_count_ = 0;
    for (const Side& side : points.sides())
      along[axes++] = side.axis + 1 == points.part.rank
                          ? along_row(points.slice, side, at, known)
                          : across_rows(points.slice, side, at, stretch.lines, known);
    blend(stretch.lines, along.data(), axes, points.slice.step.inverse, guess, activity);
    known.near = known.all;
    return axes;
  }

 private:
  static Neighbours<C> along_row(const Slice<C>& slice, const Side& side, const Position& at,
                                 Known& known) {
    const Part& part = *side.part;
    const size_t here = slice.place(part, at.row) + at.x;
    const C* b = slice.step.numbers + here;
    known.add(slice.step.magnitudes + here, part.pitch);
    known.add(slice.step.magnitudes + here + 1, part.pitch);
    return {b - 1, b, b + 1, b + 2, part.pitch};
  }

  Neighbours<C> across_rows(const Slice<C>& slice, const Side& side, const Position& at,
                            const Lines& lines, Known& known) {
    const Part& part = *side.part;
    const auto j = std::ptrdiff_t(at.index[side.axis]), n = std::ptrdiff_t(part.extents[side.axis]);
    const size_t here = slice.place(part, row_number(part, at.index)) + at.x;
    const auto row = [&, step = std::ptrdiff_t(side.stride)](std::ptrdiff_t k) -> const C* {
      if (k < 0 || k >= n) return nullptr;
      return slice.step.numbers + std::ptrdiff_t(here) + (k - j) * step;
    };
    const C *a = row(j - 1), *b = row(j), *c = row(j + 1), *d = row(j + 2);
    if (!c) c = ghost(lines, part.pitch, b, a, row(j - 2));
    if (!a) a = ghost(lines, part.pitch, b, c == b ? nullptr : c, d);
    if (!d) d = ghost(lines, part.pitch, c, b, a);
    known.add(slice.step.magnitudes + here, part.pitch);
    if (j + 1 < n) known.add(slice.step.magnitudes + here + side.stride, part.pitch);
    return {a, b, c, d, part.pitch};
  }

  // Rows outside the box, as far apart as those inside: the continuation of the nearest one, two or
  // three rows, null if they do not exist.
  const C* ghost(const Lines& lines, size_t pitch, const C* r0, const C* r1, const C* r2) {
    if (!r1) return r0;
    Buffer<C>& out = ghosts_[ghosts_count_++];
    if (out.size() < lines.lines * pitch + kRowRoom)
      out = Buffer<C>(lines.lines * pitch + kRowRoom);
    for (size_t line = 0; line < lines.lines; ++line)
      for (size_t i = line * pitch, end = i + lines.count; i < end; ++i)
        out[i] = r2 ? beyond(r0[i], r1[i], r2[i]) : 2 * r0[i] - r1[i];
    return out.data();
  }

  // Lorenzo's rule along the frozen axes.
  static void guess_from_slices(const Class<C>& points, const Position& at, const Lines& lines,
                                C* guess) {
    const Slice<C>& slice = points.slice;
    const Polyphase& layout = slice.step.layout;
    const size_t frozen = layout.slices().rank();
    std::fill_n(guess, lines.lines * lines.count, C(0));
    for (u32 set = 1; set < 1u << frozen; ++set) {
      size_t back = 0, stride = layout.slice_size();
      bool inside = true;
      for (size_t axis = frozen; axis-- > 0; stride *= size_t(layout.slices()[axis])) {
        if (!(set >> axis & 1)) continue;
        back += stride;
        inside = inside && slice.index[axis] > 0;
      }
      if (!inside) continue;
      const C sign = std::popcount(set) % 2 ? C(1) : C(-1);
      for (size_t line = 0; line < lines.lines; ++line) {
        const C* from = slice.step.numbers + slice.place(points.part, at.row + line) + at.x - back;
        C* const to = guess + line * lines.count;
        for (size_t i = 0; i < lines.count; ++i) to[i] += sign * from[i];
      }
    }
  }

  std::array<Buffer<C>, 3 * kMaxActive> ghosts_;
  size_t ghosts_count_ = 0;
};

}  // namespace leeway::pyramid
