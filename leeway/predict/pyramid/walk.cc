// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/pyramid/walk.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "leeway/predict/pyramid.h"
#include "leeway/predict/pyramid/expectation.h"
#include "leeway/predict/pyramid/interpolation.h"
#include "leeway/predict/pyramid/taps.h"

namespace leeway {
namespace pyramid {
namespace {

template <class C>
class Walk final : public PyramidWalk<C> {
 public:
  Walk(const Pyramid& pyramid, const Tiles& tiles, double quantization_step)
      : Walk(pyramid, quantization_step, std::popcount(tiles.active) > 2,
             can_learn_expectations(tiles), std::make_shared<Memories<C>>(tiles.memories)) {}
  Walk(const Pyramid& pyramid, double quantization_step, bool is_solid, bool learns_expectations,
       std::shared_ptr<Memories<C>> memories)
      : pyramid_(pyramid),
        quantization_step_(quantization_step),
        is_solid_(is_solid),
        learns_expectations_(learns_expectations),
        memories_(std::move(memories)),
        taps_(size_t(pyramid.params.taps), size_t(pyramid.params.every)) {}

  std::unique_ptr<PyramidWalk<C>> another() const override {
    return std::make_unique<Walk>(pyramid_, quantization_step_, is_solid_, learns_expectations_,
                                  memories_);
  }

  void walk(const TileStep& tile, const Polyphase& layout, C* numbers, u8* magnitudes,
            PyramidRows<C>& rows) override {
    Memory<C> of_top;
    if (!tile.is_top && !(*memories_)[tile.memory])
      (*memories_)[tile.memory] = std::make_unique_for_overwrite<Memory<C>>();
    const Step<C> step{
        .tile = tile,
        .layout = layout,
        .rank = layout.rank(),
        .level = tile.level + pyramid_.first_level,
        .inverse = C(1 / (quantization_step_ * pyramid_.tightening(tile.level))),
        .numbers = numbers,
        .magnitudes = magnitudes,
        .memory = tile.is_top ? of_top : *(*memories_)[tile.memory],
        .coarser = tile.coarser ? (*memories_)[*tile.coarser].get() : nullptr,
    };
    size_t first = 0;
    for_each_outer(layout.slices(), 0, [&](const Index& index) {
      walk_slice({step, index, first}, rows);
      first += layout.slice_size();
    });
    if (!tile.is_tile) return;
    if (tile.level > 0)
      step.memory.settle();
    else
      (*memories_)[tile.memory].reset();
  }

 private:
  void walk_slice(const Slice<C>& slice, PyramidRows<C>& rows) {
    const Polyphase& layout = slice.step.layout;
    const Part& grid = layout.grid();
    if (slice.step.tile.is_top)
      walk_class(class_of(slice, grid), rows);
    else
      for (size_t row = 0; row < grid.rows(); ++row) pad(slice, grid, row);
    for (const Part& part : layout.classes()) walk_class(class_of(slice, part), rows);
  }

  Class<C> class_of(const Slice<C>& slice, const Part& part) {
    const Memory<C>* coarser = slice.step.coarser;
    Class<C> points(slice, part,
                    slice.step.memory.expectations.get(part.odd, kExpectedFrom,
                                                       coarser ? &coarser->expectations : nullptr));
    taps_.find(points);
    points.is_by_planes = is_solid_ && !points.learner;
    return points;
  }

  // By bands of rows that are coded together. Where taps are learned or the context of a row needs
  // the row before, a band is one row.
  void walk_class(const Class<C>& points, PyramidRows<C>& rows) {
    const Part& part = points.part;
    const size_t rank = points.slice.step.rank;
    // Points on cuts are known, and lie at the ends of axes along which coordinates are even.
    const u32 ends = points.slice.step.tile.ends;
    Extents begin{}, end = part.extents;
    for (size_t axis = 0; axis < rank; ++axis) {
      if (part.odd >> axis & 1) continue;
      begin[axis] += ends >> 2 * axis & 1;
      end[axis] -= ends >> 2 * axis >> 1 & 1;
    }
    const size_t last = rank - 1, width = end[last] - begin[last];
    const size_t most =
        points.is_by_planes ? std::max<size_t>(1, kMostCodes / std::max<size_t>(width, 1)) : 1;
    for (Position at{};;) {
      bool is_inside = true;
      for (size_t axis = 0; axis < last; ++axis)
        is_inside = is_inside && at.index[axis] >= begin[axis] && at.index[axis] < end[axis];
      const size_t lines =
          is_inside && last > 0 ? std::min(most, end[last - 1] - at.index[last - 1]) : 1;
      if (is_inside)
        for (at.x = begin[last]; at.x < end[last]; at.x += kMostCodes)
          walk_band(points, at, {lines, std::min(kMostCodes, end[last] - at.x)}, rows);
      for (size_t line = 0; line < lines; ++line) pad(points.slice, part, at.row + line);
      at.row += lines;
      size_t axis = last;
      if (axis > 0) at.index[axis - 1] += lines - 1;
      while (axis > 0 && ++at.index[axis - 1] == part.extents[axis - 1]) at.index[--axis] = 0;
      if (axis == 0) return;
    }
  }

