// SPDX-License-Identifier: BSD-3-Clause
// Taps: predictions improved by a weighted sum of known values near a point; the weights are
// learned on the way (pyramid.md, "Taps" and "Learning").
#pragma once

#include <map>

#include "leeway/predict/pyramid/step.h"

namespace leeway::pyramid {

// Taps are learned on so many of the finest levels.
inline constexpr size_t kLearnedLevels = 3;

template <class C>
class Taps {
 public:
  // At most this many taps; one group of values in `every` is learned from.
  Taps(size_t most, size_t every) : most_(most), every_(every) {}

  // Gives a class its taps and their learner, if it can have some.
  void find(Class<C>& points) {
    const Step<C>& step = points.slice.step;
    const Part& part = points.part;
    const bool flat = !step.layout.is_split();
    if (most_ == 0 || part.length() < kGroup || (part.odd == 0 && !flat) ||
        step.level >= kLearnedLevels)
      return;
    const std::vector<Tap>& taps = taps_of(step, part);
    if (taps.empty()) return;
    points.taps = &taps;
    for (size_t k = 0; k < taps.size(); ++k) points.holders[k] = step.layout.find(taps[k].odd);
    points.learner = &step.memory.predictions.get(part.odd, taps.size(), coarser_predictions(step));
  }

  // The predictions of a row: the guesses until weights are known.
  const C* predict(const Class<C>& points, const Position& at, size_t count, BandValues<C>& band) {
    find_rows(points, at, band.guess.data());
    const LeastSquares<C>& squares = points.learner->squares;
    if (!squares.is_ready()) return band.guess.data();
    squares.apply(rows_.data(), band.guess.data(), count, band.predicted.data());
    return band.predicted.data();
  }

  // Learns from the row that was predicted last, when its values are known.
  void learn(const Class<C>& points, const C* predicted, const C* values, size_t count,
             const BandValues<C>& band) {
    Learner<C>& learner = *points.learner;
    for (size_t g = learner.rows++ * 5 % every_; (g + 1) * kGroup <= count; g += every_)
      learner.squares.sample({rows_.data(), band.guess.data(), predicted, values,
                              band.expected.data(), g * kGroup, points.slice.step.inverse});
  }

 private:
  static constexpr size_t kGroup = LeastSquares<C>::kSampleGroup;

  static const Learners<C>* coarser_predictions(const Step<C>& step) {
    return step.coarser ? &step.coarser->predictions : nullptr;
  }

  // They depend on which axes there are and which classes have points, not on the extents.
  const std::vector<Tap>& taps_of(const Step<C>& step, const Part& part) {
    u64 key = step.layout.slices().rank() << 8 | step.rank << 4 | part.odd;
    for (const Part& other : step.layout.classes()) key |= u64(1) << (16 + other.odd);
    const auto [found, is_new] = taps_of_class_.try_emplace(key);
    if (is_new) found->second = taps_near(step.layout, part, most_);
    return found->second;
  }

  // Where the taps of a row are; for those outside the box, the guess itself.
  void find_rows(const Class<C>& points, const Position& at, const C* guess) {
    const Slice<C>& slice = points.slice;
    const Polyphase& layout = slice.step.layout;
    const size_t rank = slice.step.rank;
    for (size_t k = 0; k < points.taps->size(); ++k) {
      const Tap& tap = (*points.taps)[k];
      const Part& holder = *points.holders[k];
      bool inside = true;
      std::ptrdiff_t row = 0, back = 0;
      for (size_t axis = 0; axis + 1 < rank; ++axis) {
        const auto position = std::ptrdiff_t(at.index[axis]) + tap.shift[axis];
        const auto extent = std::ptrdiff_t(holder.extents[axis]);
        inside = inside && position >= 0 && position < extent;
        row = row * extent + position;
      }
      for (size_t axis = 0; axis < layout.slices().rank(); ++axis) {
        const auto position = std::ptrdiff_t(slice.index[axis]) + tap.back[axis];
        const auto extent = std::ptrdiff_t(layout.slices()[axis]);
        inside = inside && position >= 0 && position < extent;
        back = back * extent + tap.back[axis];
      }
      rows_[k] =
          inside ? slice.step.numbers + (std::ptrdiff_t(slice.place(holder, 0) + at.x) +
                                         row * std::ptrdiff_t(holder.pitch) + tap.shift[rank - 1] +
                                         back * std::ptrdiff_t(layout.slice_size()))
                 : guess;
    }
  }

  size_t most_, every_;
  std::map<u64, std::vector<Tap>> taps_of_class_;
  std::array<const C*, kMostTaps> rows_;  // of the last row predicted
};

}  // namespace leeway::pyramid
