// SPDX-License-Identifier: BSD-3-Clause
// Vector code of LinearGrid for planes of values in the caller's memory, without predictions: the
// way of recipes that quantize first.
#include "leeway/quantize/linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/quantize/linear_planes.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "leeway/quantize/linear_range-inl.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::linear_planes_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using linear_range::HWY_NAMESPACE::Range;

// Codes stand in the low bits of `shifted`. So many vectors of them give whole vectors of C.
template <class T, class C>
constexpr size_t kVectorsOf = std::max<size_t>(2, sizeof(T) / sizeof(C));

template <class T, class C, class V>
HWY_INLINE void store_codes(const V (&shifted)[kVectorsOf<T, C>], C* to) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  [[maybe_unused]] const hn::Repartition<i16, decltype(d)> d16;
  if constexpr (sizeof(C) == sizeof(T)) {
    const auto magic = hn::BitCast(di, hn::Set(d, kRoundingMagic<T>));
    for (size_t k = 0; k < 2; ++k)
      hn::StoreU(hn::Sub(hn::BitCast(di, shifted[k]), magic), di, to + k * hn::Lanes(d));
  } else {
#if HWY_TARGET == HWY_SCALAR
    for (size_t k = 0; k < kVectorsOf<T, C>; ++k)
      to[k] = C(hn::GetLane(hn::BitCast(di, shifted[k])));
#else
    if constexpr (sizeof(T) == 4) {
      hn::StoreU(hn::ConcatEven(d16, hn::BitCast(d16, shifted[1]), hn::BitCast(d16, shifted[0])),
                 d16, to);
    } else {
      const hn::Repartition<i32, decltype(d)> d32;
      const auto half = [&](size_t k) HWY_ATTR {
        return hn::BitCast(d16, hn::ConcatEven(d32, hn::BitCast(d32, shifted[k + 1]),
                                               hn::BitCast(d32, shifted[k])));
      };
      hn::StoreU(hn::ConcatEven(d16, half(2), half(0)), d16, to);
    }
#endif
  }
}

// C may be i16: then values with larger codes have none.
template <class T, class C>
bool quantize_rows(const LinearGrid<T>& grid, const Plane<const std::byte>& plane, T* x, C* q,
                   double& max_error) {
  const hn::ScalableTag<T> d;
  const GridInType<T> in_type(grid);
  const auto inverse = hn::Set(d, in_type.inverse), step = hn::Set(d, in_type.step),
             magic = hn::Set(d, kRoundingMagic<T>);
  const Range in_range(d, in_type);
  constexpr size_t kVectors = kVectorsOf<T, C>;
  const size_t lanes = hn::Lanes(d), group = kVectors * lanes, length = plane.length,
               rows = plane.rows;
  const T most = std::min(in_type.most, T(std::numeric_limits<C>::max()));
  T largest_error = 0;  // in rows shorter than a group
  // The largest error and code by magnitude. A NaN must not get lost in Max: it stays in `sum`.
  auto worst = hn::Zero(d), largest = hn::Zero(d), sum = hn::Zero(d);
  const auto some = [&](const T* from, T* to, C* codes) HWY_ATTR {
    hn::Vec<decltype(d)> shifted[kVectors];
    for (size_t k = 0; k < kVectors; ++k) {
      const auto vx = hn::LoadU(d, from + k * lanes);
      const auto t = hn::Mul(vx, inverse);
      shifted[k] = hn::Add(t, magic);
      const auto y = in_range(hn::Mul(hn::Sub(shifted[k], magic), step));
      const auto error = hn::Abs(hn::Sub(vx, y));
      worst = hn::Max(worst, error);
      largest = hn::Max(largest, hn::Abs(t));
      sum = hn::Add(sum, error);
      hn::StoreU(y, d, to + k * lanes);
    }
    store_codes<T>(shifted, codes);
  };
  for (size_t r = 0; r < rows; ++r, x += length, q += length) {
    const std::ptrdiff_t row = std::ptrdiff_t(r) * plane.row_step;
    const T* from = reinterpret_cast<const T*>(plane.data + row);
    const T* ahead = plane.next ? reinterpret_cast<const T*>(plane.next + row) : from;
    size_t i = 0;
    for (; i + group <= length; i += group) {
      prefetch(ahead + i, group * sizeof(T));
      some(from + i, x + i, q + i);
    }
    if (i < length && length >= group) {
      some(from + length - group, x + length - group, q + length - group);
      continue;
    }
    for (; i < length; ++i) {
      const T value = from[i], t = value * in_type.inverse, n = round_to_even(t),
              y = clamped(n * in_type.step, in_type.low, in_type.high), error = std::abs(value - y);
      if (!(std::abs(t) <= most && error <= in_type.limit)) return false;
      largest_error = std::max(largest_error, error);
      x[i] = y;
      q[i] = C(n);
    }
  }
  const auto fits =
      hn::And(hn::And(hn::Le(worst, hn::Set(d, in_type.limit)), hn::Le(largest, hn::Set(d, most))),
              hn::Eq(sum, sum));
  if (!hn::AllTrue(d, fits)) return false;
  largest_error = std::max(largest_error, hn::GetLane(hn::MaxOfLanes(d, worst)));
  max_error = std::max(max_error, double(largest_error));
  return true;
}

bool quantize_plane_f32(const LinearGrid<float>& grid, const Plane<const std::byte>& plane,
                        float* x, i32* q, double& max_error) {
  return quantize_rows(grid, plane, x, q, max_error);
}
bool quantize_plane_f64(const LinearGrid<double>& grid, const Plane<const std::byte>& plane,
                        double* x, i64* q, double& max_error) {
  return quantize_rows(grid, plane, x, q, max_error);
}
bool quantize_narrow_f32(const LinearGrid<float>& grid, const Plane<const std::byte>& plane,
                         float* x, i16* q, double& max_error) {
  return quantize_rows(grid, plane, x, q, max_error);
}
bool quantize_narrow_f64(const LinearGrid<double>& grid, const Plane<const std::byte>& plane,
                         double* x, i16* q, double& max_error) {
  return quantize_rows(grid, plane, x, q, max_error);
}

}  // namespace leeway::linear_planes_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::linear_planes_kernels {
HWY_EXPORT(quantize_plane_f32);
HWY_EXPORT(quantize_plane_f64);
HWY_EXPORT(quantize_narrow_f32);
HWY_EXPORT(quantize_narrow_f64);
}  // namespace leeway::linear_planes_kernels

namespace leeway {
using namespace linear_planes_kernels;

bool kernel::quantize_plane(const LinearGrid<float>& grid, const Plane<const std::byte>& plane,
                            float* x, i32* q, double& max_error) {
  return HWY_DYNAMIC_DISPATCH(quantize_plane_f32)(grid, plane, x, q, max_error);
}
bool kernel::quantize_plane(const LinearGrid<double>& grid, const Plane<const std::byte>& plane,
                            double* x, i64* q, double& max_error) {
  return HWY_DYNAMIC_DISPATCH(quantize_plane_f64)(grid, plane, x, q, max_error);
}
bool kernel::quantize_plane(const LinearGrid<float>& grid, const Plane<const std::byte>& plane,
                            float* x, i16* q, double& max_error) {
  return HWY_DYNAMIC_DISPATCH(quantize_narrow_f32)(grid, plane, x, q, max_error);
}
bool kernel::quantize_plane(const LinearGrid<double>& grid, const Plane<const std::byte>& plane,
                            double* x, i16* q, double& max_error) {
  return HWY_DYNAMIC_DISPATCH(quantize_narrow_f64)(grid, plane, x, q, max_error);
}

}  // namespace leeway
#endif