  void walk_band(const Class<C>& points, const Position& at, const Lines& band,
                 PyramidRows<C>& rows) {
    const Step<C>& step = points.slice.step;
    const std::span<const Stretch> stretches = guess(points, at, band);
    const C* const predicted =
        points.learner ? taps_.predict(points, at, band.count, values_) : values_.guess.data();
    const size_t pitch = points.part.pitch, first = points.slice.place(points.part, at.row) + at.x;
    const u8* magnitudes = step.magnitudes + first;
    rows.code({first, pitch, band.lines, band.count}, predicted, values_.contexts.data(),
              step.magnitudes + first);
    if (points.learner) taps_.learn(points, predicted, step.numbers + first, band.count, values_);
    if (!learns_expectations_) return;
    for (const Stretch& stretch : stretches)
      for (size_t line = 0; line < stretch.lines.lines; ++line, magnitudes += pitch)
        learn_expectation(points.expectation, stretch, line, values_, magnitudes);
  }

  // Guesses, expected errors and contexts of a band, stretch by stretch.
  std::span<const Stretch> guess(const Class<C>& points, const Position& first, const Lines& band) {
    const size_t rank = points.slice.step.rank;
    size_t count = 0;
    Position at = first;
    for (size_t line = 0; line < band.lines;) {
      at.row = first.row + line;
      if (rank > 1) at.index[rank - 2] = first.index[rank - 2] + line;
      Stretch& stretch = stretches_[count++];
      stretch.lines = {std::min(alike_from(points, at.index), band.lines - line), band.count};
      stretch.first = line * band.count;
      float* const activity = values_.activity.data() + stretch.first;
      const size_t axes =
          interpolation_.guess(points, at, stretch, values_.guess.data() + stretch.first, activity);
      add_known_before(points, at, stretch.known);
      expect_error(stretch.lines, stretch.known, error_weights(points.expectation, stretch.known),
                   activity, first_context(points.slice.step.level, axes),
                   values_.expected.data() + stretch.first,
                   values_.contexts.data() + stretch.first);
      line += stretch.lines.lines;
    }
    return std::span(stretches_).first(count);
  }

  // How many rows, starting here, have all their neighbours inside; 1 if this row has one outside.
  static size_t alike_from(const Class<C>& points, const Extents& index) {
    for (const auto& [axis, side, stride] : points.sides()) {
      if (axis + 2 != points.part.rank) continue;
      const size_t j = index[axis], n = side->extents[axis];
      return j > 0 && j + 2 < n ? n - 2 - j : 1;
    }
    return std::numeric_limits<size_t>::max();
  }

  const Pyramid& pyramid_;
  double quantization_step_;
  bool is_solid_;             // whether there are three active axes or more
  bool learns_expectations_;  // whether there are enough values
  std::shared_ptr<Memories<C>> memories_;
  Taps<C> taps_;
  Interpolation<C> interpolation_;
  BandValues<C> values_;
  std::array<Stretch, 4> stretches_;  // of a band: the first row, those inside, the last two
};

}  // namespace
}  // namespace pyramid

template <class C>
std::unique_ptr<PyramidWalk<C>> Pyramid::make_walk(const Tiles& tiles, double step) const {
  return std::make_unique<pyramid::Walk<C>>(*this, tiles, step);
}
template std::unique_ptr<PyramidWalk<float>> Pyramid::make_walk(const Tiles&, double) const;
template std::unique_ptr<PyramidWalk<double>> Pyramid::make_walk(const Tiles&, double) const;

}  // namespace leeway
