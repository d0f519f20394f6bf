// SPDX-License-Identifier: BSD-3-Clause
// Polyphase: values put apart by level and parity, so that neighbours at any stride lie side by
// side (pyramid.md, "Order").
//
// Some axes are active, the others frozen: every position on the frozen axes is a slice of its own.
// Level 1 splits a slice into classes by which of its coordinates are odd; the class without odd
// ones is the grid of the next level, and so on until one value is left. Rows of a class have
// kPad values of room on both sides.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "leeway/core/buffer.h"
#include "leeway/core/field.h"

namespace leeway {

inline constexpr size_t kPad = 4;
inline constexpr size_t kMaxActive = 4;

using Extents = std::array<size_t, kMaxActive>;

// An array of values of one slice; axes are the active ones, the last is along rows.
struct Part {
  u32 odd = 0;  // by axis: whether its points have an odd coordinate there
  size_t rank = 0;
  Extents extents{};
  size_t first = 0;  // of its first value in the slice
  size_t pitch = 0;  // from row to row

  size_t length() const { return extents[rank - 1]; }
  size_t rows() const {
    size_t rows = 1;
    for (size_t axis = 0; axis + 1 < rank; ++axis) rows *= extents[axis];
    return rows;
  }
  size_t size() const { return rows() * length(); }
};

struct Level {
  Extents extents{};          // of what is split
  Part grid;                  // the points without odd coordinates
  std::vector<Part> classes;  // the others, by number of odd coordinates, then by `odd`

  // The part with these odd coordinates; null if it has no points.
  const Part* find(u32 odd) const {
    if (odd == 0) return &grid;
    const auto found = std::ranges::find(classes, odd, &Part::odd);
    return found == classes.end() ? nullptr : &*found;
  }
};

class Polyphase {
 public:
  // Bit k of `active` stands for axis k of the shape; at least one, at most kMaxActive of them. The
  // last active axis is along rows. Without levels, a slice is a single grid.
  Polyphase(const Shape& shape, u32 active, bool with_levels);

  size_t rank() const { return rank_; }
  const std::vector<Level>& levels() const { return levels_; }  // finest first
  const Part& top() const { return top_; }                      // what the last level leaves
  const Shape& slices() const { return slices_; }               // the frozen axes
  size_t slice_size() const { return slice_size_; }
  size_t size() const { return slice_size_ * size_t(slices_.size()); }

  // An array to all slices, and back to one in natural order. Strides are in values.
  template <class T>
  void split(const T* from, const Strides& strides, T* storage) const;
  template <class T>
  void merge(T* storage, T* field) const;
  const Strides& natural_strides() const { return natural_; }
  // The grid of one level to the places of its values in an array in natural order.
  template <class T>
  void scatter_grid(size_t level, const T* storage, T* field) const;
  // The grid of one level from the classes and the grid of the next one, in one slice.
  template <class T>
  void merge_grid(size_t level, T* slice) const;

 private:
  using Steps = std::array<std::ptrdiff_t, kMaxActive>;  // of the active axes
  template <class T>
  void split_level(const Level& level, const T* from, const Steps& steps, T* slice) const;
  template <class T>
  void merge_level(const Level& level, const T* slice, T* to, const Steps& steps) const;
  Steps steps_of(const Part& part) const;
  Steps steps_of(const Strides& strides) const;
  // Calls f(offset in an array, offset in the storage) for all slices.
  template <class F>
  void for_each_slice(const Strides& strides, F&& f) const;
  // Calls f(offset in an array, offset in the slice) for all rows of a slice without levels.
  template <class F>
  void for_each_flat_row(const Steps& steps, F&& f) const;

  Strides natural_{};
  Shape slices_;
  size_t rank_ = 0;
  std::array<u8, kMaxActive> active_{};  // axes of the array
  std::array<u8, kMaxRank> frozen_{};
  Extents extents_{};  // of the active axes
  std::vector<Level> levels_;
  Part top_;
  size_t slice_size_ = 0;
};

}  // namespace leeway
