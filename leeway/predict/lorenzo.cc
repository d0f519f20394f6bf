// SPDX-License-Identifier: BSD-3-Clause
// Differences and prefix sums along every axis of an integer field, row by row, in place.
#include "leeway/predict/lorenzo.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/predict/lorenzo.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "leeway/base/lanes-inl.h"

#ifndef LEEWAY_PREDICT_LORENZO_ROWS
#define LEEWAY_PREDICT_LORENZO_ROWS
namespace leeway::lorenzo_kernels {

// The rows before a row in its array, as they stand in a product of first differences: inside an
// array of two axes `minus` alone, of three axes `minus`, `minus_too` and `plus`. Missing: null.
template <class U>
struct RowsBefore {
  const U *minus = nullptr, *minus_too = nullptr, *plus = nullptr;
};

}  // namespace leeway::lorenzo_kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::lorenzo_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace lanes::HWY_NAMESPACE;

// t[i]: the value less what the rows before predict.
template <int rows, class U>
HWY_INLINE U residual_at(const U* row, const RowsBefore<U>& before, std::ptrdiff_t i) {
  U t = row[i];
  if constexpr (rows > 0) t = U(t - before.minus[i]);
  if constexpr (rows > 1) t = U(t + before.plus[i] - before.minus_too[i]);
  return t;
}

// out[i] = t[i] - t[i-1]. A row that continues has values before it.
template <int rows, class U>
HWY_INLINE void difference_row(const U* HWY_RESTRICT row, const RowsBefore<U>& before,
                               bool continues, size_t n, U* HWY_RESTRICT out) {
  U last = continues ? residual_at<rows>(row, before, -1) : U(0);
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const ShortTag<U> d;
  auto t_before = hn::Set(d, last);
  const U *const minus = before.minus, *const minus_too = before.minus_too,
                 *const plus = before.plus;
  const auto residual = [&](size_t k) HWY_ATTR {
    auto t = hn::LoadU(d, row + k);
    if constexpr (rows > 0) t = hn::Sub(t, hn::LoadU(d, minus + k));
    if constexpr (rows > 1)
      t = hn::Add(hn::Sub(t, hn::LoadU(d, minus_too + k)), hn::LoadU(d, plus + k));
    return t;
  };
  const size_t lanes = hn::Lanes(d);
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto t = residual(i), t_next = residual(i + lanes);
    hn::StoreU(hn::Sub(t, one_lane_on(d, t, t_before)), d, out + i);
    hn::StoreU(hn::Sub(t_next, one_lane_on(d, t_next, t)), d, out + i + lanes);
    t_before = t_next;
  }
  for (; i + lanes <= n; i += lanes) {
    const auto t = residual(i);
    hn::StoreU(hn::Sub(t, one_lane_on(d, t, t_before)), d, out + i);
    t_before = t;
  }
  if (i > 0 && i < n) last = residual_at<rows>(row, before, std::ptrdiff_t(i) - 1);
#endif
  for (; i < n; ++i) {
    const U t = residual_at<rows>(row, before, std::ptrdiff_t(i));
    out[i] = U(t - last);
    last = t;
  }
}

#if HWY_TARGET != HWY_SCALAR
// The last lane of every block of 16 bytes, in all its lanes.
template <class D, class V>
HWY_INLINE V last_of_blocks(D d, V v) {
  if constexpr (sizeof(hn::TFromD<D>) == 2) {
    const hn::Repartition<u8, D> d8;
    alignas(16) static constexpr u8 kLast[16] = {14, 15, 14, 15, 14, 15, 14, 15,
                                                 14, 15, 14, 15, 14, 15, 14, 15};
    return hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(d8, v), hn::LoadDup128(d8, kLast)));
  } else {
    return hn::Broadcast<16 / sizeof(hn::TFromD<D>) - 1>(v);
  }
}
#endif

