// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/pyramid/blend.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/predict/pyramid/blend.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::pyramid::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// One value of each lane, interpolated along one axis.
template <class D, class V = hn::Vec<D>>
struct Direction {
  V value, activity, weight;
  HWY_INLINE Direction(D d, const Neighbours<hn::TFromD<D>>& near, size_t line, size_t x,
                       V inverse) {
    const size_t i = line * near.pitch + x;
    const auto b = hn::LoadU(d, near.b + i), c = hn::LoadU(d, near.c + i);
    const auto inner = hn::Add(b, c);
    const auto outer = hn::Add(hn::LoadU(d, near.a + i), hn::LoadU(d, near.d + i));
    value = hn::Sub(hn::Mul(hn::Set(d, 0.5625f), inner), hn::Mul(hn::Set(d, 0.0625f), outer));
    const auto curve = hn::Abs(hn::Sub(value, hn::Mul(hn::Set(d, 0.5f), inner)));
    const auto slope = hn::Abs(hn::Sub(b, c));
    activity = hn::Mul(hn::Add(hn::Add(curve, curve), hn::Mul(hn::Set(d, 0.25f), slope)), inverse);
    // At most 2^15, which a NaN becomes, too.
    const auto w = hn::Add(hn::Add(activity, activity), hn::Set(d, 3));
    const auto most = hn::Set(d, 32768);
    const auto clamped = hn::IfThenElse(hn::Lt(w, most), w, most);
    weight = hn::Mul(clamped, clamped);
  }
};

template <class D, class V>
HWY_INLINE void store_float(D d, V value, float* to) {
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    hn::StoreU(value, d, to);
  } else {
    const hn::Rebind<float, D> narrow;
    hn::StoreU(hn::DemoteTo(narrow, value), narrow, to);
  }
}

// Calls f(d, line, x, i) for all vectors of all rows; i counts the values of all rows. The last
// vector of a row may reach past its end: results have kRowRoom values of room there.
template <class C, class F>
HWY_INLINE void for_each_vector(const Lines& lines, F&& f) {
  const hn::ScalableTag<C> d;
  for (size_t line = 0; line < lines.lines; ++line)
    for (size_t x = 0; x < lines.count; x += hn::Lanes(d)) f(d, line, x, line * lines.count + x);
}

template <class C>
void blend_rows(const Lines& lines, const Neighbours<C>* t, size_t axes, C step_inverse,
                C* HWY_RESTRICT predicted, float* HWY_RESTRICT activity) {
  if (axes == 1) {
    for_each_vector<C>(lines, [&](auto d, size_t line, size_t x, size_t i) HWY_ATTR {
      const Direction a(d, t[0], line, x, hn::Set(d, step_inverse));
      hn::StoreU(a.value, d, predicted + i);
      store_float(d, a.activity, activity + i);
    });
  } else if (axes == 2) {
    for_each_vector<C>(lines, [&](auto d, size_t line, size_t x, size_t i) HWY_ATTR {
      const auto inverse = hn::Set(d, step_inverse);
      const Direction a(d, t[0], line, x, inverse), b(d, t[1], line, x, inverse);
      const auto scale = hn::Div(hn::Set(d, 1), hn::Add(a.weight, b.weight));
      const auto mean = [&](auto va, auto vb) HWY_ATTR {
        return hn::Mul(hn::Add(hn::Mul(va, b.weight), hn::Mul(vb, a.weight)), scale);
      };
      hn::StoreU(mean(a.value, b.value), d, predicted + i);
      store_float(d, mean(a.activity, b.activity), activity + i);
    });
  } else if (axes == 3) {
    for_each_vector<C>(lines, [&](auto d, size_t line, size_t x, size_t i) HWY_ATTR {
      const auto inverse = hn::Set(d, step_inverse);
      const Direction a(d, t[0], line, x, inverse), b(d, t[1], line, x, inverse),
          c(d, t[2], line, x, inverse);
      const auto wa = hn::Mul(b.weight, c.weight), wb = hn::Mul(a.weight, c.weight),
                 wc = hn::Mul(a.weight, b.weight);
      const auto scale = hn::Div(hn::Set(d, 1), hn::Add(hn::Add(wa, wb), wc));
      const auto mean = [&](auto va, auto vb, auto vc) HWY_ATTR {
        return hn::Mul(hn::Add(hn::Add(hn::Mul(va, wa), hn::Mul(vb, wb)), hn::Mul(vc, wc)), scale);
      };
      hn::StoreU(mean(a.value, b.value, c.value), d, predicted + i);
      store_float(d, mean(a.activity, b.activity, c.activity), activity + i);
    });
  } else {
    for_each_vector<C>(lines, [&](auto d, size_t line, size_t x, size_t i) HWY_ATTR {
      const auto inverse = hn::Set(d, step_inverse), one = hn::Set(d, 1);
      auto sum = hn::Zero(d), values = hn::Zero(d), activities = hn::Zero(d);
      for (size_t k = 0; k < 4; ++k) {
        const Direction a(d, t[k], line, x, inverse);
        const auto w = hn::Div(one, a.weight);
        sum = hn::Add(sum, w);
        values = hn::Add(values, hn::Mul(a.value, w));
        activities = hn::Add(activities, hn::Mul(a.activity, w));
      }
      const auto scale = hn::Div(one, sum);
      hn::StoreU(hn::Mul(values, scale), d, predicted + i);
      store_float(d, hn::Mul(activities, scale), activity + i);
    });
  }
}

