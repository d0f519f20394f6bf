// SPDX-License-Identifier: BSD-3-Clause
// Lanes: short vectors and a shift across their lanes. To be included behind hwy/highway.h, once
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

// At most 32 bytes, so that two blocks of 16 are the most that lanes have to cross.
template <class T>
using ShortTag = hn::CappedTag<T, 32 / sizeof(T)>;

#if HWY_TARGET != HWY_SCALAR

// The last lane of `before`, then the lanes of v but the last.
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
