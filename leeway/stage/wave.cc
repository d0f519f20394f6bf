// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stage/wave.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/stage/wave.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "leeway/base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::wave_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace lanes::HWY_NAMESPACE;

template <class T>
size_t most_rows() {
  if (HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE) return 0;
  return kWaveVectors * hn::Lanes(ShortTag<T>());
}
size_t rows_f32() { return most_rows<float>(); }
size_t rows_f64() { return most_rows<double>(); }

}  // namespace leeway::wave_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::wave_kernels {
HWY_EXPORT(rows_f32);
HWY_EXPORT(rows_f64);
}  // namespace leeway::wave_kernels

namespace leeway {
using namespace wave_kernels;

size_t wave_rows_f32() { return HWY_DYNAMIC_DISPATCH(rows_f32)(); }
size_t wave_rows_f64() { return HWY_DYNAMIC_DISPATCH(rows_f64)(); }

}  // namespace leeway
#endif
