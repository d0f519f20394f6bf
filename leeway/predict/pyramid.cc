// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/pyramid.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "leeway/predict/least_squares.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/predict/pyramid.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_PREDICT_PYRAMID_ROW
#define LEEWAY_PREDICT_PYRAMID_ROW
namespace leeway::pyramid {

inline constexpr size_t kMostKnown = 32;

// Values along one axis, at -3, -1, 1 and 3 times the level's stride.
template <class C>
struct Taps {
  const C *a, *b, *c, *d;
};

template <class C>
struct RowInput {
  std::array<Taps<C>, kMaxActive> axes;
  size_t count;  // of values
  C inverse;     // 1 / step
};

struct ContextInput {
  std::array<const u8*, kMostKnown> sizes;
  size_t known;  // how many of them
  const float* activity;
  size_t count;  // of values
  float activity_weight, size_weight;
  u32 first;     // context
};

}  // namespace leeway::pyramid
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace leeway::pyramid;

// One value of each lane, interpolated along one axis.
template <class D, class V = hn::Vec<D>>
struct Direction {
  V value, activity, weight;
  HWY_INLINE Direction(D d, const Taps<hn::TFromD<D>>& taps, size_t i, V inverse) {
    const auto b = hn::LoadU(d, taps.b + i), c = hn::LoadU(d, taps.c + i);
    const auto near = hn::Add(b, c);
    const auto far = hn::Add(hn::LoadU(d, taps.a + i), hn::LoadU(d, taps.d + i));
    value = hn::Sub(hn::Mul(hn::Set(d, 0.5625f), near), hn::Mul(hn::Set(d, 0.0625f), far));
    const auto curve = hn::Abs(hn::Sub(value, hn::Mul(hn::Set(d, 0.5f), near)));
    const auto slope = hn::Abs(hn::Sub(b, c));
    activity = hn::Mul(hn::Add(hn::Add(curve, curve), hn::Mul(hn::Set(d, 0.25f), slope)), inverse);
    // Not more than 2^15, and a NaN becomes that, too.
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

// Calls f(d, i) for all vectors of a row; the last one may be shorter.
template <class C, class F>
HWY_INLINE void for_each_vector(size_t count, F&& f) {
  const hn::ScalableTag<C> d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) f(d, i);
  for (; i < count; ++i) f(hn::CappedTag<C, 1>(), i);
}

template <class C>
void blend(const RowInput<C>& in, size_t axes, C* HWY_RESTRICT predicted,
           float* HWY_RESTRICT activity) {
  const Taps<C>* t = in.axes.data();
  if (axes == 1) {
    for_each_vector<C>(in.count, [&](auto d, size_t i) HWY_ATTR {
      const Direction x(d, t[0], i, hn::Set(d, in.inverse));
      hn::StoreU(x.value, d, predicted + i);
      store_float(d, x.activity, activity + i);
    });
  } else if (axes == 2) {
    for_each_vector<C>(in.count, [&](auto d, size_t i) HWY_ATTR {
      const auto inverse = hn::Set(d, in.inverse);
      const Direction x(d, t[0], i, inverse), y(d, t[1], i, inverse);
      const auto scale = hn::Div(hn::Set(d, 1), hn::Add(x.weight, y.weight));
      const auto mean = [&](auto a, auto b) HWY_ATTR {
        return hn::Mul(hn::Add(hn::Mul(a, y.weight), hn::Mul(b, x.weight)), scale);
      };
      hn::StoreU(mean(x.value, y.value), d, predicted + i);
      store_float(d, mean(x.activity, y.activity), activity + i);
    });
  } else if (axes == 3) {
    for_each_vector<C>(in.count, [&](auto d, size_t i) HWY_ATTR {
      const auto inverse = hn::Set(d, in.inverse);
      const Direction x(d, t[0], i, inverse), y(d, t[1], i, inverse), z(d, t[2], i, inverse);
      const auto wx = hn::Mul(y.weight, z.weight), wy = hn::Mul(x.weight, z.weight),
                 wz = hn::Mul(x.weight, y.weight);
      const auto scale = hn::Div(hn::Set(d, 1), hn::Add(hn::Add(wx, wy), wz));
      const auto mean = [&](auto a, auto b, auto c) HWY_ATTR {
        return hn::Mul(hn::Add(hn::Add(hn::Mul(a, wx), hn::Mul(b, wy)), hn::Mul(c, wz)), scale);
      };
      hn::StoreU(mean(x.value, y.value, z.value), d, predicted + i);
      store_float(d, mean(x.activity, y.activity, z.activity), activity + i);
    });
  } else {
    for_each_vector<C>(in.count, [&](auto d, size_t i) HWY_ATTR {
      const auto inverse = hn::Set(d, in.inverse), one = hn::Set(d, 1);
      auto sum = hn::Zero(d), values = hn::Zero(d), activities = hn::Zero(d);
      for (size_t k = 0; k < 4; ++k) {
        const Direction x(d, t[k], i, inverse);
        const auto w = hn::Div(one, x.weight);
        sum = hn::Add(sum, w);
        values = hn::Add(values, hn::Mul(x.value, w));
        activities = hn::Add(activities, hn::Mul(x.activity, w));
      }
      const auto scale = hn::Div(one, sum);
      hn::StoreU(hn::Mul(values, scale), d, predicted + i);
      store_float(d, hn::Mul(activities, scale), activity + i);
    });
  }
}

void blend_f32(const RowInput<float>& in, size_t axes, float* predicted, float* activity) {
  blend(in, axes, predicted, activity);
}
void blend_f64(const RowInput<double>& in, size_t axes, double* predicted, float* activity) {
  blend(in, axes, predicted, activity);
}

// From the activity and the sizes of codes around, the size to expect, and its class in half
// octaves.
void expect(const ContextInput& in, float* HWY_RESTRICT expected, u8* HWY_RESTRICT contexts) {
  const hn::CappedTag<float, 8> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Rebind<u16, decltype(d)> d16;
  const hn::Rebind<u8, decltype(d)> d8;
  const auto one = [&](size_t i) HWY_ATTR {
    auto sum = hn::Zero(d16);
    for (size_t k = 0; k < in.known; ++k)
      sum = hn::Add(sum, hn::PromoteTo(d16, hn::LoadU(d8, in.sizes[k] + i)));
    const auto sizes = hn::ConvertTo(d, hn::PromoteTo(di, sum));
    const auto activity = hn::LoadU(d, in.activity + i);
    const auto size = hn::Add(hn::Add(hn::Mul(activity, hn::Set(d, in.activity_weight)),
                                      hn::Mul(sizes, hn::Set(d, in.size_weight))),
                              hn::Set(d, 0x1p-7f));
    hn::StoreU(size, d, expected + i);
    const auto octave = hn::Sub(hn::ShiftRight<22>(hn::BitCast(du, size)), hn::Set(du, 240));
    const auto context = hn::Add(hn::Min(octave, hn::Set(du, 31)), hn::Set(du, in.first));
    hn::StoreU(hn::U8FromU32(context), d8, contexts + i);
  };
  // Rows have room behind them, so that the last vector may reach over the end.
  for (size_t i = 0; i < in.count; i += hn::Lanes(d)) one(i);
}
}  // namespace leeway::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway {
namespace pyramid {
namespace {

HWY_EXPORT(blend_f32);
HWY_EXPORT(blend_f64);
HWY_EXPORT(expect);

void blend(const RowInput<float>& in, size_t axes, float* predicted, float* activity) {
  HWY_DYNAMIC_DISPATCH(blend_f32)(in, axes, predicted, activity);
}
void blend(const RowInput<double>& in, size_t axes, double* predicted, float* activity) {
  HWY_DYNAMIC_DISPATCH(blend_f64)(in, axes, predicted, activity);
}
double env(const char* name, double other) {
  const char* text = std::getenv(name);
  return text ? std::atof(text) : other;
}

constexpr u8 kTopContext = 192;

// A known value near the one to predict: in which part, and how far, counted in that part's rows
// and values.
struct Tap {
  const Part* part;
  std::array<std::ptrdiff_t, kMaxActive> shift;  // by active axis
  std::array<std::ptrdiff_t, kMaxRank> back;     // by frozen axis
  double distance;
};

template <class C>
struct Learner {
  std::vector<Tap> taps;
  LeastSquares<C> squares;
  size_t rows = 0;
};

template <class C>
class Walk {
 public:
  Walk(const Pyramid& pyramid, const Polyphase& layout, double step, C* numbers,
       PyramidRows<C>& rows)
      : pyramid_(pyramid),
        layout_(layout),
        rank_(layout.rank()),
        step_(step),
        rows_(rows),
        numbers_(numbers),
        sizes_(layout.size() + 8) {
    std::fill(sizes_.begin(), sizes_.end(), u8(0));
    learners_.resize((layout.levels().size() + 1) << kMaxActive);
  }