void blend_f32(const Lines& lines, const Neighbours<float>* along, size_t axes, float inverse,
               float* predicted, float* activity) {
  blend_rows(lines, along, axes, inverse, predicted, activity);
}
void blend_f64(const Lines& lines, const Neighbours<double>* along, size_t axes, double inverse,
               double* predicted, float* activity) {
  blend_rows(lines, along, axes, inverse, predicted, activity);
}

// The sums of the known magnitudes from number `from` to `end`, for the values from `x` on.
template <class D>
HWY_INLINE hn::Vec<D> sum_of(D d, const Known& known, size_t from, size_t end, size_t line,
                             size_t x) {
  const hn::Rebind<u8, D> d8;
  auto sum = hn::Zero(d);
  for (size_t k = from; k < end; ++k) {
    const Magnitudes& magnitudes = known.magnitudes[k];
    const auto next = hn::LoadU(d8, magnitudes.first + line * magnitudes.pitch + x);
    if constexpr (sizeof(hn::TFromD<D>) == 1)
      sum = hn::SaturatedAdd(sum, next);
    else
      sum = hn::Add(sum, hn::PromoteTo(d, next));
  }
  return sum;
}

void mean_magnitudes(const Known& known, size_t line, size_t x, float* HWY_RESTRICT near,
                     float* HWY_RESTRICT before) {
  const hn::CappedTag<u16, 8> d16;
  const hn::CappedTag<float, 8> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<u16, decltype(d)> words;
  const auto mean = [&](size_t from, size_t end, float* to) HWY_ATTR {
    HWY_ALIGN u16 sums[8];
    for (size_t k = 0; k < 8; k += hn::Lanes(d16))
      hn::Store(sum_of(d16, known, from, end, line, x + k), d16, sums + k);
    const auto scale = hn::Set(d, end > from ? 1 / float(end - from) : 0.0f);
    for (size_t k = 0; k < 8; k += hn::Lanes(d)) {
      const auto sum = hn::ConvertTo(d, hn::PromoteTo(di, hn::Load(words, sums + k)));
      hn::StoreU(hn::Mul(sum, scale), d, to + k);
    }
  };
  mean(0, known.near, near);
  mean(known.near, known.all, before);
}

