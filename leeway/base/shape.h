// SPDX-License-Identifier: BSD-3-Clause
// Shape: up to eight 64-bit extents, slowest axis first; Box: a rectangular part of one.
#pragma once

#include <array>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "leeway/base/error.h"
#include "leeway/base/types.h"

namespace leeway {

inline constexpr size_t kMaxRank = 8;

class Shape {
 public:
  Shape() = default;  // rank 0: a single value
  Shape(std::initializer_list<u64> extents) : Shape(std::span(extents.begin(), extents.size())) {}
  explicit Shape(std::span<const u64> extents) {
    if (extents.size() > kMaxRank)
      throw Error(Errc::invalid_argument,
                  "an array may have at most 8 axes, not " + std::to_string(extents.size()));
    u64 size = 1;
    for (const u64 extent : extents) {
      if (extent != 0 && size > u64(std::numeric_limits<i64>::max()) / 16 / extent)
        throw Error(Errc::invalid_argument, "the array has too many values");
      size *= std::max<u64>(extent, 1);
      extents_[rank_++] = extent;
    }
  }

  size_t rank() const { return rank_; }
  u64 operator[](size_t axis) const { return extents_[axis]; }
  std::span<const u64> extents() const { return {extents_.data(), rank_}; }
  u64 size() const {
    u64 product = 1;
    for (const u64 extent : extents()) product *= extent;
    return product;
  }
  // The same values without the axes of extent 1.
  Shape squeezed() const {
    Shape result;
    for (const u64 extent : extents())
      if (extent != 1) result.extents_[result.rank_++] = extent;
    return result;
  }
  friend bool operator==(const Shape& a, const Shape& b) {
    return a.rank_ == b.rank_ && a.extents_ == b.extents_;  // extents beyond the rank are 0
  }

 private:
  std::array<u64, kMaxRank> extents_{};
  size_t rank_ = 0;
};

// "100x500x500"; "scalar" for rank 0.
inline std::string to_string(const Shape& shape) {
  if (shape.rank() == 0) return "scalar";
  std::string text;
  for (const u64 extent : shape.extents())
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

using Index = std::array<u64, kMaxRank>;

// The part of an array from `first` (inclusive) with the extents of `shape`.
struct Box {
  Index first{};
  Shape shape;
};

// Whether a box lies inside an array of the same rank.
inline bool contains(const Shape& shape, const Box& box) {
  for (size_t axis = 0; axis < shape.rank(); ++axis)
    if (box.first[axis] > shape[axis] || box.shape[axis] > shape[axis] - box.first[axis])
      return false;
  return true;
}

// Returns the box of the same values in the array without its axes of extent 1.
inline Box squeezed(const Box& box, const Shape& array) {
  Box result;
  std::array<u64, kMaxRank> extents{};
  size_t rank = 0;
  for (size_t axis = 0; axis < array.rank(); ++axis) {
    if (array[axis] == 1) continue;
    result.first[rank] = box.first[axis];
    extents[rank++] = box.shape[axis];
  }
  result.shape = Shape(std::span<const u64>(extents).first(rank));
  return result;
}

inline bool overlap(const Box& a, const Box& b) {
  for (size_t axis = 0; axis < a.shape.rank(); ++axis)
    if (a.first[axis] >= b.first[axis] + b.shape[axis] ||
        b.first[axis] >= a.first[axis] + a.shape[axis])
      return false;
  return true;
}

// An array as a table: its slowest axis by all others together; one row if it has fewer than two.
struct Table {
  u64 rows = 1, length = 0;
  explicit Table(const Shape& shape)
      : rows(shape.rank() > 1 ? shape[0] : 1), length(rows > 0 ? shape.size() / rows : 0) {}
};

// The part of an array from index `first` of its slowest axis on, `thickness` indices thick.
inline Box slab(const Shape& shape, u64 first, u64 thickness) {
  if (shape.rank() == 0) return {{}, shape};
  std::array<u64, kMaxRank> extents;
  for (size_t axis = 0; axis < shape.rank(); ++axis) extents[axis] = shape[axis];
  extents[0] = std::min(thickness, shape[0] - first);
  return {{first}, Shape(std::span<const u64>(extents).first(shape.rank()))};
}

// Calls f(index) for every index of the outer axes, which are all but the last `inner` axes, in
// row-major order.
template <class F>
void for_each_outer(const Shape& shape, size_t inner, F&& f) {
  const size_t outer = shape.rank() > inner ? shape.rank() - inner : 0;
  Index index{};
  if (shape.size() == 0) return;
  for (;;) {
    f(std::as_const(index));
    size_t axis = outer;
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

}  // namespace leeway