  void run() {
    const Shape& slices = layout_.slices();
    for_each_outer(slices, 0, [&](const Index& index) {
      index_ = index;
      walk_top();
      for (size_t l = layout_.levels().size(); l-- > 0;) {
        rows_.begin_level(l);
        inverse_ = C(1 / (step_ * pyramid_.tightening(l)));
        for (const Part& part : layout_.levels()[l].classes) walk_class(l, part);
        if (l > 0) {
          rows_.end_level(l, slice_);
          layout_.merge_grid(l - 1, sizes_.data() + slice_);
          const Part& grid = layout_.levels()[l - 1].grid;
          for (size_t row = 0; row < grid.rows(); ++row) pad(grid, row);
        }
      }
      slice_ += layout_.slice_size();
    });
  }

 private:
  // Predicted by Lorenzo from the slices before.
  void walk_top() {
    const Part& top = layout_.top();
    rows_.begin_level(layout_.levels().empty() ? 0 : layout_.levels().size() - 1);
    const size_t frozen = layout_.slices().rank();
    for (size_t row = 0; row < top.rows(); ++row) {
      for (size_t x = 0; x < top.length(); x += kMostCodes) {
        const size_t count = std::min(kMostCodes, top.length() - x);
        const size_t at = slice_ + top.first + row * top.pitch + x;
        std::fill_n(guess_.data(), count, C(0));
        for (u32 set = 1; set < 1u << frozen; ++set) {
          size_t back = 0, stride = layout_.slice_size();
          bool inside = true;
          for (size_t axis = frozen; axis-- > 0; stride *= size_t(layout_.slices()[axis])) {
            if (!(set >> axis & 1)) continue;
            back += stride;
            inside = inside && index_[axis] > 0;
          }
          if (!inside) continue;
          const C sign = std::popcount(set) % 2 ? C(1) : C(-1);
          const C* from = numbers_ + at - back;
          for (size_t i = 0; i < count; ++i) guess_[i] += sign * from[i];
        }
        Learner<C>* learner = layout_.levels().empty() ? learner_for(0, top) : nullptr;
        inverse_ = C(1 / step_);
        improve(learner, {}, x, count);
        std::fill_n(contexts_.data(), count, kTopContext);
        rows_.row(at, count, predicted_.data(), contexts_.data(), sizes_.data() + at);
        learn(learner, numbers_ + at, count);
      }
      pad(top, row);
    }
  }

