// SPDX-License-Identifier: BSD-3-Clause
// Region: a part of an array, and the chunks it touches.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "leeway/base/field.h"
#include "leeway/stream/format.h"

namespace leeway {

// The part that box and region share, as two boxes: relative to `box`, and to the region.
inline std::optional<std::pair<Box, Box>> overlap(const Box& box, const Index& first,
                                                  const Shape& shape) {
  Box in_box, in_region;
  std::array<u64, kMaxRank> extents;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    const u64 begin = std::max(box.first[axis], first[axis]);
    const u64 end = std::min(box.first[axis] + box.shape[axis], first[axis] + shape[axis]);
    if (begin >= end) return std::nullopt;
    in_box.first[axis] = begin - box.first[axis];
    in_region.first[axis] = begin - first[axis];
    extents[axis] = end - begin;
  }
  in_box.shape = in_region.shape = Shape(std::span<const u64>(extents).first(shape.rank()));
  return std::pair(in_box, in_region);
}

// The chunks that the region touches, in ascending order.
inline std::vector<u64> chunks_of_region(const Header& header, const Index& first,
                                         const Shape& shape) {
  std::vector<u64> ordinals;
  for_each_chunk_of(header, {first, shape}, [&](u64 ordinal) { ordinals.push_back(ordinal); });
  return ordinals;
}

// Throws unless the region that begins at `first` lies inside the array.
inline void check_region(const Header& header, const Index& first, DType dtype,
                         const Shape& shape) {
  if (dtype != header.dtype)
    fail_argument("the stream holds " + std::string(name_of(header.dtype)) + ", not " +
                  std::string(name_of(dtype)));
  if (shape.rank() != header.shape.rank())
    fail_argument("the region does not have as many axes as the array");
  if (!contains(header.shape, {first, shape}))
    fail_argument("the region reaches outside the array " + to_string(header.shape));
}

}  // namespace leeway
