// SPDX-License-Identifier: BSD-3-Clause
// Array: decoded values with their type and shape.
#pragma once

#include "leeway/base/buffer.h"
#include "leeway/base/error.h"
#include "leeway/base/field.h"

namespace leeway {

// A decoded array that owns its values.
class Array {
 public:
  Array(DType dtype, const Shape& shape)
      : dtype_(dtype), shape_(shape), values_((size_t(shape.size()) * size_of(dtype) + 7) / 8) {}
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  template <class T>
  std::span<const T> as() const {
    if (dtype_of<T>() != dtype_)
      throw Error(Errc::invalid_argument, "the array holds another type");
    return {reinterpret_cast<const T*>(values_.data()), size_t(shape_.size())};
  }
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(values_.data()); }
  u64 bytes() const { return shape_.size() * size_of(dtype_); }
  MutableView view() { return {reinterpret_cast<std::byte*>(values_.data()), dtype_, shape_}; }

 private:
  DType dtype_;
  Shape shape_;
  Buffer<u64> values_;
};

}  // namespace leeway
