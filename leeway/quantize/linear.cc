// SPDX-License-Identifier: BSD-3-Clause
// SIMD forms of LinearGrid for float and double; equal to the scalar definition bit for bit.
#include "leeway/quantize/linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/quantize/linear.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::linear_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// clamped(), the same for NaN.
template <class D, class V = hn::Vec<D>>
struct Range {
  V low, high;
  Range(D d, const GridInType<hn::TFromD<D>>& grid)
      : low(hn::Set(d, grid.low)), high(hn::Set(d, grid.high)) {}
  HWY_INLINE V operator()(V v) const {
    const auto raised = hn::IfThenElse(hn::Lt(v, low), low, v);
    return hn::IfThenElse(hn::Lt(high, raised), high, raised);
  }
};

// Adding 1.5 * 2^(mantissa bits) rounds to an integer and leaves it in the low bits. Without
// predictions, p is null: every one is 0, which changes no bit of what follows.
template <class T>
size_t quantize_run(const LinearGrid<T>& grid, T* HWY_RESTRICT x, const T* HWY_RESTRICT p, size_t n,
                    Code<T>* HWY_RESTRICT q, double& max_error) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  const GridInType<T> in_type(grid);
  if (in_type.step == 0) return 0;
  const auto inverse = hn::Set(d, in_type.inverse), step = hn::Set(d, in_type.step),
             limit = hn::Set(d, in_type.limit), max_code = hn::Set(d, in_type.most),
             magic = hn::Set(d, kRoundingMagic<T>);
  const Range in_range(d, in_type);
  auto worst = hn::Zero(d);
  // Says false if a value has no code.
  const auto some = [&](auto vx, auto vp, auto&& store) HWY_ATTR {
    const auto t = hn::Mul(hn::Sub(vx, vp), inverse);
    const auto shifted = hn::Add(t, magic);
    const auto y = in_range(hn::Add(vp, hn::Mul(hn::Sub(shifted, magic), step)));
    const auto error = hn::Abs(hn::Sub(vx, y));
    const auto fits = hn::And(hn::Le(hn::Abs(t), max_code), hn::Le(error, limit));
    if (!hn::AllTrue(d, fits)) return false;
    worst = hn::Max(worst, error);
    store(y, hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, magic)));
    return true;
  };
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  while (i + lanes <= n && some(hn::LoadU(d, x + i), p ? hn::LoadU(d, p + i) : hn::Zero(d),
                                [&](auto y, auto code) HWY_ATTR {
                                  hn::StoreU(y, d, x + i);
                                  hn::StoreU(code, di, q + i);
                                }))
    i += lanes;
#if !HWY_MEM_OPS_MIGHT_FAULT
  if (const size_t rest = n - i; rest > 0 && rest < lanes) {
    const auto first = hn::FirstN(d, rest);
    if (some(hn::MaskedLoad(first, d, x + i), p ? hn::MaskedLoad(first, d, p + i) : hn::Zero(d),
             [&](auto y, auto code) HWY_ATTR {
               hn::BlendedStore(y, first, d, x + i);
               hn::BlendedStore(code, hn::FirstN(di, rest), di, q + i);
             }))
      i = n;
  }
#endif
  max_error = std::max(max_error, double(hn::GetLane(hn::MaxOfLanes(d, worst))));
  return i;
}

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

// Any code of 16 bits is one for SIMD.
template <class T>
size_t recover_narrow(const LinearGrid<T>& grid, const i16* q, size_t n, T* x) {
  const hn::ScalableTag<T> d;
  const hn::Rebind<i16, decltype(d)> d16;
  const hn::Rebind<i32, decltype(d)> d32;
  const GridInType<T> in_type(grid);
  if (in_type.step == 0) return 0;
  const auto step = hn::Set(d, in_type.step);
  const Range in_range(d, in_type);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const auto code = hn::PromoteTo(d32, hn::LoadU(d16, q + i));
    if constexpr (sizeof(T) == 4)
      hn::StoreU(in_range(hn::Mul(hn::ConvertTo(d, code), step)), d, x + i);
    else
      hn::StoreU(in_range(hn::Mul(hn::PromoteTo(d, code), step)), d, x + i);
  }
  return i;
}

