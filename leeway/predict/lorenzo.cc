// SPDX-License-Identifier: BSD-3-Clause
// Differences and prefix sums along every axis of an integer field, row by row, in place.
#include "leeway/predict/lorenzo.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/predict/lorenzo.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::HWY_NAMESPACE {

// Plain loops, compiled once per target. `rows` are the rows before, the first `plus` of them to be
// added, the others to be subtracted. Going back inside a 3-D array, two and one, is one pass.
template <class U>
void accumulate(U* HWY_RESTRICT sum, const U* const* rows, size_t count, size_t plus, size_t n) {
  if (count == 3 && plus == 2) {
    const U *HWY_RESTRICT a = rows[0], *HWY_RESTRICT b = rows[1], *HWY_RESTRICT c = rows[2];
    for (size_t i = 0; i < n; ++i) sum[i] += a[i] + b[i] - c[i];
  } else {
    for (size_t r = 0; r < count; ++r) {
      const U* HWY_RESTRICT row = rows[r];
      if (r < plus)
        for (size_t i = 0; i < n; ++i) sum[i] += row[i];
      else
        for (size_t i = 0; i < n; ++i) sum[i] -= row[i];
    }
  }
}
template <class U>
void difference(const U* HWY_RESTRICT from, U* HWY_RESTRICT to, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] = from[i + 1] - from[i];
}

// The common case, a row inside a 3-D array, in one pass and in place, from the end to the front:
// row[i] = t[i] - t[i-1] with t = row + a - b - c, for i >= 1. Returns how many values at the front
// are left.
template <class U>
size_t difference_inside(U* row, const U* a, const U* b, const U* c, size_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<U> d;
  const auto sum_at = [&](size_t i) HWY_ATTR {
    return hn::Sub(
        hn::Sub(hn::Add(hn::LoadU(d, row + i), hn::LoadU(d, a + i)), hn::LoadU(d, b + i)),
        hn::LoadU(d, c + i));
  };
  for (; n > hn::Lanes(d); n -= hn::Lanes(d)) {
    const size_t i = n - hn::Lanes(d);
    hn::StoreU(hn::Sub(sum_at(i), sum_at(i - 1)), d, row + i);
  }
  return n;
}

size_t difference_inside_u32(u32* row, const u32* a, const u32* b, const u32* c, size_t n) {
  return difference_inside(row, a, b, c, n);
}
size_t difference_inside_u64(u64* row, const u64* a, const u64* b, const u64* c, size_t n) {
  return difference_inside(row, a, b, c, n);
}
void accumulate_u32(u32* sum, const u32* const* rows, size_t count, size_t plus, size_t n) {
  accumulate(sum, rows, count, plus, n);
}
void accumulate_u64(u64* sum, const u64* const* rows, size_t count, size_t plus, size_t n) {
  accumulate(sum, rows, count, plus, n);
}
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
HWY_EXPORT(difference_inside_u32);
HWY_EXPORT(difference_inside_u64);

void accumulate(u32* sum, const u32* const* rows, size_t count, size_t plus, size_t n) {
  HWY_DYNAMIC_DISPATCH(accumulate_u32)(sum, rows, count, plus, n);
}
void accumulate(u64* sum, const u64* const* rows, size_t count, size_t plus, size_t n) {
  HWY_DYNAMIC_DISPATCH(accumulate_u64)(sum, rows, count, plus, n);
}
void difference(const u32* from, u32* to, size_t n) {
  HWY_DYNAMIC_DISPATCH(difference_u32)(from, to, n);
}
void difference(const u64* from, u64* to, size_t n) {
  HWY_DYNAMIC_DISPATCH(difference_u64)(from, to, n);
}

size_t difference_inside(u32* row, const u32* a, const u32* b, const u32* c, size_t n) {
  return HWY_DYNAMIC_DISPATCH(difference_inside_u32)(row, a, b, c, n);
}
size_t difference_inside(u64* row, const u64* a, const u64* b, const u64* c, size_t n) {
  return HWY_DYNAMIC_DISPATCH(difference_inside_u64)(row, a, b, c, n);
}

