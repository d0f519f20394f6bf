// SPDX-License-Identifier: BSD-3-Clause
// Polyphase: values put apart by parity, so that neighbours at distance 2 lie side by side
// (pyramid.md, "Order").
//
// Some axes are active, the others frozen: every position on the frozen axes is a slice of its own.
// A slice is split into classes by which of its coordinates are odd; the class without odd ones is
// the grid, which the next coarser level makes. Rows of a class have kPad values of room on both
// sides.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "leeway/base/buffer.h"
#include "leeway/base/export.h"
#include "leeway/base/field.h"

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

template <class Array, class Storage>
struct Pairs;

class LEEWAY_EXPORT Polyphase {
 public:
  // Bit k of `active` stands for axis k of the shape; at most kMaxActive of them. The last active
  // axis is along rows. If it is not split, a slice is all grid.
  Polyphase(const Shape& shape, u32 active, bool is_split);

  size_t rank() const { return rank_; }
  const Part& grid() const { return *find(0); }
  // Those with points but the grid, by number of odd coordinates, then by `odd`.
  std::span<const Part> classes() const { return {parts_.data() + 1, count_ - 1}; }
  bool is_split() const { return count_ > 1; }
  // The part with these odd coordinates; null if it has no points.
  const Part* find(u32 odd) const { return place_[odd] < count_ ? &parts_[place_[odd]] : nullptr; }
  const Shape& slices() const { return slices_; }  // the frozen axes
  size_t slice_size() const { return slice_size_; }
  size_t size() const { return slice_size_ * size_t(slices_.size()); }

  // An array to all slices. Strides are in values.
  template <class T>
  void split(const T* from, const Strides& strides, T* storage) const;
  // The same, but only what lies at these ends: `ends` has two bits for each active axis, the lower
  // end first.
  template <class T>
  void split_ends(const T* from, const Strides& strides, u32 ends, T* storage) const;
  // The grid from an array that has nothing else.
  template <class T>
  void put_grid(const T* from, const Strides& strides, T* storage) const;
  // Back to the array, but not what lies at these ends.
  template <class T>
  void merge(const T* storage, T* to, const Strides& strides, u32 ends) const;

 private:
  // Rows of the array that lie one behind the other along an axis.
  struct Rows {
    std::ptrdiff_t offset, step;  // in the array; from row to row
    size_t even, odd;             // where the values of the first are in the storage
    size_t even_pitch, odd_pitch;
    size_t lines;  // rows
    bool is_end;   // whether they lie at one of the ends asked for
  };
  // By class, in order.
  template <class F>
  void for_each_rows(const Strides& strides, u32 ends, F&& f) const;
  template <class Array, class Storage>
  Pairs<Array, Storage> pairs_of(Array* array, Storage* storage, const Rows& rows) const;

  Shape slices_;
  size_t rank_ = 0;
  std::array<u8, kMaxActive> active_{};  // axes of the array
  std::array<u8, kMaxRank> frozen_{};
  Extents extents_{};  // of the active axes
  static constexpr size_t kMostParts = size_t(1) << kMaxActive;
  std::array<Part, kMostParts> parts_{};  // the grid, then the classes
  std::array<u8, kMostParts> place_;      // among them, by `odd`
  size_t count_ = 0;
  size_t slice_size_ = 0;
};

}  // namespace leeway