template <class T>
size_t recover(const LinearGrid<T>& grid, const Code<T>* q, size_t n, T* x) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  const GridInType<T> in_type(grid);
  constexpr size_t kBlock = 64;  // codes that are looked at together
  const auto step = hn::Set(d, in_type.step), magic = hn::Set(d, kRoundingMagic<T>);
  const auto highest = hn::Set(di, in_type.kHighest);
  const auto lowest = hn::Neg(highest);
  if (in_type.step == 0) return 0;
  const Range in_range(d, in_type);
  size_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    auto least = hn::Zero(di), most = hn::Zero(di);
    for (size_t k = i; k < i + kBlock; k += hn::Lanes(d)) {
      const auto vq = hn::LoadU(di, q + k);
      least = hn::Min(least, vq);
      most = hn::Max(most, vq);
      const auto integer = hn::Sub(hn::BitCast(d, hn::Add(vq, hn::BitCast(di, magic))), magic);
      hn::StoreU(in_range(hn::Mul(integer, step)), d, x + k);
    }
    const auto outside = hn::Or(hn::Lt(least, lowest), hn::Gt(most, highest));
    if (!hn::AllFalse(di, outside)) break;
  }
  return i;
}

template <class T>
size_t recover_run(const LinearGrid<T>& grid, T* HWY_RESTRICT x, const T* HWY_RESTRICT p, size_t n,
                   const Code<T>* HWY_RESTRICT q) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  const GridInType<T> in_type(grid);
  if (in_type.step == 0) return 0;
  const auto step = hn::Set(d, in_type.step), magic = hn::Set(d, kRoundingMagic<T>);
  const auto highest = hn::Set(di, in_type.kHighest);
  const auto lowest = hn::Neg(highest);
  const Range in_range(d, in_type);
  const auto fits = [&](auto vq) HWY_ATTR {
    return hn::AllFalse(di, hn::Or(hn::Lt(vq, lowest), hn::Gt(vq, highest)));
  };
  const auto value = [&](auto vp, auto vq) HWY_ATTR {
    const auto integer = hn::Sub(hn::BitCast(d, hn::Add(vq, hn::BitCast(di, magic))), magic);
    return in_range(hn::Add(vp, hn::Mul(integer, step)));
  };
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto vq = hn::LoadU(di, q + i);
    if (!fits(vq)) return i;
    hn::StoreU(value(hn::LoadU(d, p + i), vq), d, x + i);
  }
#if !HWY_MEM_OPS_MIGHT_FAULT
  if (i < n) {
    const auto first = hn::FirstN(d, n - i);
    const auto vq = hn::MaskedLoad(hn::FirstN(di, n - i), di, q + i);
    if (!fits(vq)) return i;
    hn::BlendedStore(value(hn::MaskedLoad(first, d, p + i), vq), first, d, x + i);
    i = n;
  }
#endif
  return i;
}

