// SPDX-License-Identifier: BSD-3-Clause
// Block grid: a field of at most four axes, cut into blocks, and one of them at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "leeway/base/field.h"
#include "leeway/predict/polynomial.h"

namespace leeway {

template <class T>
class BlockGrid {
 protected:
  // Fewer axes than four are the last ones; the others have extent 1.
  BlockGrid(Field<T> field, i32 edge) : data_(field.data) {
    const size_t rank = field.shape.rank();
    extents_.fill(1);
    for (size_t k = 0; k < rank; ++k) extents_[4 - rank + k] = size_t(field.shape[k]);
    for (size_t k = 4, stride = 1; k-- > 0; stride *= extents_[k])
      strides_[k] = std::ptrdiff_t(stride);
    static constexpr size_t kEdges[] = {128, 128, 16, 6, 6}, kMost[] = {128, 128, 45, 12, 6};
    edge_ = edge ? std::min(size_t(edge), kMost[rank]) : kEdges[rank];
  }

  // Calls f() for each block, in order: first_, block_ and start_ describe it then.
  template <class F>
  void for_each_block(F&& f) {
    const auto step = [&](size_t k) { return extents_[k] == 1 ? 1 : edge_; };
    for (first_[0] = 0; first_[0] < extents_[0]; first_[0] += step(0))
      for (first_[1] = 0; first_[1] < extents_[1]; first_[1] += step(1))
        for (first_[2] = 0; first_[2] < extents_[2]; first_[2] += step(2))
          for (first_[3] = 0; first_[3] < extents_[3]; first_[3] += step(3)) {
            for (size_t k = 0; k < 4; ++k) block_[k] = std::min(step(k), extents_[k] - first_[k]);
            start_ = data_;
            for (size_t k = 0; k < 4; ++k) start_ += std::ptrdiff_t(first_[k]) * strides_[k];
            f();
          }
  }
  size_t block_size() const { return block_[0] * block_[1] * block_[2] * block_[3]; }

  // Calls f(row, its place in axes 0 to 2) until it returns false; returns whether it never did.
  template <class F>
  bool for_each_row(F&& f) const {
    for (size_t i = 0; i < block_[0]; ++i)
      for (size_t j = 0; j < block_[1]; ++j) {
        T* row = start_ + std::ptrdiff_t(i) * strides_[0] + std::ptrdiff_t(j) * strides_[1];
        for (size_t k = 0; k < block_[2]; ++k, row += strides_[2])
          if (!f(row, std::array{first_[0] + i, first_[1] + j, first_[2] + k})) return false;
      }
    return true;
  }
  // Calls f(length), as a constant if it is a usual one: short loops are worth it.
  template <class F>
  static void with_length(size_t length, F&& f) {
    if (length == 6)
      f(std::integral_constant<size_t, 6>());
    else if (length == 8)
      f(std::integral_constant<size_t, 8>());
    else
      f(length);
  }
  // The values of the block without gaps, and back.
  void gather_block(T* to) const {
    with_length(block_[3], [&](auto length) {
      for_each_row([&](const T* row, const auto&) {
        std::memcpy(to, row, length * sizeof(T));
        to += length;
        return true;
      });
    });
  }
  void put_back_block(const T* from) const {
    with_length(block_[3], [&](auto length) {
      for_each_row([&](T* row, const auto&) {
        std::memcpy(row, from, length * sizeof(T));
        from += length;
        return true;
      });
    });
  }

  std::array<std::ptrdiff_t, 4> strides_;
  std::array<size_t, 4> first_{};  // of the block
  BlockShape block_{};
  T* start_ = nullptr;  // its first value

 private:
  T* data_;
  std::array<size_t, 4> extents_;
  size_t edge_;
};

}  // namespace leeway