// The rows of a field, seen as index tuples over all axes but the last, and for each the rows
// before it with the sign they have in a product of first differences.
class Rows {
 public:
  explicit Rows(const Shape& shape)
      : outer_(shape.rank() > 0 ? shape.rank() - 1 : 0), shape_(shape) {
    length = shape.rank() > 0 ? size_t(shape[outer_]) : 1;
    count = size_t(shape.size()) / length;
    size_t stride = length;
    for (size_t axis = outer_; axis-- > 0; stride *= size_t(shape[axis])) stride_[axis] = stride;
  }

  // How far before `row` the rows of its prediction lie, in values: those at an even number of
  // steps first.
  struct Before {
    std::array<size_t, 1u << (kMaxRank - 1)> distance;
    size_t count = 0, even = 0;
  };
  // Valid until the next call. Neighbouring rows mostly have the same.
  const Before& before(size_t row) {
    u32 usable = 0, rest = u32(row);
    for (size_t axis = outer_; axis-- > 0;) {
      const u32 extent = u32(shape_[axis]), next = rest / extent;
      if (rest != next * extent) usable |= 1u << axis;
      rest = next;
    }
    if (usable != usable_) find_before(usable_ = usable);
    return before_;
  }

  size_t length, count;

 private:
  void find_before(u32 usable) {
    before_.count = 0;
    for (const bool odd : {false, true}) {
      for (u32 set = usable; set != 0; set = (set - 1) & usable) {
        if ((std::popcount(set) % 2 == 1) != odd) continue;
        size_t& distance = before_.distance[before_.count++] = 0;
        for (size_t axis = 0; axis < outer_; ++axis)
          if (set >> axis & 1) distance += stride_[axis];
      }
      if (!odd) before_.even = before_.count;
    }
  }

  size_t outer_;
  Shape shape_;
  std::array<size_t, kMaxRank> stride_{};
  u32 usable_ = 0;
  Before before_;
};

// Values of a row handled at once, so that sums stay in the first cache.
constexpr size_t kPiece = 2048;

// Replaces values by their differences, last row first: the rows before are still values.
template <class U>
void differences(Field<U> field) {
  Rows rows(field.shape);
  std::array<U, kPiece + 1> sums;
  std::array<const U*, 1u << (kMaxRank - 1)> pieces;
  for (size_t r = rows.count; r-- > 0;) {
    U* row = field.data + r * rows.length;
    const auto& before = rows.before(r);
    const auto row_before = [&](size_t k) { return row - before.distance[k]; };
    size_t end = rows.length;
    if (before.count == 3)
      end = difference_inside(row, row_before(0), row_before(1), row_before(2), end);
    while (end > 0) {
      const size_t first = (end - 1) / kPiece * kPiece, from = first > 0 ? first - 1 : 0;
      U* sum = sums.data() + (first > 0 ? 0 : 1);
      sums[0] = 0;
      std::copy(row + from, row + end, sum);
      for (size_t k = 0; k < before.count; ++k) pieces[k] = row + from - before.distance[k];
      accumulate(sum, pieces.data(), before.count, before.even, end - from);
      difference(sums.data(), row + first, end - first);
      end = first;
    }
  }
}

// The inverse: prefix sums along the row, then the rows before with opposite signs.
template <class U>
void sums(Field<U> field) {
  Rows rows(field.shape);
  std::array<const U*, 1u << (kMaxRank - 1)> pieces;
  for (size_t r = 0; r < rows.count; ++r) {
    U* row = field.data + r * rows.length;
    const auto& before = rows.before(r);
    U carry = 0;
    for (size_t first = 0; first < rows.length; first += kPiece) {
      const size_t n = std::min(kPiece, rows.length - first);
      for (size_t i = first; i < first + n; ++i) row[i] = carry += row[i];
      // Odd ones are added now, and stand last.
      for (size_t k = 0; k < before.count; ++k)
        pieces[k] = row + first - before.distance[(before.even + k) % before.count];
      accumulate(row + first, pieces.data(), before.count, before.count - before.even, n);
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
