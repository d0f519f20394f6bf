// SPDX-License-Identifier: BSD-3-Clause
// Differences and prefix sums along every axis of an integer field, row by row, in place.
#include "leeway/predict/lorenzo.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/predict/lorenzo.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::HWY_NAMESPACE {

// sum[i] += sign * row[i]; plain loops, compiled once per target.
template <class U>
void accumulate(U* HWY_RESTRICT sum, const U* HWY_RESTRICT row, size_t n, bool negative) {
  if (negative)
    for (size_t i = 0; i < n; ++i) sum[i] -= row[i];
  else
    for (size_t i = 0; i < n; ++i) sum[i] += row[i];
}
template <class U>
void difference(const U* HWY_RESTRICT from, U* HWY_RESTRICT to, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] = from[i] - from[i - 1];
}

void accumulate_u32(u32* sum, const u32* row, size_t n, bool negative) { accumulate(sum, row, n, negative); }
void accumulate_u64(u64* sum, const u64* row, size_t n, bool negative) { accumulate(sum, row, n, negative); }
void difference_u32(const u32* from, u32* to, size_t n) { difference(from, to, n); }
void difference_u64(const u64* from, u64* to, size_t n) { difference(from, to, n); }

}  // namespace leeway::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway {
namespace {

HWY_EXPORT(accumulate_u32);
HWY_EXPORT(accumulate_u64);
HWY_EXPORT(difference_u32);
HWY_EXPORT(difference_u64);

void accumulate(u32* sum, const u32* row, size_t n, bool negative) {
  HWY_DYNAMIC_DISPATCH(accumulate_u32)(sum, row, n, negative);
}
void accumulate(u64* sum, const u64* row, size_t n, bool negative) {
  HWY_DYNAMIC_DISPATCH(accumulate_u64)(sum, row, n, negative);
}
void difference(const u32* from, u32* to, size_t n) { HWY_DYNAMIC_DISPATCH(difference_u32)(from, to, n); }
void difference(const u64* from, u64* to, size_t n) { HWY_DYNAMIC_DISPATCH(difference_u64)(from, to, n); }

// The rows of a field, seen as index tuples over all axes but the last, and for each the rows before it
// with the sign they have in a product of first differences.
class Rows {
 public:
  explicit Rows(const Shape& shape) : outer_(shape.rank() > 0 ? shape.rank() - 1 : 0), shape_(shape) {
    length = shape.rank() > 0 ? size_t(shape[outer_]) : 1;
    count = size_t(shape.size()) / length;
    size_t stride = length;
    for (size_t axis = outer_; axis-- > 0; stride *= size_t(shape[axis])) stride_[axis] = stride;
  }

  // Calls f(distance in values, negative) for the rows before `row`.
  template <class F>
  void for_each_before(size_t row, F&& f) const {
    u32 usable = 0;
    for (size_t axis = outer_; axis-- > 0; row /= size_t(shape_[axis]))
      if (row % size_t(shape_[axis]) > 0) usable |= 1u << axis;
    for (u32 set = usable; set != 0; set = (set - 1) & usable) {
      size_t distance = 0;
      for (size_t axis = 0; axis < outer_; ++axis)
        if (set >> axis & 1) distance += stride_[axis];
      f(distance, std::popcount(set) % 2 == 1);
    }
  }

  size_t length, count;

 private:
  size_t outer_;
  Shape shape_;
  std::array<size_t, kMaxRank> stride_{};
};

constexpr size_t kPiece = 2048;  // values of a row handled at once, so that sums stay in the first cache

// Replaces values by their differences, last row first: the rows before are still values.
template <class U>
void differences(Field<U> field) {
  const Rows rows(field.shape);
  std::array<U, kPiece + 1> sums;
  for (size_t r = rows.count; r-- > 0;) {
    U* row = field.data + r * rows.length;
    for (size_t end = rows.length; end > 0;) {
      const size_t first = (end - 1) / kPiece * kPiece, from = first > 0 ? first - 1 : 0;
      U* sum = sums.data() + (first > 0 ? 0 : 1);
      sums[0] = 0;
      std::copy(row + from, row + end, sum);
      rows.for_each_before(r, [&](size_t distance, bool negative) {
        accumulate(sum, row + from - distance, end - from, negative);
      });
      difference(sums.data() + 1, row + first, end - first);
      end = first;
    }
  }
}

// The inverse: prefix sums along the row, then the rows before with opposite signs.
template <class U>
void sums(Field<U> field) {
  const Rows rows(field.shape);
  for (size_t r = 0; r < rows.count; ++r) {
    U* row = field.data + r * rows.length;
    U carry = 0;
    for (size_t first = 0; first < rows.length; first += kPiece) {
      const size_t n = std::min(kPiece, rows.length - first);
      for (size_t i = first; i < first + n; ++i) row[i] = carry += row[i];
      rows.for_each_before(r, [&](size_t distance, bool negative) {
        accumulate(row + first, row + first - distance, n, !negative);
      });
    }
  }
}

template <class U>
void repeat(const Lorenzo& lorenzo, Field<U> field, void (*pass)(Field<U>)) {
  for (i32 layer = 0; layer < lorenzo.params.order; ++layer) lorenzo.for_each_batch(field, pass);
}

}  // namespace

void Lorenzo::forward(Field<u32> field) const { repeat(*this, field, differences<u32>); }
void Lorenzo::forward(Field<u64> field) const { repeat(*this, field, differences<u64>); }
void Lorenzo::backward(Field<u32> field) const { repeat(*this, field, sums<u32>); }
void Lorenzo::backward(Field<u64> field) const { repeat(*this, field, sums<u64>); }

}  // namespace leeway
#endif