// The inverse, in place: prefix sums of the row, and back what the rows before predict.
template <int rows, class U>
HWY_INLINE void sum_row(U* row, const RowsBefore<U>& before, bool continues, size_t n) {
  U last = continues ? residual_at<rows>(row, before, -1) : U(0);
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const ShortTag<U> d;
  constexpr size_t kBlockLanes = 16 / sizeof(U);
  constexpr bool two_blocks = hn::MaxLanes(d) == 2 * kBlockLanes;
  const U *const minus = before.minus, *const minus_too = before.minus_too,
                 *const plus = before.plus;
  auto carry = hn::Set(d, last);
  const auto one = [&](size_t k) HWY_ATTR {
    auto v = hn::LoadU(d, row + k);
    v = hn::Add(v, hn::ShiftLeftLanes<1>(d, v));
    if constexpr (kBlockLanes >= 4) v = hn::Add(v, hn::ShiftLeftLanes<2>(d, v));
    if constexpr (kBlockLanes >= 8) v = hn::Add(v, hn::ShiftLeftLanes<4>(d, v));
    auto total = last_of_blocks(d, v);
    if constexpr (two_blocks) {
      v = hn::Add(v, hn::ConcatLowerLower(d, total, hn::Zero(d)));
      total = hn::Add(total, hn::ConcatLowerUpper(d, total, total));  // of both blocks
    }
    auto sum = hn::Add(v, carry);
    carry = hn::Add(carry, total);  // the only thing that the next turn waits for
    if constexpr (rows > 0) sum = hn::Add(sum, hn::LoadU(d, minus + k));
    if constexpr (rows > 1)
      sum = hn::Sub(hn::Add(sum, hn::LoadU(d, minus_too + k)), hn::LoadU(d, plus + k));
    hn::StoreU(sum, d, row + k);
  };
  const size_t lanes = hn::Lanes(d);
  for (; i + 2 * lanes <= n; i += 2 * lanes) one(i), one(i + lanes);
  for (; i + lanes <= n; i += lanes) one(i);
  last = hn::GetLane(carry);
#endif
  for (; i < n; ++i) {
    row[i] = last = U(last + row[i]);
    if constexpr (rows > 0) row[i] = U(row[i] + before.minus[i]);
    if constexpr (rows > 1) row[i] = U(row[i] + before.minus_too[i] - before.plus[i]);
  }
}

// The `count` values at `data`, from number `first` on, of arrays of these extents that stand one
// behind the other. Calls f(rows before, place, column, n) for every row or part of a row, as a
// constant how many rows before it has.
template <class U, class F>
HWY_INLINE void for_each_row_part(const U* data, const size_t (&extents)[3], size_t first,
                                  size_t count, F&& f) {
  const auto [planes, rows, length] = extents;
  size_t column = first % length;
  if (planes == 1 && rows == 1) {  // short runs, perhaps: nothing else to think of
    for (size_t at = 0, n; at < count; at += n, column = 0) {
      n = std::min(length - column, count - at);
      f(std::integral_constant<int, 0>(), RowsBefore<U>{}, at, column, n);
    }
    return;
  }
  size_t row = first / length % rows, plane = first / length / rows % planes;
  for (size_t at = 0; at < count;) {
    const size_t n = std::min(length - column, count - at);
    const U* x = data + at;
    if (row > 0 && plane > 0)
      f(std::integral_constant<int, 3>(),
        RowsBefore<U>{x - length, x - rows * length, x - (rows + 1) * length}, at, column, n);
    else if (row > 0 || plane > 0)
      f(std::integral_constant<int, 1>(), RowsBefore<U>{x - (row > 0 ? length : rows * length)}, at,
        column, n);
    else
      f(std::integral_constant<int, 0>(), RowsBefore<U>{}, at, column, n);
    at += n;
    column = 0;
    if (++row == rows) {
      row = 0;
      if (++plane == planes) plane = 0;
    }
  }
}

template <class U>
void differences(const U* data, const size_t (&extents)[3], size_t first, size_t count, U* out) {
  for_each_row_part(
      data, extents, first, count,
      [&](auto rows, const RowsBefore<U>& before, size_t at, size_t column, size_t n)
          HWY_ATTR { difference_row<rows.value>(data + at, before, column > 0, n, out + at); });
}
template <class U>
void sums(U* data, const size_t (&extents)[3], size_t first, size_t count) {
  for_each_row_part(data, extents, first, count,
                    [&](auto rows, const RowsBefore<U>& before, size_t at, size_t column, size_t n)
                        HWY_ATTR { sum_row<rows.value>(data + at, before, column > 0, n); });
}

