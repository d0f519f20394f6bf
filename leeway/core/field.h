// SPDX-License-Identifier: BSD-3-Clause
// Field<T>: contiguous values with a shape, what stages work on. View: any strided array of the
// caller.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>

#include "leeway/core/shape.h"
#include "leeway/core/types.h"

namespace leeway {

template <class T>
struct Field {
  T* data = nullptr;
  Shape shape;  // without axes of extent 1
  size_t size() const { return size_t(shape.size()); }
  std::span<T> values() const { return {data, size()}; }
};

using Strides = std::array<std::ptrdiff_t, kMaxRank>;

inline Strides contiguous_strides(const Shape& shape, size_t value_bytes) {
  Strides strides{};
  auto step = std::ptrdiff_t(value_bytes);
  for (size_t axis = shape.rank(); axis-- > 0; step *= std::ptrdiff_t(shape[axis]))
    strides[axis] = step;
  return strides;
}

// An array in memory; strides are in bytes and may be negative. Byte is `const std::byte` or
// `std::byte`.
template <class Byte>
struct BasicView {
  Byte* data = nullptr;
  DType dtype = DType::f32;
  Shape shape;
  Strides strides{};

  BasicView() = default;
  BasicView(Byte* first, DType type, const Shape& extents, const Strides& steps)
      : data(first), dtype(type), shape(extents), strides(steps) {}
  BasicView(Byte* first, DType type, const Shape& extents)
      : BasicView(first, type, extents, contiguous_strides(extents, size_of(type))) {}

  Byte* at(const Index& index) const {
    Byte* position = data;
    for (size_t axis = 0; axis < shape.rank(); ++axis)
      position += std::ptrdiff_t(index[axis]) * strides[axis];
    return position;
  }
  // The part inside `box`.
  BasicView part(const Box& box) const { return {at(box.first), dtype, box.shape, strides}; }
};

using View = BasicView<const std::byte>;
using MutableView = BasicView<std::byte>;

template <class T>
View view_of(const T* data, const Shape& shape) {
  return {reinterpret_cast<const std::byte*>(data), dtype_of<T>(), shape};
}
template <class T>
MutableView mutable_view_of(T* data, const Shape& shape) {
  return {reinterpret_cast<std::byte*>(data), dtype_of<T>(), shape};
}

// Calls f(pointer, count, stride in bytes) for every row of the view, in row-major order. Trailing
// axes that lie contiguous in memory are joined into one long row.
template <class Byte, class F>
void for_each_row(const BasicView<Byte>& view, F&& f) {
  if (view.shape.size() == 0) return;
  const auto value_bytes = std::ptrdiff_t(size_of(view.dtype));
  size_t inner = view.shape.rank() > 0 ? 1 : 0;
  u64 count = inner ? view.shape[view.shape.rank() - 1] : 1;
  std::ptrdiff_t stride = inner ? view.strides[view.shape.rank() - 1] : value_bytes;
  while (stride == value_bytes && inner < view.shape.rank()) {
    const size_t axis = view.shape.rank() - 1 - inner;
    if (view.strides[axis] != std::ptrdiff_t(count) * value_bytes) break;
    count *= view.shape[axis];
    ++inner;
  }
  for_each_outer(view.shape, inner,
                 [&](const Index& index) { f(view.at(index), size_t(count), stride); });
}

namespace detail {

inline void copy_row(const std::byte* from, std::ptrdiff_t from_stride, std::byte* to,
                     std::ptrdiff_t to_stride, size_t count, size_t bytes) {
  const auto step = std::ptrdiff_t(bytes);
  if (from_stride == step && to_stride == step) {
    std::memcpy(to, from, count * bytes);
    return;
  }
  for (size_t i = 0; i < count; ++i, from += from_stride, to += to_stride)
    std::memcpy(to, from, bytes);
}

}  // namespace detail

// Copies the values of the view, in row-major order, to contiguous memory.
inline void gather(const View& view, void* to) {
  const size_t bytes = size_of(view.dtype);
  auto* out = static_cast<std::byte*>(to);
  std::ptrdiff_t ahead = 0;  // from a row to the one after the next, which is fetched early: short
  const std::byte* before = nullptr;  // rows far apart are more than the processor foresees
  for_each_row(view, [&](const std::byte* row, size_t count, std::ptrdiff_t stride) {
    if (before) ahead = 2 * (row - before);
    before = row;
    const auto next = reinterpret_cast<std::uintptr_t>(row) + std::uintptr_t(ahead);
    for (size_t i = 0; i < count * bytes; i += 64)
      __builtin_prefetch(reinterpret_cast<const void*>(next + i));
    detail::copy_row(row, stride, out, std::ptrdiff_t(bytes), count, bytes);
    out += count * bytes;
  });
}

// Copies values between arrays of the same type and shape, row by row.
inline void copy(const View& from, const MutableView& to) {
  const size_t rank = from.shape.rank(), bytes = size_of(from.dtype);
  const size_t length = rank > 0 ? size_t(from.shape[rank - 1]) : 1;
  const auto step = std::ptrdiff_t(bytes);
  for_each_outer(from.shape, 1, [&](const Index& index) {
    detail::copy_row(from.at(index), rank > 0 ? from.strides[rank - 1] : step, to.at(index),
                     rank > 0 ? to.strides[rank - 1] : step, length, bytes);
  });
}

}  // namespace leeway
