// SPDX-License-Identifier: BSD-3-Clause
// SIMD forms of LinearGrid for float and double; equal to the scalar definition bit for bit.
#include "leeway/quantize/linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/quantize/linear.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
  auto worst = hn::Zero(d);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const auto vx = hn::LoadU(d, x + i), vp = p ? hn::LoadU(d, p + i) : hn::Zero(d);
    const auto t = hn::Mul(hn::Sub(vx, vp), inverse);
    const auto shifted = hn::Add(t, magic);
    const auto y = hn::Add(vp, hn::Mul(hn::Sub(shifted, magic), step));
    const auto error = hn::Abs(hn::Sub(vx, y));
    const auto fits = hn::And(hn::Le(hn::Abs(t), max_code), hn::Le(error, limit));
    if (!hn::AllTrue(d, fits)) break;
    worst = hn::Max(worst, error);
    hn::StoreU(y, d, x + i);
    hn::StoreU(hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, magic)), di, q + i);
  }
  max_error = std::max(max_error, double(hn::GetLane(hn::MaxOfLanes(d, worst))));
  return i;
}

// Codes are written to the second cache; lines are fetched so many codes before.
constexpr size_t kLinesAhead = 128;

template <class T>
bool quantize_plane(const LinearGrid<T>& grid, const Plane<const std::byte>& plane, T* x,
                    Code<T>* q, double& max_error) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  const GridInType<T> in_type(grid);
  const auto inverse = hn::Set(d, in_type.inverse), step = hn::Set(d, in_type.step),
             magic = hn::Set(d, kRoundingMagic<T>);
  const size_t lanes = hn::Lanes(d), length = plane.length, rows = plane.rows;
  if (length < lanes) return false;
  // The largest error and code by magnitude. A NaN must not get lost in Max: it stays in `sum`.
  auto worst = hn::Zero(d), largest = hn::Zero(d), sum = hn::Zero(d);
  const auto one = [&](const T* from, T* to, Code<T>* code) HWY_ATTR {
    const auto vx = hn::LoadU(d, from);
    const auto t = hn::Mul(vx, inverse);
    const auto shifted = hn::Add(t, magic);
    const auto y = hn::Mul(hn::Sub(shifted, magic), step);
    const auto error = hn::Abs(hn::Sub(vx, y));
    worst = hn::Max(worst, error);
    largest = hn::Max(largest, hn::Abs(t));
    sum = hn::Add(sum, error);
    hn::StoreU(y, d, to);
    hn::StoreU(hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, magic)), di, code);
  };
  for (size_t r = 0; r < rows; ++r, x += length, q += length) {
    const std::ptrdiff_t row = std::ptrdiff_t(r) * plane.row_step;
    const T* from = reinterpret_cast<const T*>(plane.data + row);
    const T* ahead = plane.next ? reinterpret_cast<const T*>(plane.next + row) : from;
    size_t i = 0;
    for (; i + 2 * lanes <= length; i += 2 * lanes) {
      prefetch(ahead + i, 2 * lanes * sizeof(T));
      prefetch<true>(q + i + kLinesAhead, 2 * lanes * sizeof(T));
      one(from + i, x + i, q + i);
      one(from + i + lanes, x + i + lanes, q + i + lanes);
    }
    for (; i + lanes <= length; i += lanes) one(from + i, x + i, q + i);
    if (i < length) one(from + length - lanes, x + length - lanes, q + length - lanes);
  }
  const auto limit = hn::Set(d, in_type.limit), max_code = hn::Set(d, in_type.most);
  const auto fits =
      hn::And(hn::And(hn::Le(worst, limit), hn::Le(largest, max_code)), hn::Eq(sum, sum));
  if (!hn::AllTrue(d, fits)) return false;
  max_error = std::max(max_error, double(hn::GetLane(hn::MaxOfLanes(d, worst))));
  return true;
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
  size_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    auto least = hn::Zero(di), most = hn::Zero(di);
    for (size_t k = i; k < i + kBlock; k += hn::Lanes(d)) {
      const auto vq = hn::LoadU(di, q + k);
      least = hn::Min(least, vq);
      most = hn::Max(most, vq);
      const auto integer = hn::Sub(hn::BitCast(d, hn::Add(vq, hn::BitCast(di, magic))), magic);
      hn::StoreU(hn::Mul(integer, step), d, x + k);
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
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const auto vq = hn::LoadU(di, q + i);
    if (!hn::AllFalse(di, hn::Or(hn::Lt(vq, lowest), hn::Gt(vq, highest)))) break;
    const auto integer = hn::Sub(hn::BitCast(d, hn::Add(vq, hn::BitCast(di, magic))), magic);
    hn::StoreU(hn::Add(hn::LoadU(d, p + i), hn::Mul(integer, step)), d, x + i);
  }
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
  return quantize_plane(grid, plane, x, q, max_error);
}
bool quantize_plane_f64(const LinearGrid<double>& grid, const Plane<const std::byte>& plane,
                        double* x, i64* q, double& max_error) {
  return quantize_plane(grid, plane, x, q, max_error);
}
size_t recover_f32(const LinearGrid<float>& grid, const i32* q, size_t n, float* x) {
  return recover(grid, q, n, x);
}
size_t recover_f64(const LinearGrid<double>& grid, const i64* q, size_t n, double* x) {
  return recover(grid, q, n, x);
}

}  // namespace leeway::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway {

HWY_EXPORT(quantize_f32);
HWY_EXPORT(quantize_f64);
HWY_EXPORT(quantize_plane_f32);
HWY_EXPORT(quantize_plane_f64);
HWY_EXPORT(recover_f32);
HWY_EXPORT(recover_f64);
HWY_EXPORT(quantize_run_f32);
HWY_EXPORT(quantize_run_f64);
HWY_EXPORT(recover_run_f32);
HWY_EXPORT(recover_run_f64);

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
