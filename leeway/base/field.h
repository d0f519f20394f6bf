// SPDX-License-Identifier: BSD-3-Clause
// Field<T>: contiguous values with a shape, the data that stages work on. View: an array of the
// caller, with any strides.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "leeway/base/shape.h"
#include "leeway/base/types.h"

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
  // Without axes of extent 1.
  BasicView squeezed() const {
    BasicView view(data, dtype, shape.squeezed(), Strides{});
    size_t axis = 0;
    for (size_t k = 0; k < shape.rank(); ++k)
      if (shape[k] != 1) view.strides[axis++] = strides[k];
    return view;
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

// Rows of equal length at equal distance; steps are in bytes.
template <class Byte>
struct Plane {
  Byte* data;
  size_t rows;
  std::ptrdiff_t row_step;
  size_t length;
  std::ptrdiff_t step;
  // The plane that will be read next, of the same form, or null. Code that reads this plane
  // prefetches the next one line by line: the processor cannot remember requests for all at once.
  Byte* next = nullptr;

  size_t size() const { return rows * length; }
  bool is_like(const Plane& other) const {
    return rows == other.rows && row_step == other.row_step && length == other.length &&
           step == other.step;
  }
  // Whether rows can be read as arrays of T.
  template <class T>
  bool holds_rows_of() const {
    return step == sizeof(T) &&
           (reinterpret_cast<std::uintptr_t>(data) | std::uintptr_t(row_step)) % alignof(T) == 0;
  }
};

// Rows of a view: trailing axes that lie contiguous in memory are joined into one long row.
struct JoinedRow {
  size_t axes;  // number of axes joined
  size_t length;
  std::ptrdiff_t step;  // in bytes

  template <class Byte>
  explicit JoinedRow(const BasicView<Byte>& view)
      : axes(view.shape.rank() > 0 ? 1 : 0),
        length(axes ? size_t(view.shape[view.shape.rank() - 1]) : 1),
        step(axes ? view.strides[view.shape.rank() - 1] : std::ptrdiff_t(size_of(view.dtype))) {
    const auto value_bytes = std::ptrdiff_t(size_of(view.dtype));
    for (; step == value_bytes && axes < view.shape.rank(); ++axes) {
      const size_t axis = view.shape.rank() - 1 - axes;
      if (view.strides[axis] != std::ptrdiff_t(length) * value_bytes) break;
      length *= size_t(view.shape[axis]);
    }
  }
};

// Whether all values follow each other in memory, without gaps.
template <class Byte>
bool is_contiguous(const BasicView<Byte>& view) {
  const JoinedRow row(view);
  return row.axes == view.shape.rank() && row.step == std::ptrdiff_t(size_of(view.dtype));
}

// Calls f(plane) for all planes of the view, in row-major order.
template <class Byte, class F>
void for_each_plane(const BasicView<Byte>& view, F&& f) {
  if (view.shape.size() == 0) return;
  const JoinedRow row(view);
  if (row.axes == view.shape.rank()) return f(Plane<Byte>{view.data, 1, 0, row.length, row.step});
  const size_t axis = view.shape.rank() - 1 - row.axes;
  for_each_outer(view.shape, row.axes + 1, [&](const Index& index) {
    f(Plane<Byte>{view.at(index), size_t(view.shape[axis]), view.strides[axis], row.length,
                  row.step});
  });
}

// Calls f(plane) for parts of a plane of at most `most` values: whole rows, or parts of a row.
template <class Byte, class F>
void for_each_part(const Plane<Byte>& plane, size_t most, F&& f) {
  Plane<Byte> part = plane;
  if (plane.length <= most) {
    const size_t rows = std::max<size_t>(1, most / std::max<size_t>(plane.length, 1));
    for (size_t r = 0; r < plane.rows; r += rows) {
      part.data = plane.data + std::ptrdiff_t(r) * plane.row_step;
      part.rows = std::min(rows, plane.rows - r);
      f(part);
    }
    return;
  }
  part.rows = 1;
  for (size_t r = 0; r < plane.rows; ++r)
    for (size_t i = 0; i < plane.length; i += most) {
      part.data = plane.data + std::ptrdiff_t(r) * plane.row_step + std::ptrdiff_t(i) * plane.step;
      part.length = std::min(most, plane.length - i);
      f(part);
    }
}

// Calls f(pointer, count, stride in bytes) for every row of every plane.
template <class Byte, class F>
void for_each_row(const BasicView<Byte>& view, F&& f) {
  for_each_plane(view, [&](const Plane<Byte>& plane) {
    Byte* row = plane.data;
    for (size_t r = 0; r < plane.rows; ++r, row += plane.row_step) f(row, plane.length, plane.step);
  });
}

// Copies `count` values of `bytes` bytes each; the strides are in bytes.
inline void copy_row(const std::byte* from, std::ptrdiff_t from_stride, std::byte* to,
                     std::ptrdiff_t to_stride, size_t count, size_t bytes) {
  const auto step = std::ptrdiff_t(bytes);
  if (from_stride == step && to_stride == step) {
    std::memcpy(to, from, count * bytes);
    return;
  }
  // With a constant size, memcpy() compiles to a move instead of a call.
  const auto one_by_one = [&](auto size) {
    for (size_t i = 0; i < count; ++i, from += from_stride, to += to_stride)
      std::memcpy(to, from, size);
  };
  switch (bytes) {
    case 1:
      return one_by_one(std::integral_constant<size_t, 1>());
    case 2:
      return one_by_one(std::integral_constant<size_t, 2>());
    case 4:
      return one_by_one(std::integral_constant<size_t, 4>());
    case 8:
      return one_by_one(std::integral_constant<size_t, 8>());
    default:
      one_by_one(bytes);
  }
}

// Prefetches memory that is soon needed: the processor does not foresee short rows far apart.
[[gnu::always_inline]] inline void prefetch(const void* from, size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(from);
  for (size_t i = 0; i < bytes; i += 64)
    __builtin_prefetch(reinterpret_cast<const void*>(first + i), 0, 2);
}

// Copies the values of a plane to contiguous memory.
inline void gather(const Plane<const std::byte>& plane, size_t bytes, std::byte* to) {
  const std::byte* row = plane.data;
  for (size_t r = 0; r < plane.rows; ++r, row += plane.row_step, to += plane.length * bytes) {
    if (r + 2 < plane.rows) prefetch(row + 2 * plane.row_step, plane.length * bytes);
    copy_row(row, plane.step, to, std::ptrdiff_t(bytes), plane.length, bytes);
  }
}

// Copies the values of the view, in row-major order, to contiguous memory.
inline void gather(const View& view, void* to) {
  const size_t bytes = size_of(view.dtype);
  auto* out = static_cast<std::byte*>(to);
  for_each_plane(view, [&](const Plane<const std::byte>& plane) {
    gather(plane, bytes, out);
    out += plane.size() * bytes;
  });
}

// Copies values between arrays of the same type and shape, row by row.
inline void copy(const View& from, const MutableView& to) {
  const size_t rank = from.shape.rank(), bytes = size_of(from.dtype);
  const size_t length = rank > 0 ? size_t(from.shape[rank - 1]) : 1;
  const auto step = std::ptrdiff_t(bytes);
  for_each_outer(from.shape, 1, [&](const Index& index) {
    copy_row(from.at(index), rank > 0 ? from.strides[rank - 1] : step, to.at(index),
             rank > 0 ? to.strides[rank - 1] : step, length, bytes);
  });
}

}  // namespace leeway