void differences_u16(const u16* data, const size_t (&extents)[3], size_t first, size_t count,
                     u16* out) {
  differences(data, extents, first, count, out);
}
void differences_u32(const u32* data, const size_t (&extents)[3], size_t first, size_t count,
                     u32* out) {
  differences(data, extents, first, count, out);
}
void differences_u64(const u64* data, const size_t (&extents)[3], size_t first, size_t count,
                     u64* out) {
  differences(data, extents, first, count, out);
}
void sums_u16(u16* data, const size_t (&extents)[3], size_t first, size_t count) {
  sums(data, extents, first, count);
}
void sums_u32(u32* data, const size_t (&extents)[3], size_t first, size_t count) {
  sums(data, extents, first, count);
}
void sums_u64(u64* data, const size_t (&extents)[3], size_t first, size_t count) {
  sums(data, extents, first, count);
}

// Adds or subtracts the array before, one value after the other.
template <class U>
void add_array(U* HWY_RESTRICT to, const U* HWY_RESTRICT from, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] += from[i];
}
template <class U>
void subtract_array(U* HWY_RESTRICT to, const U* HWY_RESTRICT from, size_t n) {
  for (size_t i = 0; i < n; ++i) to[i] -= from[i];
}
void add_u32(u32* to, const u32* from, size_t n) { add_array(to, from, n); }
void add_u64(u64* to, const u64* from, size_t n) { add_array(to, from, n); }
void subtract_u32(u32* to, const u32* from, size_t n) { subtract_array(to, from, n); }
void subtract_u64(u64* to, const u64* from, size_t n) { subtract_array(to, from, n); }

}  // namespace leeway::lorenzo_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::lorenzo_kernels {
HWY_EXPORT(differences_u16);
HWY_EXPORT(differences_u32);
HWY_EXPORT(differences_u64);
HWY_EXPORT(sums_u16);
HWY_EXPORT(sums_u32);
HWY_EXPORT(sums_u64);
HWY_EXPORT(add_u32);
HWY_EXPORT(add_u64);
HWY_EXPORT(subtract_u32);
HWY_EXPORT(subtract_u64);
}  // namespace leeway::lorenzo_kernels

namespace leeway {
using namespace lorenzo_kernels;
namespace {

using Extents = size_t[3];
void differences(const u16* data, const Extents& e, size_t first, size_t count, u16* out) {
  HWY_DYNAMIC_DISPATCH(differences_u16)(data, e, first, count, out);
}
void differences(const u32* data, const Extents& e, size_t first, size_t count, u32* out) {
  HWY_DYNAMIC_DISPATCH(differences_u32)(data, e, first, count, out);
}
void differences(const u64* data, const Extents& e, size_t first, size_t count, u64* out) {
  HWY_DYNAMIC_DISPATCH(differences_u64)(data, e, first, count, out);
}
void sums(u16* data, const Extents& e, size_t first, size_t count) {
  HWY_DYNAMIC_DISPATCH(sums_u16)(data, e, first, count);
}
void sums(u32* data, const Extents& e, size_t first, size_t count) {
  HWY_DYNAMIC_DISPATCH(sums_u32)(data, e, first, count);
}
void sums(u64* data, const Extents& e, size_t first, size_t count) {
  HWY_DYNAMIC_DISPATCH(sums_u64)(data, e, first, count);
}
void add(u32* to, const u32* from, size_t n) { HWY_DYNAMIC_DISPATCH(add_u32)(to, from, n); }
void add(u64* to, const u64* from, size_t n) { HWY_DYNAMIC_DISPATCH(add_u64)(to, from, n); }
void subtract(u32* to, const u32* from, size_t n) {
  HWY_DYNAMIC_DISPATCH(subtract_u32)(to, from, n);
}
void subtract(u64* to, const u64* from, size_t n) {
  HWY_DYNAMIC_DISPATCH(subtract_u64)(to, from, n);
}

// The extents of the last `axes` axes, at most three of them.
struct Inner {
  Extents extents = {1, 1, 1};
  size_t size = 1;

