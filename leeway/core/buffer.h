// SPDX-License-Identifier: BSD-3-Clause
// Buffer<T>: a fixed number of values in memory that is not cleared first.
#pragma once

#include <memory>
#include <span>

#include "leeway/core/types.h"

namespace leeway {

template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(size_t size) : data_(std::make_unique_for_overwrite<T[]>(size)), size_(size) {}

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  operator std::span<T>() { return {data(), size_}; }
  operator std::span<const T>() const { return {data(), size_}; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }

 private:
  std::unique_ptr<T[]> data_;
  size_t size_ = 0;
};

}  // namespace leeway
