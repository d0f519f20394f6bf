// SPDX-License-Identifier: BSD-3-Clause
// Wave: rows of a table whose predictions depend on each other, computed at the same time.
//
// A value predicted from those to the left, above, and above to the left waits for all three. But
// all values with the same row + column are independent of each other: a column of the wavefront
// [waveSZ, Tian et al., PPoPP 2020]. Some rows at a time are skewed so that such columns are
// vectors, and the loop of prediction, quantization and reconstruction runs on whole columns: first
// growing ones (HEAD), then full ones (BODY), then shrinking ones (TAIL). What comes out are the
// very codes of the loop value by value, in the order of rows. Predictors make waves, quantizers
// take them (linear_wave.cc).
#pragma once

#include <algorithm>
#include <vector>

#include "leeway/base/export.h"
#include "leeway/base/types.h"

namespace leeway {

// Rows of a table, one below the other, to be predicted as
//   p[j] = x[j-1] + (h[j] - h[j-1]),  h = (row above) + other.
// With a border, x[-1] is the value to the left of each row, kept exactly and visited before the
// row; else values to the left are 0. Without `has_above`, those above the first row are.
template <class T>
struct Wave {
  T* x = nullptr;
  size_t rows = 0, length = 0;
  std::ptrdiff_t stride = 0;  // from row to row, in values
  bool has_above = false, has_border = false;
  const T* other = nullptr;  // rows * length values, or null
  T* scratch = nullptr;
  size_t size() const { return rows * length; }
  size_t size_with_border() const { return rows * (length + has_border); }
  T& border(size_t row) const { return x[std::ptrdiff_t(row) * stride - 1]; }
};

// Planes of a few rows of a block, to be predicted as
//   p[x] = row[x-1] + (h[x] - h[x-1]),  h = (row above) + (same row, plane above) - (its row above)
// (linear_block.cc). Values outside the array are 0.
template <class T>
struct BlockWave {
  T* x = nullptr;
  size_t planes = 0, rows = 0, length = 0;
  std::ptrdiff_t plane_stride = 0, row_stride = 0;              // in values
  bool has_plane = false, has_row = false, has_column = false;  // before the first
  size_t codes_in_plane = 0;                                    // from plane to plane
};

template <class T, class F>
void for_each_row(const Wave<T>& wave, F&& f) {
  for (size_t r = 0; r < wave.rows; ++r) f(wave.x + std::ptrdiff_t(r) * wave.stride);
}
template <class T, class F>
void for_each_row(const BlockWave<T>& block, F&& f) {
  for (size_t j = 0; j < block.planes; ++j)
    for (size_t k = 0; k < block.rows; ++k)
      f(block.x + std::ptrdiff_t(j) * block.plane_stride + std::ptrdiff_t(k) * block.row_stride);
}

inline constexpr size_t kMostBlockPlanes = 12, kMostBlockRows = 7, kMostBlockLength = 16;

// The number of vectors that a wave computes in turn.
inline constexpr size_t kWaveVectors = 2;

// How many rows a wave has at most; 0: no waves on this machine.
LEEWAY_EXPORT size_t wave_rows_f32();
LEEWAY_EXPORT size_t wave_rows_f64();

// Makes waves from rows of one length, and owns the memory for them.
template <class T>
class WaveMaker {
 public:
  static constexpr bool kPossible = std::is_same_v<T, float> || std::is_same_v<T, double>;
  explicit WaveMaker(size_t length) : length_(length) {
    if constexpr (std::is_same_v<T, float>) most_ = wave_rows_f32();
    if constexpr (std::is_same_v<T, double>) most_ = wave_rows_f64();
    if (length < 2 * most_) most_ = 0;
  }
  // How many of the rows that are left to compute as one wave; 0: go value by value.
  size_t rows(size_t left) const { return left >= 3 ? std::min(most_, left) : 0; }
  T* other(size_t row) {
    if (other_.empty()) other_.resize(most_ * length_);
    return other_.data() + row * length_;
  }
  Wave<T> make(T* x, size_t rows, std::ptrdiff_t stride, bool has_above, bool has_border) {
    if (scratch_.empty()) scratch_.resize(3 * (length_ + most_) * most_);
    return {x, rows, length_, stride, has_above, has_border, nullptr, scratch_.data()};
  }
  Wave<T> with_other(Wave<T> wave) const {
    wave.other = other_.data();
    return wave;
  }

 private:
  size_t length_, most_ = 0;
  std::vector<T> other_, scratch_;
};

}  // namespace leeway
