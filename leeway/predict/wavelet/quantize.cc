// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/wavelet/quantize.h"

#include <algorithm>
#include <cmath>

#include "leeway/base/log2.h"
#include "leeway/predict/wavelet/coefficients.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/predict/wavelet/quantize.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

// Plain loops, one rounded operation after the other: what vectors compute cannot differ from it.
HWY_BEFORE_NAMESPACE();
namespace leeway::wavelet_quantize::HWY_NAMESPACE {
using namespace wavelet;

template <class C>
HWY_INLINE size_t glance(const C* HWY_RESTRICT c, size_t count, C inverse, u8* HWY_RESTRICT sizes) {
  u32 any = 0;
  for (size_t x = 0; x < count; ++x) {
    const C a = std::abs(c[x]) * inverse + C(0.4);
    const i32 m = i32(a < C(255) ? a : C(255));
    sizes[x] = u8(m);
    any += m > 0;
  }
  return any;
}
size_t glance_f32(const float* c, size_t count, float inverse, u8* sizes) {
  return glance(c, count, inverse, sizes);
}
size_t glance_f64(const double* c, size_t count, double inverse, u8* sizes) {
  return glance(c, count, inverse, sizes);
}

template <class C>
HWY_INLINE bool quantize(C* HWY_RESTRICT c, size_t count, C step, C inverse,
                         const u8* HWY_RESTRICT contexts, const float* HWY_RESTRICT lower,
                         i32* HWY_RESTRICT codes, u8* HWY_RESTRICT sizes) {
  u32 beyond = 0;
  for (size_t x = 0; x < count; ++x) {
    const C a = std::abs(c[x]) * inverse;
    beyond |= !(a < C(kMostCode));
    const C kept = a < C(kMostCode) ? a : C(0);
    const i32 near = i32(kept + C(0.5));
    const i32 traded = std::min(near, i32(kTraded - 1));
    const C least = C(near) + C(lower[u32(contexts[x]) * kTraded + u32(traded)]);
    const i32 m = near - (kept < least);
    sizes[x] = u8(std::min(m, 255));
    const i32 code = c[x] < C(0) ? -m : m;
    codes[x] = code;
    c[x] = C(code) * step;
  }
  return beyond == 0;
}
bool quantize_f32(float* c, size_t count, float step, float inverse, const u8* contexts,
                  const float* lower, i32* codes, u8* sizes) {
  return quantize(c, count, step, inverse, contexts, lower, codes, sizes);
}
bool quantize_f64(double* c, size_t count, double step, double inverse, const u8* contexts,
                  const float* lower, i32* codes, u8* sizes) {
  return quantize(c, count, step, inverse, contexts, lower, codes, sizes);
}

template <class C, class I>
HWY_INLINE void recover(const I* HWY_RESTRICT codes, size_t count, C step, C* HWY_RESTRICT c) {
  for (size_t x = 0; x < count; ++x) c[x] = C(codes[x]) * step;
}
void recover_f32_i32(const i32* codes, size_t count, float step, float* c) {
  recover(codes, count, step, c);
}
void recover_f32_i64(const i64* codes, size_t count, float step, float* c) {
  recover(codes, count, step, c);
}
void recover_f64_i32(const i32* codes, size_t count, double step, double* c) {
  recover(codes, count, step, c);
}
void recover_f64_i64(const i64* codes, size_t count, double step, double* c) {
  recover(codes, count, step, c);
}

}  // namespace leeway::wavelet_quantize::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::wavelet_quantize {
HWY_EXPORT(glance_f32);
HWY_EXPORT(glance_f64);
HWY_EXPORT(quantize_f32);
HWY_EXPORT(quantize_f64);
HWY_EXPORT(recover_f32_i32);
HWY_EXPORT(recover_f32_i64);
HWY_EXPORT(recover_f64_i32);
HWY_EXPORT(recover_f64_i64);
}  // namespace leeway::wavelet_quantize

namespace leeway::wavelet {
using namespace wavelet_quantize;

template <>
size_t glance(const float* c, size_t count, float inverse, u8* sizes) {
  return HWY_DYNAMIC_DISPATCH(glance_f32)(c, count, inverse, sizes);
}
template <>
size_t glance(const double* c, size_t count, double inverse, u8* sizes) {
  return HWY_DYNAMIC_DISPATCH(glance_f64)(c, count, inverse, sizes);
}

template <>
bool quantize(float* c, size_t count, float step, float inverse, const u8* contexts,
              const Trade& trade, i32* codes, u8* sizes) {
  return HWY_DYNAMIC_DISPATCH(quantize_f32)(c, count, step, inverse, contexts, trade[0].data(),
                                            codes, sizes);
}
template <>
bool quantize(double* c, size_t count, double step, double inverse, const u8* contexts,
              const Trade& trade, i32* codes, u8* sizes) {
  return HWY_DYNAMIC_DISPATCH(quantize_f64)(c, count, step, inverse, contexts, trade[0].data(),
                                            codes, sizes);
}

template <class C>
bool quantize(C* c, size_t count, C step, C inverse, i32* codes) {
  for (size_t x = 0; x < count; ++x) {
    const C a = std::abs(c[x]) * inverse;
    if (!(a < C(kMostCode))) return false;
    const i32 m = i32(a + C(0.5));
    codes[x] = c[x] < C(0) ? -m : m;
    c[x] = C(codes[x]) * step;
  }
  return true;
}
template bool quantize(float*, size_t, float, float, i32*);
template bool quantize(double*, size_t, double, double, i32*);

template <>
void recover(const i32* codes, size_t count, float step, float* c) {
  HWY_DYNAMIC_DISPATCH(recover_f32_i32)(codes, count, step, c);
}
template <>
void recover(const i64* codes, size_t count, float step, float* c) {
  HWY_DYNAMIC_DISPATCH(recover_f32_i64)(codes, count, step, c);
}
template <>
void recover(const i32* codes, size_t count, double step, double* c) {
  HWY_DYNAMIC_DISPATCH(recover_f64_i32)(codes, count, step, c);
}
template <>
void recover(const i64* codes, size_t count, double step, double* c) {
  HWY_DYNAMIC_DISPATCH(recover_f64_i64)(codes, count, step, c);
}

template <class C>
u64 octaves(const C* c, size_t count, C inverse) {
  constexpr C kMost = C(0x1p15);
  u64 sum = 0;
  for (size_t x = 0; x < count; ++x) {
    const C a = std::abs(c[x]) * inverse, kept = a < kMost ? a : kMost;
    // log2(1 + 4 a^2), from the integer next to 2^11 times that.
    sum += log2_of(u64(2048 + 8192 * (kept * kept))) - (u64(11) << 16);
  }
  return sum / 2;
}
template u64 octaves(const float*, size_t, float);
template u64 octaves(const double*, size_t, double);

}  // namespace leeway::wavelet
#endif
