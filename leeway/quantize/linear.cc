// SPDX-License-Identifier: BSD-3-Clause
// Vector code of LinearGrid for runs of values, with predictions or without, and for codes.
#include "leeway/quantize/linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/quantize/linear.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "leeway/quantize/linear_range-inl.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::linear_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using linear_range::HWY_NAMESPACE::Range;

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
  // Returns false if a value has no code.
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