size_t quantize_run_f32(const LinearGrid<float>& grid, float* x, const float* p, size_t n, i32* q,
                        double& max_error) {
  return quantize_run(grid, x, p, n, q, max_error);
}
size_t quantize_run_f64(const LinearGrid<double>& grid, double* x, const double* p, size_t n,
                        i64* q, double& max_error) {
  return quantize_run(grid, x, p, n, q, max_error);
}
size_t recover_run_f32(const LinearGrid<float>& grid, float* x, const float* p, size_t n,
                       const i32* q) {
  return recover_run(grid, x, p, n, q);
}
size_t recover_run_f64(const LinearGrid<double>& grid, double* x, const double* p, size_t n,
                       const i64* q) {
  return recover_run(grid, x, p, n, q);
}
size_t quantize_f32(const LinearGrid<float>& grid, float* x, size_t n, i32* q, double& max_error) {
  return quantize_run<float>(grid, x, nullptr, n, q, max_error);
}
size_t quantize_f64(const LinearGrid<double>& grid, double* x, size_t n, i64* q,
                    double& max_error) {
  return quantize_run<double>(grid, x, nullptr, n, q, max_error);
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
size_t recover_narrow_f32(const LinearGrid<float>& grid, const i16* q, size_t n, float* x) {
  return recover_narrow(grid, q, n, x);
}
size_t recover_narrow_f64(const LinearGrid<double>& grid, const i16* q, size_t n, double* x) {
  return recover_narrow(grid, q, n, x);
}
size_t recover_f32(const LinearGrid<float>& grid, const i32* q, size_t n, float* x) {
  return recover(grid, q, n, x);
}
size_t recover_f64(const LinearGrid<double>& grid, const i64* q, size_t n, double* x) {
  return recover(grid, q, n, x);
}

}  // namespace leeway::linear_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::linear_kernels {
HWY_EXPORT(quantize_f32);
HWY_EXPORT(quantize_f64);
HWY_EXPORT(quantize_plane_f32);
HWY_EXPORT(quantize_plane_f64);
HWY_EXPORT(quantize_narrow_f32);
HWY_EXPORT(quantize_narrow_f64);
HWY_EXPORT(recover_narrow_f32);
HWY_EXPORT(recover_narrow_f64);
HWY_EXPORT(recover_f32);
HWY_EXPORT(recover_f64);
HWY_EXPORT(quantize_run_f32);
HWY_EXPORT(quantize_run_f64);
HWY_EXPORT(recover_run_f32);
HWY_EXPORT(recover_run_f64);
}  // namespace leeway::linear_kernels

namespace leeway {
using namespace linear_kernels;

size_t kernel::quantize(const LinearGrid<float>& grid, float* x, size_t n, i32* q,
                        double& max_error) {
  return HWY_DYNAMIC_DISPATCH(quantize_f32)(grid, x, n, q, max_error);
}
size_t kernel::quantize(const LinearGrid<double>& grid, double* x, size_t n, i64* q,
                        double& max_error) {
  return HWY_DYNAMIC_DISPATCH(quantize_f64)(grid, x, n, q, max_error);
}
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
size_t kernel::recover(const LinearGrid<float>& grid, const i16* q, size_t n, float* x) {
  return HWY_DYNAMIC_DISPATCH(recover_narrow_f32)(grid, q, n, x);
}
size_t kernel::recover(const LinearGrid<double>& grid, const i16* q, size_t n, double* x) {
  return HWY_DYNAMIC_DISPATCH(recover_narrow_f64)(grid, q, n, x);
}
size_t kernel::recover(const LinearGrid<float>& grid, const i32* q, size_t n, float* x) {
  return HWY_DYNAMIC_DISPATCH(recover_f32)(grid, q, n, x);
}
size_t kernel::recover(const LinearGrid<double>& grid, const i64* q, size_t n, double* x) {
  return HWY_DYNAMIC_DISPATCH(recover_f64)(grid, q, n, x);
}
size_t kernel::quantize_run(const LinearGrid<float>& grid, float* x, const float* p, size_t n,
                            i32* q, double& max_error) {
  return HWY_DYNAMIC_DISPATCH(quantize_run_f32)(grid, x, p, n, q, max_error);
}
size_t kernel::quantize_run(const LinearGrid<double>& grid, double* x, const double* p, size_t n,
                            i64* q, double& max_error) {
  return HWY_DYNAMIC_DISPATCH(quantize_run_f64)(grid, x, p, n, q, max_error);
}
size_t kernel::recover_run(const LinearGrid<float>& grid, float* x, const float* p, size_t n,
                           const i32* q) {
  return HWY_DYNAMIC_DISPATCH(recover_run_f32)(grid, x, p, n, q);
}
size_t kernel::recover_run(const LinearGrid<double>& grid, double* x, const double* p, size_t n,
                           const i64* q) {
  return HWY_DYNAMIC_DISPATCH(recover_run_f64)(grid, x, p, n, q);
}

}  // namespace leeway
#endif