  // All values that are known before a row of the part, the nearest first.
  std::vector<Tap> taps_near(size_t level, const Part& part) const {
    static const size_t most = size_t(env("LW_TAPS", 20));
    static const double axis_weight = env("LW_AXIS", 0.35), frozen_weight = env("LW_FROZEN", 1);
    const bool flat = layout_.levels().empty();
    const size_t frozen = layout_.slices().rank();
    const std::ptrdiff_t reach = 3, reach_back = flat && frozen == 1 ? 8 : 2;
    std::vector<Tap> taps;
    const auto order_of = [&](u32 odd) {
      return odd == 0 ? 0 : 1 + std::ranges::find(layout_.levels()[level].classes, odd, &Part::odd) -
                                layout_.levels()[level].classes.begin();
    };
    std::array<std::ptrdiff_t, kMaxRank> back{};
    for (size_t axis = 0; axis < frozen; ++axis) back[axis] = -reach_back;
    for (;;) {
      int earlier = 0;  // -1: an earlier slice
      for (size_t axis = 0; axis < frozen && earlier == 0; ++axis)
        earlier = back[axis] < 0 ? -1 : back[axis] > 0;
      if (earlier <= 0) {
        std::array<std::ptrdiff_t, kMaxActive> move{};
        for (size_t axis = 0; axis < rank_; ++axis) move[axis] = -reach;
        for (;;) {
          u32 odd = part.odd;
          int row = 0, along = 0;
          double distance = 0;
          for (size_t axis = 0; axis < rank_; ++axis) {
            if (!flat) odd ^= u32(move[axis] & 1) << axis;
            if (axis + 1 < rank_ && row == 0) row = move[axis] < 0 ? -1 : move[axis] > 0;
            distance += double(move[axis] * move[axis]);
            along += move[axis] != 0;
          }
          bool known = earlier < 0;
          if (!known && !flat)
            known = order_of(odd) < order_of(part.odd) || (odd == part.odd && row < 0);
          if (along == 1 && earlier == 0)
            for (size_t axis = 0; axis < rank_; ++axis)
              if (move[axis] != 0 && (part.odd >> axis & 1)) distance *= axis_weight;
          for (size_t axis = 0; axis < frozen; ++axis)
            distance += frozen_weight * double(back[axis] * back[axis]);
          if (known) {
            Tap tap{flat ? &part : &part_of(level, odd), {}, back, distance};
            for (size_t axis = 0; axis < rank_; ++axis)
              tap.shift[axis] =
                  flat ? move[axis]
                       : (move[axis] + int(part.odd >> axis & 1) - int(odd >> axis & 1)) / 2;
            taps.push_back(tap);
          }
          size_t axis = rank_;
          while (axis > 0 && ++move[axis - 1] > reach) move[--axis] = -reach;
          if (axis == 0) break;
        }
      }
      size_t axis = frozen;
      while (axis > 0 && ++back[axis - 1] > reach_back) back[--axis] = -reach_back;
      if (axis == 0) break;
    }
    std::ranges::stable_sort(taps, {}, &Tap::distance);
    taps.resize(std::min({taps.size(), most, kMostTaps}));
    return taps;
  }