  Inner(const Shape& shape, size_t axes) {
    for (size_t k = 0; k < std::min({axes, shape.rank(), size_t(3)}); ++k) {
      extents[2 - k] = size_t(shape[shape.rank() - 1 - k]);
      size *= extents[2 - k];
    }
  }
};

// Calls f(arrays, size, count) for every axis before the last three that is used: count sub-arrays
// that stand one behind the other.
template <class U, class F>
void for_each_outer_axis(Field<U> field, size_t axes, F&& f) {
  const size_t rank = field.shape.rank();
  size_t size = Inner(field.shape, axes).size;
  for (size_t k = 3; k < std::min(axes, rank); ++k) {
    const auto count = size_t(field.shape[rank - 1 - k]);
    for (size_t first = 0; first < field.size(); first += size * count)
      f(field.data + first, size, count);
    size *= count;
  }
}

// Once along every used axis.
template <class U>
void differences(Field<U> field, size_t axes) {
  Buffer<U> values(field.size());
  std::ranges::copy(field.values(), values.data());
  differences(values.data(), Inner(field.shape, axes).extents, 0, field.size(), field.data);
  for_each_outer_axis(field, axes, [](U* data, size_t size, size_t count) {
    for (size_t i = count; i-- > 1;) subtract(data + i * size, data + (i - 1) * size, size);
  });
}
template <class U>
void sums(Field<U> field, size_t axes) {
  for_each_outer_axis(field, axes, [](U* data, size_t size, size_t count) {
    for (size_t i = 1; i < count; ++i) add(data + i * size, data + (i - 1) * size, size);
  });
  sums(field.data, Inner(field.shape, axes).extents, 0, field.size());
}

// From the neighbours of one value, where it has some before it along the row, the table, the
// array.
template <class U>
U predicted_at(const U* value, bool in_row, bool in_table, bool in_array, size_t row_step,
               size_t plane_step) {
  const auto corner = [&](size_t step) {
    const U* other = value - step;
    return U(other[0] - (in_row ? other[-1] : 0));
  };
  U sum = in_row ? value[-1] : U(0);
  if (in_table) sum = U(sum + corner(row_step));
  if (in_array) sum = U(sum + corner(plane_step));
  if (in_table && in_array) sum = U(sum - corner(row_step + plane_step));
  return sum;
}

constexpr size_t kMostChosen = 3;  // axes, where they are chosen

// Of the field's first values, how many are looked at: two planes, or some rows.
size_t sample_size(const Shape& shape) {
  return size_t(std::min<u64>(shape.size(), std::max<u64>(8192, 2 * Inner(shape, 2).size)));
}

template <class U>
auto size_of_difference(U difference) {
  const auto s = std::make_signed_t<U>(difference);
  if constexpr (sizeof(U) == 8)
    return std::min<u64>(s < 0 ? u64(0) - u64(s) : u64(s), u64(1) << 40);
  else
    return s < 0 ? 0 - u32(s) : u32(s);
}

// The number of axes whose differences are smallest, on rows spread over the sample.
template <class U>
size_t choose_axes(Field<U> field) {
  const size_t rank = field.shape.rank(), most = std::min(rank, kMostChosen);
  const Extents& extents = Inner(field.shape, 2).extents;
  const size_t length = extents[2], planes_rows = extents[1];
  const size_t rows = sample_size(field.shape) / std::max<size_t>(length, 1);
  const size_t row_step = length, plane_step = length * planes_rows;
  constexpr size_t kRows = 4, kValues = 48;
  std::array<u64, kMostChosen + 1> cost{};
  const size_t values = std::min(kValues, length - std::min<size_t>(length, 1));
  const size_t samples = std::clamp<size_t>(field.size() / 256, 1, kRows);
  for (size_t k = 0; k < samples; ++k) {
    // Not the first row of a plane nor the first plane, where there are others.
    size_t row = rows * (2 * k + 1) / (2 * samples);
    if (planes_rows > 1 && row % planes_rows == 0) ++row;
    if (rank > 2 && row < planes_rows) row += planes_rows;
    if (row >= rows || row < (rank > 1 ? 1 : 0) + (rank > 2 ? planes_rows : 0)) continue;
    const U* x = field.data + row * row_step + 1 + (length - 1 - values) * (k + 1) / samples;
    const auto add = [&](size_t axes, auto&& difference_at) {
      if (axes > most) return;
      u64 sum = 0;
      for (size_t i = 0; i < values; ++i) sum += size_of_difference(difference_at(x + i));
      cost[axes] += sum;
    };
    add(0, [](const U* v) { return v[0]; });
    add(1, [](const U* v) { return U(v[0] - v[-1]); });
    const auto in_table = [=](const U* v) {
      const U* above = v - row_step;
      return U(v[0] - v[-1] - above[0] + above[-1]);
    };
    add(2, in_table);
    add(3, [=](const U* v) { return U(in_table(v) - in_table(v - plane_step)); });
  }
  // Few axes where it makes no difference: they cost less time.
  return size_t(std::min_element(cost.begin(), cost.begin() + std::ptrdiff_t(most) + 1) -
                cost.begin());
}

template <class U>
void forward_typed(const Lorenzo& lorenzo, Field<U> field, Writer& side) {
  const size_t axes = lorenzo.choose(field, side);
  for (i32 layer = 0; axes > 0 && layer < lorenzo.params.order; ++layer) differences(field, axes);
}
template <class U>
void backward_typed(const Lorenzo& lorenzo, Field<U> field, Reader& side) {
  const size_t axes = lorenzo.chosen(side);
  for (i32 layer = 0; axes > 0 && layer < lorenzo.params.order; ++layer) sums(field, axes);
}
}  // namespace

size_t Lorenzo::values_ahead(const Shape& shape) const {
  return params.axes > 0 ? 0 : sample_size(shape);
}
size_t Lorenzo::reach(const Shape& shape) const {
  const Extents& extents =
      Inner(shape, params.axes > 0 ? size_t(params.axes) : kMostChosen).extents;
  const size_t table = extents[0] > 1 ? extents[1] * extents[2] : 0,
               row = extents[1] > 1 ? extents[2] : 0;
  return table + row + 1;
}
template <class U>
size_t Lorenzo::choose(Field<U> field, Writer& side) const {
  if (params.axes > 0) return size_t(params.axes);
  const size_t axes = choose_axes(field);
  side.put(u8(axes));
  return axes;
}
size_t Lorenzo::chosen(Reader& side) const {
  if (params.axes > 0) return size_t(params.axes);
  const size_t axes = side.get<u8>();
  if (axes > kMostChosen) fail_corrupt("too many axes");
  return axes;
}
template <class U>
void Lorenzo::forward_piece(const Shape& shape, size_t axes, size_t first, size_t count,
                            const U* values, U* out) const {
  if (axes == 0)
    std::copy_n(values, count, out);
  else
    differences(values, Inner(shape, axes).extents, first, count, out);
}
template <class U>
void Lorenzo::bridge_piece(const Shape& shape, size_t axes, size_t first, size_t count,
                           const u8* marks, U* values) const {
  if (axes == 0) return;
  const auto [planes, rows, length] = Inner(shape, axes).extents;
  for (size_t i = 0; i < count; ++i) {
    if (!marks[i]) continue;
    const size_t at = first + i, row = at / length;
    values[i] = predicted_at(values + i, at % length > 0, row % rows > 0, row / rows % planes > 0,
                             length, rows * length);
  }
}
template <class U>
void Lorenzo::backward_piece(const Shape& shape, size_t axes, size_t first, size_t count,
                             U* values) const {
  if (axes > 0) sums(values, Inner(shape, axes).extents, first, count);
}
void Lorenzo::forward(Field<u32> field, Writer& side) const { forward_typed(*this, field, side); }
void Lorenzo::forward(Field<u64> field, Writer& side) const { forward_typed(*this, field, side); }
void Lorenzo::backward(Field<u32> field, Reader& side) const { backward_typed(*this, field, side); }
void Lorenzo::backward(Field<u64> field, Reader& side) const { backward_typed(*this, field, side); }

#define LEEWAY_LORENZO_OF(U)                                                                      \
  template size_t Lorenzo::choose(Field<U>, Writer&) const;                                       \
  template void Lorenzo::forward_piece(const Shape&, size_t, size_t, size_t, const U*, U*) const; \
  template void Lorenzo::bridge_piece(const Shape&, size_t, size_t, size_t, const u8*, U*) const; \
  template void Lorenzo::backward_piece(const Shape&, size_t, size_t, size_t, U*) const;
LEEWAY_LORENZO_OF(u16)
LEEWAY_LORENZO_OF(u32)
LEEWAY_LORENZO_OF(u64)

}  // namespace leeway
#endif
