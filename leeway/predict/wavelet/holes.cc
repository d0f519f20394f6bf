// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/wavelet/holes.h"

#include <algorithm>
#include <vector>

#include "leeway/base/types.h"

namespace leeway::wavelet {
namespace {

constexpr int kSweeps = 6;

Shape halved(const Shape& shape) {
  std::array<u64, kMaxRank> extents{};
  for (size_t axis = 0; axis < shape.rank(); ++axis) extents[axis] = (shape[axis] + 1) / 2;
  return Shape(std::span<const u64>(extents).first(shape.rank()));
}

Index strides_of(const Shape& shape) {
  Index strides{};
  for (u64 step = 1, axis = shape.rank(); axis-- > 0; step *= shape[axis]) strides[axis] = step;
  return strides;
}

// Calls f(index, place) for the first value of each row.
template <class F>
void for_each_row(const Shape& shape, F&& f) {
  const Index strides = strides_of(shape);
  for_each_outer(shape, 1, [&](const Index& index) {
    u64 place = 0;
    for (size_t axis = 0; axis + 1 < shape.rank(); ++axis) place += index[axis] * strides[axis];
    f(index, size_t(place));
  });
}

// Replaces each hole by the mean of its neighbours, one after the other.
template <class C>
void sweep(C* values, const Shape& shape, std::span<const u8> special) {
  const size_t last = shape.rank() - 1, length = size_t(shape[last]);
  const Index strides = strides_of(shape);
  for_each_row(shape, [&](const Index& index, size_t row) {
    std::array<std::ptrdiff_t, 2 * kMaxRank> near;
    size_t count = 0;
    for (size_t axis = 0; axis < last; ++axis) {
      if (index[axis] > 0) near[count++] = -std::ptrdiff_t(strides[axis]);
      if (index[axis] + 1 < shape[axis]) near[count++] = std::ptrdiff_t(strides[axis]);
    }
    for (size_t x = 0; x < length; ++x) {
      if (special[row + x] == 0) continue;
      C* const at = values + row + x;
      C sum = 0;
      size_t number = count;
      for (size_t k = 0; k < count; ++k) sum += at[near[k]];
      if (x > 0) sum += at[-1], ++number;
      if (x + 1 < length) sum += at[1], ++number;
      *at = sum / C(number);
    }
  });
}

}  // namespace

template <class C>
void fill_holes(C* values, const Shape& shape, std::span<const u8> special) {
  const Shape coarse = halved(shape);
  const auto size = size_t(coarse.size());
  std::vector<C> means(size), counts(size);
  const size_t last = shape.rank() - 1, length = size_t(shape[last]);
  const Index strides = strides_of(coarse);
  const auto coarse_row = [&](const Index& index) {
    u64 place = 0;
    for (size_t axis = 0; axis < last; ++axis) place += index[axis] / 2 * strides[axis];
    return size_t(place);
  };
  for_each_row(shape, [&](const Index& index, size_t row) {
    const size_t above = coarse_row(index);
    for (size_t x = 0; x < length; ++x) {
      if (special[row + x] != 0) continue;
      means[above + x / 2] += values[row + x];
      counts[above + x / 2] += 1;
    }
  });
  std::vector<u8> unknown(size);
  bool any = false;
  for (size_t i = 0; i < size; ++i) {
    unknown[i] = counts[i] == 0;
    any |= unknown[i] != 0;
    if (!unknown[i]) means[i] /= counts[i];
  }
  if (any && size > 1) fill_holes(means.data(), coarse, std::span<const u8>(unknown));
  for_each_row(shape, [&](const Index& index, size_t row) {
    const size_t above = coarse_row(index);
    for (size_t x = 0; x < length; ++x)
      if (special[row + x] != 0) values[row + x] = means[above + x / 2];
  });
  for (int i = 0; i < kSweeps; ++i) sweep(values, shape, special);
}

template void fill_holes(float*, const Shape&, std::span<const u8>);
template void fill_holes(double*, const Shape&, std::span<const u8>);

}  // namespace leeway::wavelet