void expect(const Lines& lines, const Known& known, const ErrorWeights& weights,
            const float* HWY_RESTRICT activity, u32 first, float* HWY_RESTRICT expected,
            u8* HWY_RESTRICT contexts) {
  const hn::CappedTag<u8, 32> d8;
  const hn::CappedTag<u16, 32> d16;
  const hn::CappedTag<float, 32> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<u8, decltype(d)> bytes;
  const hn::Rebind<u16, decltype(d)> words;
  const size_t step = hn::Lanes(d8);
  const auto wa = hn::Set(d, weights.activity), wn = hn::Set(d, weights.near),
             wb = hn::Set(d, weights.before), w1 = hn::Set(d, weights.constant);
  const auto least = hn::Set(d, 0x1p-7f);
  const auto one = [&](auto near, auto before, size_t i) HWY_ATTR {
    const auto n = hn::ConvertTo(d, hn::PromoteTo(di, near));
    const auto b = hn::ConvertTo(d, hn::PromoteTo(di, before));
    const auto raw = hn::Add(hn::Add(hn::Mul(hn::LoadU(d, activity + i), wa), hn::Mul(n, wn)),
                             hn::Add(hn::Mul(b, wb), w1));
    const auto error = hn::IfThenElse(hn::Lt(raw, least), least, raw);
    hn::StoreU(error, d, expected + i);
    const auto octave = hn::Sub(hn::ShiftRight<22>(hn::BitCast(du, error)), hn::Set(du, 240));
    const auto context = hn::Add(hn::Min(octave, hn::Set(du, 31)), hn::Set(du, first));
    hn::StoreU(hn::U8FromU32(context), bytes, contexts + i);
  };
  HWY_ALIGN u8 near[hn::MaxLanes(d8)], before[hn::MaxLanes(d8)];
  HWY_ALIGN u16 wide_near[hn::MaxLanes(d8)], wide_before[hn::MaxLanes(d8)];
  for (size_t line = 0; line < lines.lines; ++line)
    for (size_t x = 0; x < lines.count; x += step) {
      const size_t i = line * lines.count + x;
      const auto n = sum_of(d8, known, 0, known.near, line, x),
                 b = sum_of(d8, known, known.near, known.all, line, x);
      if (HWY_LIKELY(hn::AllTrue(d8, hn::Lt(hn::Max(n, b), hn::Set(d8, u8(255)))))) {
        hn::Store(n, d8, near);
        hn::Store(b, d8, before);
        for (size_t k = 0; k < step; k += hn::Lanes(d))
          one(hn::Load(bytes, near + k), hn::Load(bytes, before + k), i + k);
      } else {  // too large for a byte
        for (size_t k = 0; k < step; k += hn::Lanes(d16)) {
          hn::Store(sum_of(d16, known, 0, known.near, line, x + k), d16, wide_near + k);
          hn::Store(sum_of(d16, known, known.near, known.all, line, x + k), d16, wide_before + k);
        }
        for (size_t k = 0; k < step; k += hn::Lanes(d))
          one(hn::Load(words, wide_near + k), hn::Load(words, wide_before + k), i + k);
      }
    }
}

}  // namespace leeway::pyramid::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::pyramid {

HWY_EXPORT(blend_f32);
HWY_EXPORT(blend_f64);
HWY_EXPORT(expect);
HWY_EXPORT(mean_magnitudes);

void blend(const Lines& lines, const Neighbours<float>* along, size_t axes, float inverse_step,
           float* predicted, float* activity) {
  HWY_DYNAMIC_DISPATCH(blend_f32)(lines, along, axes, inverse_step, predicted, activity);
}
void blend(const Lines& lines, const Neighbours<double>* along, size_t axes, double inverse_step,
           double* predicted, float* activity) {
  HWY_DYNAMIC_DISPATCH(blend_f64)(lines, along, axes, inverse_step, predicted, activity);
}
void expect_error(const Lines& lines, const Known& known, const ErrorWeights& weights,
                  const float* activity, u32 first_context, float* expected, u8* contexts) {
  HWY_DYNAMIC_DISPATCH(expect)
  (lines, known, weights, activity, first_context, expected, contexts);
}
void mean_magnitudes(const Known& known, size_t line, size_t x, float* near, float* before) {
  HWY_DYNAMIC_DISPATCH(mean_magnitudes)(known, line, x, near, before);
}

}  // namespace leeway::pyramid
#endif
