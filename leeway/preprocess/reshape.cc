// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/preprocess/reshape.h"

namespace leeway {

Shape Reshape::merged(const Shape& shape) const {
  const auto left = size_t(params.axes);
  if (shape.rank() <= left) return shape;
  std::array<u64, kMaxRank> extents{};
  extents.fill(1);
  const size_t gone = shape.rank() - left;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    const size_t to = params.merge == Merge::last ? std::min(axis, left - 1)
                                                  : std::max(axis, gone) - gone;
    extents[to] *= shape[axis];
  }
  return Shape(std::span<const u64>(extents.data(), left));
}

void Reshape::write_shape(const Shape& shape, Writer& side) {
  side.put(u8(shape.rank()));
  for (const u64 extent : shape.extents()) side.put_varint(extent);
}

Shape Reshape::read_shape(Reader& side, const Shape& inner) const {
  const u8 rank = side.get<u8>();
  if (rank > kMaxRank) fail_corrupt("too many axes");
  std::array<u64, kMaxRank> extents{};
  for (size_t axis = 0; axis < rank; ++axis)
    extents[axis] = side.get_varint(inner.size(), "axes longer than the array");
  u64 size = 1;
  for (size_t axis = 0; axis < rank; ++axis) {
    if (extents[axis] != 0 && size > inner.size() / extents[axis])
      fail_corrupt("axes longer than the array");
    size *= extents[axis];
  }
  const Shape shape(std::span<const u64>(extents.data(), rank));
  if (merged(shape) != inner) fail_corrupt("no shape of this array");
  return shape;
}

}  // namespace leeway