  std::optional<Learner<C>>& learner_of(size_t level, u32 odd) {
    return learners_[level << kMaxActive | odd];
  }
  // The taps' rows; where there are none, the guess itself.
  void find_taps(const Learner<C>& learner, const Extents& index, size_t x) {
    for (size_t k = 0; k < learner.taps.size(); ++k) {
      const Tap& tap = learner.taps[k];
      taps_[k] = guess_.data();
      bool inside = true;
      std::ptrdiff_t row = 0, back = 0;
      for (size_t axis = 0; axis + 1 < rank_ && inside; ++axis) {
        const auto at = std::ptrdiff_t(index[axis]) + tap.shift[axis];
        inside = at >= 0 && at < std::ptrdiff_t(tap.part->extents[axis]);
        row = row * std::ptrdiff_t(tap.part->extents[axis]) + at;
      }
      for (size_t axis = 0; axis < layout_.slices().rank() && inside; ++axis) {
        const auto at = std::ptrdiff_t(index_[axis]) + tap.back[axis];
        inside = at >= 0 && at < std::ptrdiff_t(layout_.slices()[axis]);
        back = back * std::ptrdiff_t(layout_.slices()[axis]) + tap.back[axis];
      }
      if (!inside) continue;
      taps_[k] = numbers_ + place(*tap.part, size_t(row)) + x + tap.shift[rank_ - 1] +
                 back * std::ptrdiff_t(layout_.slice_size());
    }
  }
  Learner<C>* learner_for(size_t level, const Part& part) {
    static const size_t levels = size_t(env("LW_LEVELS", 3));
    if (level >= levels || part.length() < LeastSquares<C>::kSampleGroup) return nullptr;
    auto& learner = learner_of(level, part.odd);
    if (!learner) {
      std::vector<Tap> taps = taps_near(level, part);
      const size_t count = taps.size();
      if (count == 0) return nullptr;
      learner.emplace(Learner<C>{std::move(taps), LeastSquares<C>(count)});
      auto& coarser = learner_of(level + 1, part.odd);
      if (coarser && coarser->taps.size() == count) learner->squares.inherit(coarser->squares);
    }
    return &*learner;
  }
  // The prediction of a row from its guess.
  void improve(Learner<C>* learner, const Extents& index, size_t x, size_t count) {
    if (!learner || !learner->squares.is_ready()) {
      std::copy_n(guess_.data(), count, predicted_.data());
      if (learner) find_taps(*learner, index, x);
      return;
    }
    find_taps(*learner, index, x);
    learner->squares.apply(taps_.data(), guess_.data(), count, predicted_.data());
  }
  void learn(Learner<C>* learner, const C* values, size_t count) {
    if (!learner) return;
    static const size_t every = size_t(env("LW_SAMPLE", 16));
    constexpr size_t group = LeastSquares<C>::kSampleGroup;
    for (size_t g = learner->rows++ * 5 % every; (g + 1) * group <= count; g += every)
      learner->squares.sample(taps_.data(), guess_.data(), predicted_.data(), values, g * group,
                              inverse_, expects_.data());
  }

