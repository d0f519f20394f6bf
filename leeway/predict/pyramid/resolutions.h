// SPDX-License-Identifier: BSD-3-Clause
// Resolutions: an array, and beside it what remains of it at the stride of each coarser level, so
// that the values of a level lie together.
#pragma once

#include "leeway/predict/pyramid/tiles.h"

namespace leeway {

template <class T>
class Resolutions {
  using Value = std::remove_const_t<T>;

 public:
  // The finest one is the array itself; nothing is in the others yet.
  Resolutions(T* array, const Tiles& tiles) : tiles_(tiles), finest_(array) {
    for (size_t level = 1; level < tiles.shapes.size(); ++level)
      coarser_.emplace_back(size_t(tiles.shapes[level].size()));
  }

  // Where the box of a step begins at a level, and how far the values of its axes are apart.
  struct Place {
    T* data;
    Strides strides;
  };
  Place place(const TileStep& step, size_t level) {
    const Strides whole = contiguous_strides(tiles_.shapes[level], 1);
    Place place{data(level), {}};
    for (size_t axis = 0; axis < tiles_.shapes[level].rank(); ++axis)
      place.data += std::ptrdiff_t(step.first[axis] >> (is_active(axis) ? level : 0)) * whole[axis];
    for (size_t k = 0; k < step.shape.rank(); ++k) place.strides[k] = whole[step.axes[k]];
    return place;
  }

  // From the finest to all others.
  void coarsen() {
    for (size_t level = 1; level < tiles_.shapes.size(); ++level)
      gather(as_const(strided(level - 1, level, 1)), coarser_[level - 1].data());
  }
  // From a coarse one to the finest.
  void refine(size_t level) { copy(as_const(strided(level, level, 0)), strided(0, level, level)); }
  // To all levels that are cut.
  void put_corners() {
    const size_t from = tiles_.corner_level;
    for (const Index& corner : tiles_.corners)
      for (size_t level = 0; level < from; ++level)
        copy(as_const(strided(from, from, 0).part(box_at(corner, from))),
             strided(level, level, 0).part(box_at(corner, level)));
  }

 private:
  T* data(size_t level) { return level == 0 ? finest_ : coarser_[level - 1].data(); }
  bool is_active(size_t axis) const { return tiles_.active >> axis & 1; }
  // The array of level `from`, but of the active axes every 2^shift-th value: as that of level
  // `of`.
  auto strided(size_t from, size_t of, size_t shift) {
    using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
    BasicView<Byte> view(reinterpret_cast<Byte*>(data(from)), dtype_of<Value>(),
                         tiles_.shapes[from]);
    view.shape = tiles_.shapes[of];
    for (size_t axis = 0; axis < view.shape.rank(); ++axis)
      if (is_active(axis)) view.strides[axis] *= std::ptrdiff_t(1) << shift;
    return view;
  }
  template <class Byte>
  static View as_const(const BasicView<Byte>& view) {
    return {view.data, view.dtype, view.shape, view.strides};
  }
  Box box_at(const Index& corner, size_t level) const {
    Box box;
    std::array<u64, kMaxRank> extents{};
    const Shape& shape = tiles_.shapes[level];
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      box.first[axis] = corner[axis] >> level;
      extents[axis] = is_active(axis) ? 1 : shape[axis];
    }
    box.shape = Shape(std::span<const u64>(extents).first(shape.rank()));
    return box;
  }

  const Tiles& tiles_;
  T* finest_;
  std::vector<Buffer<Value>> coarser_;
};

}  // namespace leeway
