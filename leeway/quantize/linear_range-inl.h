// SPDX-License-Identifier: BSD-3-Clause
// Range: vectors kept in the range of a LinearGrid. To be included after hwy/highway.h, once for
// every target.
#if defined(LEEWAY_QUANTIZE_LINEAR_RANGE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LEEWAY_QUANTIZE_LINEAR_RANGE_INL_H
#undef LEEWAY_QUANTIZE_LINEAR_RANGE_INL_H
#else
#define LEEWAY_QUANTIZE_LINEAR_RANGE_INL_H
#endif

#include "leeway/quantize/linear.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::linear_range::HWY_NAMESPACE {
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

}  // namespace leeway::linear_range::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