  const Part& part_of(size_t level, u32 odd) const {
    const Level& l = layout_.levels()[level];
    return odd == 0 ? l.grid : *std::ranges::find(l.classes, odd, &Part::odd);
  }

  static size_t row_number(const Part& part, const Extents& index) {
    size_t row = 0;
    for (size_t axis = 0; axis + 1 < part.rank; ++axis) row = row * part.extents[axis] + index[axis];
    return row;
  }
  size_t place(const Part& part, size_t row) const {
    return slice_ + part.first + row * part.pitch;
  }

  void walk_class(size_t level, const Part& part) {
    Extents index{};
    for (size_t row = 0;; ++row) {
      for (size_t x = 0; x < part.length(); x += kMostCodes)
        walk_row(level, part, index, row, x, std::min(kMostCodes, part.length() - x));
      pad(part, row);
      size_t axis = rank_ - 1;
      while (axis > 0 && ++index[axis - 1] == part.extents[axis - 1]) index[--axis] = 0;
      if (axis == 0) return;
    }
  }

  void walk_row(size_t level, const Part& part, const Extents& index, size_t row, size_t x,
                size_t count) {
    RowInput<C> in{{}, count, inverse_};
    size_t axes = 0, ghosts = 0;
    known_.clear();
    for (size_t axis = 0; axis < rank_; ++axis) {
      if (!(part.odd >> axis & 1)) continue;
      const Part& side = part_of(level, part.odd ^ (1u << axis));
      if (axis + 1 == rank_) {
        const C* at = numbers_ + place(side, row) + x;
        in.axes[axes++] = {at - 1, at, at + 1, at + 2};
        known_.push_back(place(side, row) + x);
        known_.push_back(place(side, row) + x + 1);
        continue;
      }
      size_t stride = 1;
      for (size_t k = axis + 1; k + 1 < rank_; ++k) stride *= side.extents[k];
      const auto j = std::ptrdiff_t(index[axis]);
      const size_t first = row_number(side, index) - size_t(j) * stride;  // the row with j = 0
      const auto at = [&](std::ptrdiff_t k) {
        return numbers_ + place(side, first + size_t(k) * stride) + x;
      };
      const auto n = std::ptrdiff_t(side.extents[axis]);
      const auto row_at = [&](std::ptrdiff_t k) { return k >= 0 && k < n ? at(k) : nullptr; };
      const auto ghost = [&](const C* r0, const C* r1, const C* r2) -> const C* {
        if (!r1) return r0;
        C* out = ghosts_[ghosts++].data();
        for (size_t i = 0; i < count; ++i)
          out[i] = r2 ? beyond(r0[i], r1[i], r2[i]) : 2 * r0[i] - r1[i];
        return out;
      };
      const C *a = row_at(j - 1), *b = at(j), *c = row_at(j + 1), *d = row_at(j + 2);
      if (!c) c = ghost(b, a, row_at(j - 2));
      if (!a) a = ghost(b, c == b ? nullptr : c, d);
      if (!d) d = ghost(c, b, a);
      in.axes[axes++] = {a, b, c, d};
      known_.push_back(place(side, first + size_t(j) * stride) + x);
      if (j + 1 < n) known_.push_back(place(side, first + size_t(j + 1) * stride) + x);
    }
    blend(in, axes, guess_.data(), activity_.data());
    Learner<C>* learner = learner_for(level, part);
    improve(learner, index, x, count);
    const size_t at = place(part, row) + x;
    // Sizes of codes around: of the coarser values, of rows before, of slices before.
    size_t stride = part.pitch;
    for (size_t axis = rank_ - 1; axis-- > 0; stride *= part.extents[axis]) {
      if (index[axis] == 0) continue;
      known_.push_back(at - stride);
      known_.push_back(at - stride);
      known_.push_back(at - stride - 1);
      known_.push_back(at - stride + 1);
    }
    stride = layout_.slice_size();
    for (size_t axis = layout_.slices().rank(); axis-- > 0;
         stride *= size_t(layout_.slices()[axis])) {
      if (index_[axis] == 0) continue;
      known_.push_back(at - stride);
      known_.push_back(at - stride);
    }
    static const double wa = env("LW_WA", 0.2), ws = env("LW_WS", 1);
    ContextInput context{};
    context.known = std::min(known_.size(), kMostKnown);
    for (size_t k = 0; k < context.known; ++k) context.sizes[k] = sizes_.data() + known_[k];
    context.activity = activity_.data();
    context.count = count;
    context.activity_weight = float(wa);
    context.size_weight = float(ws) / float(std::max<size_t>(1, context.known));
    context.first = u32(32 * (std::min<size_t>(level, 2) * 2 + (axes > 1)));
    HWY_DYNAMIC_DISPATCH(expect)(context, expects_.data(), contexts_.data());
    rows_.row(at, count, predicted_.data(), contexts_.data(), sizes_.data() + at);
    learn(learner, numbers_ + at, count);
  }

