// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/maker.h"

#include <algorithm>

namespace leeway {
namespace {

// The part of an array that is tried.
class Part {
 public:
  Part(const Shape& shape, const Suspect& suspect)
      : shape_(shape),
        suspect_(suspect),
        is_flat_(suspect.frozen == (1u << shape.rank()) - 1) {
    std::fill_n(extents_.begin(), shape.rank(), 1);
    steps_.fill(1);
  }
  bool is_flat() const { return is_flat_; }
  u64 size() const { return shape().size(); }
  bool is_whole() const { return shape() == shape_; }

  // What the walk visits up to the level `shift`: of every slice, or of the first one.
  void take_level(size_t shift, bool every_slice) {
    for (size_t axis = 0; axis < shape_.rank(); ++axis) {
      const bool frozen = is_frozen(axis);
      steps_[axis] = frozen ? 1 : u64(1) << shift;
      extents_[axis] = !frozen       ? (shape_[axis] - 1) / steps_[axis] + 1
                       : every_slice ? shape_[axis]
                                     : 1;
    }
  }
  // The first slice, or the first row if everything is frozen.
  void take_first_slice() {
    steps_.fill(1);
    for (size_t axis = 0; axis < shape_.rank(); ++axis)
      extents_[axis] =
          is_frozen(axis) && !(is_flat_ && axis + 1 == shape_.rank()) ? 1 : shape_[axis];
  }
  // Up to twice as many slices, which come in row-major order.
  void take_more_slices() {
    size_t axis = shape_.rank() - 1;
    while (extents_[axis] == shape_[axis]) --axis;
    extents_[axis] = std::min(shape_[axis], 2 * extents_[axis]);
  }
  Trial ask(size_t first_level) const { return suspect_.ask(first_level, {shape(), {}, steps_}); }

 private:
  Shape shape() const { return Shape(std::span<const u64>(extents_).first(shape_.rank())); }
  bool is_frozen(size_t axis) const { return suspect_.frozen >> axis & 1; }

  const Shape& shape_;
  const Suspect& suspect_;
  bool is_flat_;
  std::array<u64, kMaxRank> extents_{};
  std::array<u64, kMaxRank> steps_;
};

// The coarsest level up to which there are so many values.
size_t level_of(Part& part, u64 values, bool every_slice) {
  size_t shift = 40;
  for (part.take_level(shift, every_slice); shift > 0 && part.size() < values;
       part.take_level(shift, every_slice))
    --shift;
  return shift;
}

}  // namespace

Made looks_made(const Shape& shape, const Suspect& suspect) {
  constexpr u64 kFew = 32, kMany = u64(1) << 16, kEnough = 256;
  Part part(shape, suspect);
  Made made = Made::unknown;
  const auto ask = [&](size_t first_level) {
    const Trial result = part.ask(first_level);
    if (!result.unchanged)
      made = Made::no;
    else if (part.is_whole() || result.lossless)
      made = Made::surely;
    else if (result.coded >= kEnough && shape.size() > kMany)
      made = Made::likely;
    return made == Made::unknown;
  };
  // Most arrays show by their first value that nothing has made them.
  if (!ask(suspect.top)) return made;
  if (!part.is_flat()) {
    // Level by level, all at once at first.
    for (size_t shift = level_of(part, kFew, false);; --shift) {
      part.take_level(shift, false);
      if (part.size() > kMany) break;
      // What all slices have taught, one alone does not show.
      if (suspect.frozen != 0 && shift < suspect.learned_levels) return made;
      if (!ask(shift)) return made;
      if (shift == 0) break;
    }
  }
  for (part.take_first_slice(); !part.is_whole();) {
    part.take_more_slices();
    if (part.size() > kMany || !ask(0)) return made;
  }
  return made;
}

bool is_made(const Shape& shape, const Suspect& suspect) {
  constexpr u64 kStart = 4096;  // values
  Part part(shape, suspect);
  if (part.is_flat()) {
    for (part.take_first_slice(); !part.is_whole(); part.take_more_slices())
      if (part.size() >= kStart && !part.ask(0).unchanged) return false;
    return part.ask(0).unchanged;
  }
  for (size_t shift = level_of(part, kStart, true); shift > 0; --shift) {
    part.take_level(shift, true);
    if (!part.ask(shift).unchanged) return false;
  }
  part.take_level(0, true);
  return part.ask(0).unchanged;
}

}  // namespace leeway
