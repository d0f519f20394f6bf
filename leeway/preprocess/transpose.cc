// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/preprocess/transpose.h"

#include <algorithm>
#include <string>

namespace leeway {
namespace {

// The values in row-major order of the permuted axes.
template <class Byte>
BasicView<Byte> permuted(const BasicView<Byte>& view, const std::array<u8, kMaxRank>& axes) {
  std::array<u64, kMaxRank> extents{};
  Strides strides{};
  const size_t rank = view.shape.rank();
  for (size_t k = 0; k < rank; ++k) {
    extents[k] = view.shape[axes[k]];
    strides[k] = view.strides[axes[k]];
  }
  return {view.data, view.dtype, Shape(std::span<const u64>(extents.data(), rank)), strides};
}

std::array<u8, kMaxRank> read_axes(Reader& side, size_t rank) {
  std::array<u8, kMaxRank> axes{};
  side.get_array(std::span(axes.data(), rank));
  for (size_t k = 0; k < rank; ++k)
    if (axes[k] >= rank || std::count(axes.begin(), axes.begin() + std::ptrdiff_t(k), axes[k]))
      fail_corrupt("no order of axes");
  return axes;
}

}  // namespace

void Transpose::Params::check() const {
  std::string digits = std::to_string(order), sorted = digits;
  std::ranges::sort(sorted);
  if (order != 0 && sorted != std::string("12345678").substr(0, digits.size()))
    fail_argument("transpose:order has every axis once, like 231, not " + digits);
}

Transpose::Axes Transpose::given(size_t rank) const {
  const std::string digits = std::to_string(params.order);
  Axes axes = last(rank, rank - 1);
  if (digits.size() == rank)
    for (size_t k = 0; k < rank; ++k) axes[k] = u8(digits[k] - '1');
  return axes;
}

Transpose::Axes Transpose::last(size_t rank, size_t axis) {
  Axes axes{};
  size_t k = 0;
  for (size_t a = 0; a < rank; ++a)
    if (a != axis) axes[k++] = u8(a);
  if (rank > 0) axes[rank - 1] = u8(axis);
  return axes;
}

Shape Transpose::permute(const MutableView& values, const Axes& axes) {
  const View view = permuted(View(values.data, values.dtype, values.shape), axes);
  Buffer<std::byte> moved(size_t(values.shape.size()) * size_of(values.dtype));
  gather(view, moved.data());
  std::ranges::copy(moved, values.data);
  return view.shape;
}

Shape Transpose::inner_shape(const Shape& shape, Reader& side) const {
  return permuted(View(nullptr, DType::u8, shape), read_axes(side, shape.rank())).shape;
}

Shape Transpose::permute_back(const MutableView& values, Reader& side) {
  const size_t rank = values.shape.rank();
  const Axes axes = read_axes(side, rank);
  Axes back{};
  for (size_t k = 0; k < rank; ++k) back[axes[k]] = u8(k);
  return permute(values, back);
}

}  // namespace leeway