  // The next value of the parabola through three, the nearest first.
  static C beyond(C r0, C r1, C r2) { return 3 * (r0 - r1) + r2; }

  // What stands beside a row: its parabola continued.
  void pad(const Part& part, size_t row) {
    C* r = numbers_ + place(part, row);
    u8* s = sizes_.data() + place(part, row);
    const size_t n = part.length();
    r[-1] = n > 2 ? beyond(r[0], r[1], r[2]) : n > 1 ? 2 * r[0] - r[1] : r[0];
    r[n] = n > 2 ? beyond(r[n - 1], r[n - 2], r[n - 3]) : n > 1 ? 2 * r[1] - r[0] : r[0];
    r[n + 1] = n > 1 ? beyond(r[n], r[n - 1], r[n - 2]) : r[0];
    r[-2] = r[-3] = r[-4] = r[-1];
    r[n + 2] = r[n + 3] = r[n + 1];
    s[-1] = s[0];
    s[n] = s[n + 1] = s[n - 1];
  }

  const Pyramid& pyramid_;
  const Polyphase& layout_;
  size_t rank_;
  double step_;
  PyramidRows<C>& rows_;
  C* numbers_;
  Buffer<u8> sizes_;
  size_t slice_ = 0;  // where it starts
  Index index_{};     // of the slice
  C inverse_ = 1;
  std::array<C, kMostCodes> guess_, predicted_;
  std::array<float, kMostCodes + 8> activity_{};
  std::array<const C*, kMostTaps> taps_;
  std::vector<std::optional<Learner<C>>> learners_;  // by level and class
  std::array<std::array<C, kMostCodes>, 3 * kMaxActive> ghosts_;
  std::array<float, kMostCodes + 8> expects_{};
  std::array<u8, kMostCodes + 8> contexts_;
  std::vector<size_t> known_;  // places of sizes
};

}  // namespace
}  // namespace pyramid

template <class C>
void Pyramid::walk_rows(const Polyphase& layout, double step, C* numbers,
                        PyramidRows<C>& rows) const {
  std::make_unique<pyramid::Walk<C>>(*this, layout, step, numbers, rows)->run();
}
template void Pyramid::walk_rows(const Polyphase&, double, float*, PyramidRows<float>&) const;
template void Pyramid::walk_rows(const Polyphase&, double, double*,
                                 PyramidRows<double>&) const;

Polyphase Pyramid::layout_of(const Shape& shape) const {
  u32 active = 0;
  size_t count = 0;
  for (size_t axis = shape.rank(); axis-- > 0;)
    if (!(params.frozen >> axis & 1) && count < kMaxActive) {
      active |= 1u << axis;
      ++count;
    }
  const bool with_levels = active != 0;
  if (!active && shape.rank() > 0) active = 1u << (shape.rank() - 1);
  return Polyphase(shape, active, with_levels);
}

double Pyramid::tightening(size_t level) const {
  double factor = 1;
  for (size_t i = 0; i < level && factor < params.beta; ++i) factor *= params.alpha;
  return 1 / std::min(factor, params.beta);
}

}  // namespace leeway
#endif
