// SPDX-License-Identifier: BSD-3-Clause
// SIMD forms of TruncateGrid for float and double; equal to the scalar definition bit for bit.
#include "leeway/quantize/truncate.h"

#include "leeway/base/distance.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/quantize/truncate.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::truncate_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T, class Round>
size_t truncate_with(const TruncateGrid<T>& grid, const T* from, const T* ahead, T* x, size_t n,
                     Code<T>* q, double& max_error, const Round round) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  const size_t lanes = hn::Lanes(d);
  const auto sign_bit = hn::SignBit(d);
  const int dropped = grid.dropped();
  // Not more than the bound: what passes here passes the definition, too.
  const auto limit = hn::Set(d, [&] {
    T t = T(std::min(grid.bound(), double(std::numeric_limits<T>::max())));
    return double(t) > grid.bound() ? std::nextafter(t, T(0)) : t;
  }());
  auto worst = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    prefetch(ahead + i, lanes * sizeof(T));
    const auto v = hn::LoadU(d, from + i);
    const auto y = round(v);
    const auto error = hn::Abs(hn::Sub(v, y));
    if (!hn::AllTrue(d, hn::Le(error, limit))) break;
    worst = hn::Max(worst, error);
    hn::StoreU(y, d, x + i);
    const auto code = hn::ShiftRightSame(hn::BitCast(di, hn::AndNot(sign_bit, y)), dropped);
    const auto minus = hn::BroadcastSignBit(hn::BitCast(di, y));
    hn::StoreU(hn::Sub(hn::Xor(code, minus), minus), di, q + i);
  }
  max_error = std::max(max_error, double(hn::GetLane(hn::MaxOfLanes(d, worst))));
  return i;
}

template <class T>
size_t truncate(const TruncateGrid<T>& grid, const T* from, const T* ahead, T* x, size_t n,
                Code<T>* q, double& max_error) {
  const hn::ScalableTag<T> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  if (grid.is_by_value()) {
    const auto magic = hn::Set(d, grid.magic()), coarse = hn::Set(d, grid.coarse()),
               no_sign = hn::Zero(d);
    return truncate_with(grid, from, ahead, x, n, q, max_error, [=](auto v) HWY_ATTR {
      const auto rounded = hn::Sub(hn::Add(v, magic), magic);
      // A zero has no sign.
      return hn::IfThenElse(hn::Lt(hn::Abs(v), coarse), rounded, hn::Add(v, no_sign));
    });
  }
  const int low = grid.dropped();
  if (low > mantissa_bits<T>) return 0;
  using Word = Bits<T>;
  const auto half = hn::Set(du, Word(low > 0 ? Word(1) << (low - 1) : 0)),
             mask = hn::Set(du, Word((Word(1) << low) - 1)),
             sign_bit = hn::BitCast(du, hn::SignBit(d));
  return truncate_with(grid, from, ahead, x, n, q, max_error, [=](auto v) HWY_ATTR {
    const auto word = hn::BitCast(du, v);
    const auto size = hn::AndNot(mask, hn::Add(hn::AndNot(sign_bit, word), half));
    const auto sign = hn::IfThenZeroElse(hn::Eq(size, hn::Zero(du)), hn::And(word, sign_bit));
    return hn::BitCast(d, hn::Or(size, sign));
  });
}

template <class T>
size_t untruncate(const TruncateGrid<T>& grid, const Code<T>* q, size_t n, T* x) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    const auto code = hn::LoadU(di, q + i);
    const auto minus = hn::BroadcastSignBit(code);
    const auto size = hn::ShiftLeftSame(hn::Sub(hn::Xor(code, minus), minus), grid.dropped());
    hn::StoreU(hn::Or(hn::BitCast(d, size), hn::And(hn::BitCast(d, minus), hn::SignBit(d))), d,
               x + i);
  }
  return i;
}

size_t truncate_f32(const TruncateGrid<float>& grid, const float* from, const float* ahead,
                    float* x, size_t n, i32* q, double& max_error) {
  return truncate<float>(grid, from, ahead, x, n, q, max_error);
}
size_t truncate_f64(const TruncateGrid<double>& grid, const double* from, const double* ahead,
                    double* x, size_t n, i64* q, double& max_error) {
  return truncate<double>(grid, from, ahead, x, n, q, max_error);
}
size_t untruncate_f32(const TruncateGrid<float>& grid, const i32* q, size_t n, float* x) {
  return untruncate<float>(grid, q, n, x);
}
size_t untruncate_f64(const TruncateGrid<double>& grid, const i64* q, size_t n, double* x) {
  return untruncate<double>(grid, q, n, x);
}

}  // namespace leeway::truncate_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::truncate_kernels {
HWY_EXPORT(truncate_f32);
HWY_EXPORT(truncate_f64);
HWY_EXPORT(untruncate_f32);
HWY_EXPORT(untruncate_f64);
}  // namespace leeway::truncate_kernels

namespace leeway {
using namespace truncate_kernels;

size_t kernel::truncate(const TruncateGrid<float>& grid, const float* from, const float* ahead,
                        float* x, size_t n, i32* q, double& max_error) {
  return HWY_DYNAMIC_DISPATCH(truncate_f32)(grid, from, ahead, x, n, q, max_error);
}
size_t kernel::truncate(const TruncateGrid<double>& grid, const double* from, const double* ahead,
                        double* x, size_t n, i64* q, double& max_error) {
  return HWY_DYNAMIC_DISPATCH(truncate_f64)(grid, from, ahead, x, n, q, max_error);
}
size_t kernel::untruncate(const TruncateGrid<float>& grid, const i32* q, size_t n, float* x) {
  return HWY_DYNAMIC_DISPATCH(untruncate_f32)(grid, q, n, x);
}
size_t kernel::untruncate(const TruncateGrid<double>& grid, const i64* q, size_t n, double* x) {
  return HWY_DYNAMIC_DISPATCH(untruncate_f64)(grid, q, n, x);
}

}  // namespace leeway
#endif
