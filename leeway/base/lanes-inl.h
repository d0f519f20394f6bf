// SPDX-License-Identifier: BSD-3-Clause
// Lanes: short vectors and a shift across their lanes. To be included after hwy/highway.h, once
// for every target.
#if defined(LEEWAY_CORE_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef LEEWAY_CORE_LANES_INL_H
#undef LEEWAY_CORE_LANES_INL_H
#else
#define LEEWAY_CORE_LANES_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::lanes::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most 32 bytes: a shift then has to cross the border between two blocks of 16 bytes only.
template <class T>
using ShortTag = hn::CappedTag<T, 32 / sizeof(T)>;

#if HWY_TARGET != HWY_SCALAR

// Returns the last lane of `before`, followed by all lanes of v except the last.
template <class D, class V>
HWY_INLINE V one_lane_on(D d, V v, V before) {
  if constexpr (hn::MaxLanes(d) * sizeof(hn::TFromD<D>) == 32)
    before = hn::ConcatLowerUpper(d, v, before);
  return hn::CombineShiftRightBytes<16 - sizeof(hn::TFromD<D>)>(d, v, before);
}

#endif

}  // namespace leeway::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
