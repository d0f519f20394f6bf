// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/pyramid.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>

#include "leeway/predict/stencil.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/predict/pyramid.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_PREDICT_PYRAMID_ROW
#define LEEWAY_PREDICT_PYRAMID_ROW
namespace leeway::pyramid {

inline constexpr size_t kMostKnown = 32;

// Of codes, row by row.
struct Sizes {
  const u8* first;
  size_t pitch;
};

// Values along one axis, at -3, -1, 1 and 3 times the level's stride.
template <class C>
struct Taps {
  const C *a, *b, *c, *d;
  size_t pitch;  // from row to row
};

// Rows for which the same things are known. Results stand one row behind the other.
struct Lines {
  size_t lines, count;  // rows, values in each
};

// Sizes of codes: those of the values interpolated from, then those before.
struct Known {
  std::array<Sizes, kMostKnown> sizes;
  size_t near, all;  // how many
};

// Weights of what the error to expect is made of: the activity, the sums of known sizes, 1.
struct Expected {
  float activity, near, before, constant;
};

}  // namespace leeway::pyramid
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::pyramid::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace leeway::pyramid;

// One value of each lane, interpolated along one axis.
template <class D, class V = hn::Vec<D>>
struct Direction {
  V value, activity, weight;
  HWY_INLINE Direction(D d, const Taps<hn::TFromD<D>>& taps, size_t line, size_t x, V inverse) {
    const size_t i = line * taps.pitch + x;
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

// Calls f(d, line, x, i) for all vectors of all rows, i counting all values. Results have room
// behind them: the last vector of a row may reach over its end.
template <class C, class F>
HWY_INLINE void for_each_vector(const Lines& lines, F&& f) {
  const hn::ScalableTag<C> d;
  for (size_t line = 0; line < lines.lines; ++line)
    for (size_t x = 0; x < lines.count; x += hn::Lanes(d)) f(d, line, x, line * lines.count + x);
}

template <class C>
void blend(const Lines& lines, const Taps<C>* t, size_t axes, C step_inverse,
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

void blend_f32(const Lines& lines, const Taps<float>* taps, size_t axes, float inverse,
               float* predicted, float* activity) {
  blend(lines, taps, axes, inverse, predicted, activity);
}
void blend_f64(const Lines& lines, const Taps<double>* taps, size_t axes, double inverse,
               double* predicted, float* activity) {
  blend(lines, taps, axes, inverse, predicted, activity);
}

// Sums of sizes at `x` of a row.
template <class D>
HWY_INLINE hn::Vec<D> sum_of(D d, const Known& known, size_t from, size_t end, size_t line,
                             size_t x) {
  const hn::Rebind<u8, D> d8;
  auto sum = hn::Zero(d);
  for (size_t k = from; k < end; ++k) {
    const Sizes& sizes = known.sizes[k];
    const auto next = hn::LoadU(d8, sizes.first + line * sizes.pitch + x);
    if constexpr (sizeof(hn::TFromD<D>) == 1)
      sum = hn::SaturatedAdd(sum, next);
    else
      sum = hn::Add(sum, hn::PromoteTo(d, next));
  }
  return sum;
}

// Means of the sizes, of eight values.
void means(const Known& known, size_t line, size_t x, float* HWY_RESTRICT near,
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

// The error to expect, in steps, but at least 2^-7, and its class in half octaves.
void expect(const Lines& lines, const Known& known, const Expected& weights,
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
    const auto size = hn::IfThenElse(hn::Lt(raw, least), least, raw);
    hn::StoreU(size, d, expected + i);
    const auto octave = hn::Sub(hn::ShiftRight<22>(hn::BitCast(du, size)), hn::Set(du, 240));
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
namespace leeway {
namespace pyramid {
namespace {

HWY_EXPORT(blend_f32);
HWY_EXPORT(blend_f64);
HWY_EXPORT(expect);
HWY_EXPORT(means);

void blend(const Lines& lines, const Taps<float>* taps, size_t axes, float inverse,
           float* predicted, float* activity) {
  HWY_DYNAMIC_DISPATCH(blend_f32)(lines, taps, axes, inverse, predicted, activity);
}
void blend(const Lines& lines, const Taps<double>* taps, size_t axes, double inverse,
           double* predicted, float* activity) {
  HWY_DYNAMIC_DISPATCH(blend_f64)(lines, taps, axes, inverse, predicted, activity);
}
constexpr size_t kGroup = LeastSquares<float>::kSampleGroup;
constexpr size_t kLearnedLevels = 3;
constexpr u32 kTopContexts = 192;

constexpr i32 kUsualTile = 19;
// Of so many groups of values, expectations are learned from one: first, and later.
constexpr size_t kSizesEveryFirst = 4, kSizesEvery = 64;

template <class C>
struct Learner {
  LeastSquares<C> squares;
  size_t rows = 0;
};
// One for every class.
template <class C>
struct Learners {
  std::array<std::optional<Learner<C>>, size_t(1) << kMaxActive> of;
  // The first time with what a coarser level knows.
  Learner<C>& get(u32 odd, size_t taps, const Learners* coarser) {
    std::optional<Learner<C>>& learner = of[odd];
    if (!learner) {
      learner.emplace(Learner<C>{LeastSquares<C>(taps)});
      if (coarser && coarser->of[odd] && coarser->of[odd]->squares.taps() == taps)
        learner->squares.inherit(coarser->of[odd]->squares);
    }
    return *learner;
  }
  void settle() {
    for (auto& learner : of)
      if (learner) learner->squares.settle();
  }
};
// The error to expect, in steps, from the activity, the mean of the near sizes, the mean of those
// before, and 1.
using Expectation = Learner<float>;
constexpr size_t kExpectedFrom = 4;

// What is learned about the classes of a level.
template <class C>
struct Memory {
  Learners<C> predictions;
  Learners<float> expectations;
  void settle() {
    predictions.settle();
    expectations.settle();
  }
};

template <class C>
using Memories = std::vector<std::unique_ptr<Memory<C>>>;

template <class C>
class Walk final : public PyramidWalk<C> {
 public:
  Walk(const Pyramid& pyramid, const Tiles& tiles, double step)
      : pyramid_(pyramid),
        step_size_(step),
        is_solid_(std::popcount(tiles.active) > 2),
        learns_sizes_(can_learn_sizes(tiles)),
        memories_(std::make_shared<Memories<C>>(tiles.memories)) {}
  std::unique_ptr<PyramidWalk<C>> another() const override {
    return std::make_unique<Walk>(*this, memories_);
  }
  Walk(const Walk& other, std::shared_ptr<Memories<C>> memories)
      : pyramid_(other.pyramid_),
        step_size_(other.step_size_),
        is_solid_(other.is_solid_),
        learns_sizes_(other.learns_sizes_),
        memories_(std::move(memories)) {}

  void walk(const TileStep& step, const Polyphase& layout, C* numbers, u8* sizes,
            PyramidRows<C>& rows) override {
    step_ = &step;
    layout_ = &layout;
    rank_ = layout.rank();
    rows_ = &rows;
    numbers_ = numbers;
    sizes_ = sizes;
    inverse_ = C(1 / (step_size_ * pyramid_.tightening(step.level)));
    Memory<C> of_top;
    if (!step.is_top && !(*memories_)[step.memory])
      (*memories_)[step.memory] = std::make_unique_for_overwrite<Memory<C>>();
    memory_ = step.is_top ? &of_top : (*memories_)[step.memory].get();
    coarser_ = step.coarser ? (*memories_)[*step.coarser].get() : nullptr;
    slice_ = 0;
    for_each_outer(layout.slices(), 0, [&](const Index& index) {
      index_ = index;
      const Part& grid = layout.grid();
      if (step.is_top)
        walk_part(grid);
      else
        for (size_t row = 0; row < grid.rows(); ++row) pad(grid, row);
      for (const Part& part : layout.classes()) walk_part(part);
      slice_ += layout.slice_size();
    });
    if (!step.is_tile) return;
    if (step.level > 0)
      memory_->settle();
    else
      (*memories_)[step.memory].reset();
  }

 private:
  // Rows of a band whose neighbours are alike.
  struct Stretch {
    Lines lines;
    size_t first;  // of its values in the band
    Known known;
  };
  size_t level() const { return step_->level + pyramid_.first_level; }

  // By bands of rows that are coded together. Where taps are learned or a row's context needs the
  // one before, a band is a row.
  void walk_part(const Part& part) {
    learner_ = learner_for(part);
    expectation_ = &memory_->expectations.get(part.odd, kExpectedFrom,
                                              coarser_ ? &coarser_->expectations : nullptr);
    find_sides(part);
    // Points on cuts are known, and stand at ends of axes where coordinates are even.
    Extents begin{}, end = part.extents, index{};
    for (size_t axis = 0; axis < rank_; ++axis) {
      if (part.odd >> axis & 1) continue;
      begin[axis] += step_->ends >> 2 * axis & 1;
      end[axis] -= step_->ends >> 2 * axis >> 1 & 1;
    }
    const size_t last = rank_ - 1, width = end[last] - begin[last];
    is_by_planes_ = is_solid_ && !learner_;
    const size_t most =
        is_by_planes_ ? std::max<size_t>(1, kMostCodes / std::max<size_t>(width, 1)) : 1;
    for (size_t row = 0;;) {
      bool is_inside = true;
      for (size_t axis = 0; axis < last; ++axis)
        is_inside = is_inside && index[axis] >= begin[axis] && index[axis] < end[axis];
      const size_t lines =
          is_inside && last > 0 ? std::min(most, end[last - 1] - index[last - 1]) : 1;
      for (size_t x = begin[last]; is_inside && x < end[last]; x += kMostCodes)
        walk_band(part, index, row, x, {lines, std::min(kMostCodes, end[last] - x)});
      for (size_t line = 0; line < lines; ++line) pad(part, row + line);
      row += lines;
      size_t axis = last;
      if (axis > 0) index[axis - 1] += lines - 1;
      while (axis > 0 && ++index[axis - 1] == part.extents[axis - 1]) index[--axis] = 0;
      if (axis == 0) return;
    }
  }

  void walk_band(const Part& part, const Extents& first, size_t row, size_t x, const Lines& band) {
    stretches_count_ = 0;
    const size_t at = place(part, row) + x;
    Extents index = first;
    for (size_t line = 0; line < band.lines;) {
      if (rank_ > 1) index[rank_ - 2] = first[rank_ - 2] + line;
      Stretch& stretch = stretches_[stretches_count_++];
      stretch.lines = {std::min(alike_from(index), band.lines - line), band.count};
      stretch.first = line * band.count;
      known_ = &stretch.known;
      const size_t axes = guess(part, index, row + line, x, stretch);
      find_known(part, index, at + line * part.pitch);
      const u32 context =
          axes == 0 ? kTopContexts : u32(32 * (std::min<size_t>(level(), 2) * 2 + (axes > 1)));
      HWY_DYNAMIC_DISPATCH(expect)
      (stretch.lines, *known_, weights(), activity_.data() + stretch.first, context,
       expected_.data() + stretch.first, contexts_.data() + stretch.first);
      line += stretch.lines.lines;
    }
    const C* predicted = guess_.data();
    if (learner_) {
      find_taps(first, x);
      if (learner_->squares.is_ready()) {
        learner_->squares.apply(taps_.data(), guess_.data(), band.count, predicted_.data());
        predicted = predicted_.data();
      }
    }
    rows_->code({at, part.pitch, band.lines, band.count}, predicted, contexts_.data(), sizes_ + at);
    if (learner_) learn(*learner_, predicted, numbers_ + at, band.count);
    if (!learns_sizes_) return;
    const u8* sizes = sizes_ + at;
    for (const Stretch& stretch : std::span(stretches_).first(stretches_count_))
      for (size_t line = 0; line < stretch.lines.lines; ++line, sizes += part.pitch)
        learn_sizes(stretch, line, sizes);
  }

  // So many rows from this one on have their neighbours alike: none of them, or only this one, has
  // some outside.
  size_t alike_from(const Extents& index) const {
    for (size_t s = 0; s < sides_count_; ++s) {
      const auto& [axis, side, stride] = sides_[s];
      if (axis + 2 != rank_) continue;
      const size_t j = index[axis], n = side->extents[axis];
      return j > 0 && j + 2 < n ? n - 2 - j : 1;
    }
    return std::numeric_limits<size_t>::max();
  }

  // What the points of a class are interpolated from, axis by axis.
  void find_sides(const Part& part) {
    sides_count_ = 0;
    for (size_t axis = 0; axis < rank_; ++axis) {
      if (!(part.odd >> axis & 1)) continue;
      const Part& side = *layout_->find(part.odd ^ (1u << axis));
      size_t stride = side.pitch;
      for (size_t k = axis + 1; k + 1 < rank_; ++k) stride *= side.extents[k];
      sides_[sides_count_++] = {axis, &side, stride};
    }
  }

  // The first guess: interpolated, or from the slices before if nothing in this one is known. Says
  // along how many axes, and notes where the sizes of codes are known.
  size_t guess(const Part& part, const Extents& index, size_t row, size_t x,
               const Stretch& stretch) {
    const size_t lines = stretch.lines.lines, count = stretch.lines.count;
    C* const guess = guess_.data() + stretch.first;
    float* const activity = activity_.data() + stretch.first;
    known_->near = known_->all = 0;
    if (part.odd == 0) {
      for (size_t line = 0; line < lines; ++line)
        guess_from_slices(place(part, row + line) + x, count, guess + line * count);
      std::fill_n(activity, lines * count, 0.0f);
      return 0;
    }
    std::array<Taps<C>, kMaxActive> taps;
    size_t axes = 0, ghosts = 0;
    for (size_t s = 0; s < sides_count_; ++s) {
      const auto& [axis, part, stride] = sides_[s];
      const Part& side = *part;
      if (axis + 1 == rank_) {
        const size_t at = place(side, row) + x;
        const C* b = numbers_ + at;
        taps[axes++] = {b - 1, b, b + 1, b + 2, side.pitch};
        know(sizes_ + at, side.pitch);
        know(sizes_ + at + 1, side.pitch);
        continue;
      }
      const auto j = std::ptrdiff_t(index[axis]), n = std::ptrdiff_t(side.extents[axis]);
      const size_t here = place(side, row_number(side, index)) + x;
      const auto at = [&, step = std::ptrdiff_t(stride)](std::ptrdiff_t k) -> const C* {
        if (k < 0 || k >= n) return nullptr;
        return numbers_ + std::ptrdiff_t(here) + (k - j) * step;
      };
      // Rows outside, as far apart as those inside.
      const auto ghost = [&](const C* r0, const C* r1, const C* r2) -> const C* {
        if (!r1) return r0;
        Buffer<C>& out = ghosts_[ghosts++];
        if (out.size() < lines * side.pitch + kRowRoom)
          out = Buffer<C>(lines * side.pitch + kRowRoom);
        for (size_t line = 0; line < lines; ++line)
          for (size_t i = line * side.pitch, end = i + count; i < end; ++i)
            out[i] = r2 ? beyond(r0[i], r1[i], r2[i]) : 2 * r0[i] - r1[i];
        return out.data();
      };
      const C *a = at(j - 1), *b = at(j), *c = at(j + 1), *d = at(j + 2);
      if (!c) c = ghost(b, a, at(j - 2));
      if (!a) a = ghost(b, c == b ? nullptr : c, d);
      if (!d) d = ghost(c, b, a);
      taps[axes++] = {a, b, c, d, side.pitch};
      know(sizes_ + here, side.pitch);
      if (j + 1 < n) know(sizes_ + here + stride, side.pitch);
    }
    blend(stretch.lines, taps.data(), axes, inverse_, guess, activity);
    known_->near = known_->all;
    return axes;
  }
  void know(const u8* sizes, size_t pitch) { known_->sizes[known_->all++] = {sizes, pitch}; }

  // As Lorenzo does, along the frozen axes.
  void guess_from_slices(size_t at, size_t count, C* guess) {
    const size_t frozen = layout_->slices().rank();
    std::fill_n(guess, count, C(0));
    for (u32 set = 1; set < 1u << frozen; ++set) {
      size_t back = 0, stride = layout_->slice_size();
      bool inside = true;
      for (size_t axis = frozen; axis-- > 0; stride *= size_t(layout_->slices()[axis])) {
        if (!(set >> axis & 1)) continue;
        back += stride;
        inside = inside && index_[axis] > 0;
      }
      if (!inside) continue;
      const C sign = std::popcount(set) % 2 ? C(1) : C(-1);
      const C* from = numbers_ + at - back;
      for (size_t i = 0; i < count; ++i) guess[i] += sign * from[i];
    }
  }

  // Sizes of codes known in rows and slices before; near ones count twice.
  void find_known(const Part& part, const Extents& index, size_t at) {
    const u8* sizes = sizes_ + at;
    size_t stride = part.pitch;
    for (size_t axis = rank_ - 1; axis-- > 0; stride *= part.extents[axis]) {
      if (index[axis] == 0 || (is_by_planes_ && axis + 2 == rank_)) continue;
      for (const std::ptrdiff_t x : {0, 0, -1, 1})
        know(sizes - std::ptrdiff_t(stride) + x, part.pitch);
    }
    stride = layout_->slice_size();
    for (size_t axis = layout_->slices().rank(); axis-- > 0;
         stride *= size_t(layout_->slices()[axis])) {
      if (index_[axis] == 0 || known_->all + 3 > kMostKnown) continue;
      know(sizes - stride, part.pitch);
      know(sizes - stride, part.pitch);
      if (index_[axis] > 1) know(sizes - 2 * stride, part.pitch);
    }
  }

  // For sums of sizes instead of means.
  Expected weights() const {
    const auto near = float(known_->near), before = float(known_->all - known_->near);
    const float per_near = near > 0 ? 1 / near : 0, per_before = before > 0 ? 1 / before : 0;
    if (!expectation_->squares.is_ready()) {
      const float each = known_->all > 0 ? 1 / float(known_->all) : 0;
      return {0.2f, each, each, 0};
    }
    const auto& w = expectation_->squares.weights();
    return {w[0], w[1] * per_near, w[2] * per_before, w[3]};
  }
  // Whether any class has values enough for a first solution: of its groups, one in so many is
  // sampled, and a row may have one more than its share.
  static bool can_learn_sizes(const Tiles& tiles) {
    const Shape& shape = tiles.shapes[0];
    u64 largest = 1, longest = 1;
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      const u64 n = tiles.active >> axis & 1 ? (shape[axis] + 1) / 2 : shape[axis];
      largest *= n;
      longest = std::max(longest, n);
    }
    return largest / kSizesEveryFirst + longest + kGroup >= LeastSquares<float>::kSolveEvery;
  }
  void learn_sizes(const Stretch& stretch, size_t line, const u8* sizes) {
    const size_t every = expectation_->squares.is_full() ? kSizesEvery : kSizesEveryFirst;
    const size_t turn = 5 * expectation_->rows++ & (every - 1);  // both are powers of two
    const size_t count = stretch.lines.count;
    std::array<float, kGroup> near, before, size;
    for (size_t g = turn; (g + 1) * kGroup <= count; g += every) {
      const size_t x = g * kGroup, first = stretch.first + line * count + x;
      HWY_DYNAMIC_DISPATCH(means)(stretch.known, line, x, near.data(), before.data());
      for (size_t i = 0; i < kGroup; ++i) size[i] = float(sizes[x + i]);
      static constexpr std::array<float, kGroup> kOnes{1, 1, 1, 1, 1, 1, 1, 1}, kZeros{};
      const std::array<const float*, 4> features{activity_.data() + first, near.data(),
                                                 before.data(), kOnes.data()};
      const float* const expected = expected_.data() + first;
      expectation_->squares.sample(
          {features.data(), kZeros.data(), expected, size.data(), expected, 0, 1.0f});
    }
  }

  // Leaves in near_ where its taps are; null if it has none.
  Learner<C>* learner_for(const Part& part) {
    const bool flat = !layout_->is_split();
    if (pyramid_.params.taps == 0 || part.length() < kGroup || (part.odd == 0 && !flat) ||
        level() >= kLearnedLevels)
      return nullptr;
    near_ = &taps_of(part);
    const size_t count = near_->size();
    if (count == 0) return nullptr;
    for (size_t k = 0; k < count; ++k) holders_[k] = layout_->find((*near_)[k].odd);
    return &memory_->predictions.get(part.odd, count, coarser_ ? &coarser_->predictions : nullptr);
  }

  // They depend on which axes there are and which classes have points, not on the extents.
  const std::vector<Tap>& taps_of(const Part& part) {
    u64 key = layout_->slices().rank() << 8 | rank_ << 4 | part.odd;
    for (const Part& other : layout_->classes()) key |= u64(1) << (16 + other.odd);
    const auto [found, is_new] = taps_of_class_.try_emplace(key);
    if (is_new) found->second = taps_near(*layout_, part, size_t(pyramid_.params.taps));
    return found->second;
  }

  // The rows of the taps; where there are none, the guess itself.
  void find_taps(const Extents& index, size_t x) {
    for (size_t k = 0; k < near_->size(); ++k) {
      const Tap& tap = (*near_)[k];
      const Part& holder = *holders_[k];
      bool inside = true;
      std::ptrdiff_t row = 0, back = 0;
      for (size_t axis = 0; axis + 1 < rank_; ++axis) {
        const auto at = std::ptrdiff_t(index[axis]) + tap.shift[axis];
        const auto extent = std::ptrdiff_t(holder.extents[axis]);
        inside = inside && at >= 0 && at < extent;
        row = row * extent + at;
      }
      for (size_t axis = 0; axis < layout_->slices().rank(); ++axis) {
        const auto at = std::ptrdiff_t(index_[axis]) + tap.back[axis];
        const auto extent = std::ptrdiff_t(layout_->slices()[axis]);
        inside = inside && at >= 0 && at < extent;
        back = back * extent + tap.back[axis];
      }
      taps_[k] = inside ? numbers_ + (std::ptrdiff_t(place(holder, 0) + x) +
                                      row * std::ptrdiff_t(holder.pitch) + tap.shift[rank_ - 1] +
                                      back * std::ptrdiff_t(layout_->slice_size()))
                        : guess_.data();
    }
  }

  void learn(Learner<C>& learner, const C* predicted, const C* values, size_t count) {
    const auto every = size_t(pyramid_.params.every);
    for (size_t g = learner.rows++ * 5 % every; (g + 1) * kGroup <= count; g += every)
      learner.squares.sample(
          {taps_.data(), guess_.data(), predicted, values, expected_.data(), g * kGroup, inverse_});
  }

  static size_t row_number(const Part& part, const Extents& index) {
    size_t row = 0;
    for (size_t axis = 0; axis + 1 < part.rank; ++axis)
      row = row * part.extents[axis] + index[axis];
    return row;
  }
  size_t place(const Part& part, size_t row) const {
    return slice_ + part.first + row * part.pitch;
  }

  // The next value of the parabola through three, the nearest first.
  static C beyond(C r0, C r1, C r2) { return 3 * (r0 - r1) + r2; }

  // What stands beside a row: its parabola continued.
  void pad(const Part& part, size_t row) {
    C* r = numbers_ + place(part, row);
    u8* s = sizes_ + place(part, row);
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
  double step_size_;
  bool is_solid_;      // whether slices have three axes or more
  bool learns_sizes_;  // whether there are values enough
  std::shared_ptr<Memories<C>> memories_;
  std::map<u64, std::vector<Tap>> taps_of_class_;
  // About the step.
  const TileStep* step_ = nullptr;
  const Polyphase* layout_ = nullptr;
  size_t rank_ = 0;
  PyramidRows<C>* rows_ = nullptr;
  C* numbers_ = nullptr;  // the values, by the layout
  u8* sizes_ = nullptr;   // of their codes
  Memory<C>*memory_ = nullptr, *coarser_ = nullptr;
  size_t slice_ = 0;  // where it starts
  Index index_{};     // of the slice
  C inverse_ = 1;     // of the level's step
  // About the class.
  Learner<C>* learner_ = nullptr;  // of taps
  Expectation* expectation_ = nullptr;
  bool is_by_planes_ = false;  // whether rows do not need the row before
  const std::vector<Tap>* near_ = nullptr;
  std::array<const Part*, kMostTaps> holders_;  // of the taps
  // About the band; vector code may write a little behind the end.
  std::array<C, kMostCodes + kRowRoom> guess_, predicted_;
  std::array<float, kMostCodes + kRowRoom> activity_{}, expected_;
  std::array<u8, kMostCodes + kRowRoom> contexts_;
  std::array<Stretch, 4> stretches_;  // the first row, those inside, the last two
  size_t stretches_count_ = 0;
  Known* known_ = nullptr;  // of the last of them
  struct Side {
    size_t axis;
    const Part* part;
    size_t stride;  // along the axis
  };
  std::array<Side, kMaxActive> sides_;
  size_t sides_count_ = 0;
  std::array<Buffer<C>, 3 * kMaxActive> ghosts_;  // rows outside the array
  std::array<const C*, kMostTaps> taps_;
};

}  // namespace
}  // namespace pyramid

template <class C>
std::unique_ptr<PyramidWalk<C>> Pyramid::make_walk(const Tiles& tiles, double step) const {
  return std::make_unique<pyramid::Walk<C>>(*this, tiles, step);
}
template std::unique_ptr<PyramidWalk<float>> Pyramid::make_walk(const Tiles&, double) const;
template std::unique_ptr<PyramidWalk<double>> Pyramid::make_walk(const Tiles&, double) const;

u32 Pyramid::active_axes(const Shape& shape) const {
  u32 active = 0;
  size_t count = 0;
  for (size_t axis = shape.rank(); axis-- > 0;)
    if (!(params.frozen >> axis & 1) && count < kMaxActive) {
      active |= 1u << axis;
      ++count;
    }
  return active;
}

size_t Pyramid::level_of_first(const Shape& shape) const {
  const u32 active = active_axes(shape);
  size_t level = 0;
  for (size_t axis = 0; axis < shape.rank(); ++axis)
    if (active >> axis & 1) level = std::max(level, size_t(std::bit_width(shape[axis] - 1)));
  return level;
}

double Pyramid::tightening(size_t level) const {
  const auto [alpha, beta] = kTightness[std::max(params.tight, 0)];
  return tightening_at(level + first_level, alpha, beta);
}

Pyramid Pyramid::settled(const Shape& shape, const Try& trial) const {
  // Axes that may be frozen: none, each alone, the two slowest, all.
  const size_t rank = shape.rank();
  const i32 all = (1 << rank) - 1;
  std::vector<i32> sets{0};
  if (params.frozen >= 0) {
    sets = {params.frozen & all};
  } else if (rank > 1) {
    for (size_t axis = 0; axis < rank; ++axis) sets.push_back(1 << axis);
    if (rank > 3) sets.push_back(3);
    sets.push_back(all);
  }
  std::vector<i32> tights{0, 1, 2};
  if (params.tight >= 0) tights = {params.tight};
  // Weights are found when a class has taught so many values.
  const auto can_learn = [&](u64 values_of_class) {
    return values_of_class / u64(params.every) >= LeastSquares<float>::kSolveEvery;
  };
  const auto with = [&](i32 frozen, i32 tight, i32 taps) {
    Pyramid result = *this;
    result.params.frozen = frozen;
    result.params.tight = tight;
    result.params.taps = frozen == all && rank > 1 && can_learn(shape.size())
                             ? std::max(taps, std::min(params.taps, 10))
                             : taps;
    // What is learned would have to be learned again in every tile.
    if (params.tile < 0) result.params.tile = result.params.taps > 0 ? 0 : pyramid::kUsualTile;
    return result;
  };
  std::vector<i32> taps{can_learn(shape.size() / 4) ? params.taps : 0};
  if (params.gain > 0 && taps[0] > 0) taps.insert(taps.begin(), 0);

  constexpr u64 kWorthATrial = 256;  // values
  if (shape.size() < kWorthATrial) return with(sets[0], tights[0], taps[0]);

  // What these settings have made must stay as it is; larger steps first, for their multiples are
  // multiples of smaller ones, too.
  for (const i32 tight : tights)
    for (const i32 k : taps)
      for (const i32 frozen : sets)
        if (const Pyramid made = with(frozen, tight, k);
            looks_made_by(made, shape, u32(frozen), trial))
          return made;

  // All sets of axes on a small sample, the best two on a larger one, then the rest of the
  // settings.
  const bool thorough = params.gain == 0;
  const u64 values = thorough ? std::clamp<u64>(shape.size() / 16, 16384, 131072)
                              : std::clamp<u64>(shape.size() / 64, 16384, 32768);
  const Sample sample = middle_sample(shape, values), glance = middle_sample(shape, values / 4);
  const auto cost_of = [&](i32 frozen, i32 tight, i32 k, const Sample& part) {
    Pyramid quick = with(frozen, tight, k);
    quick.params.every = std::min(quick.params.every, 2);  // a sample is too short to learn slowly
    return trial(quick, part).cost;
  };
  const auto is_less = [](u64 cost, u64 than, i32 percent) {
    return cost < than / 100 * u64(100 - percent);
  };
  std::vector<u64> costs;  // of the sets, where they need not be found again
  if (sets.size() > 2) {
    std::vector<std::pair<u64, i32>> order;
    for (const i32 frozen : sets)
      order.emplace_back(cost_of(frozen, tights[0], taps[0], glance), frozen);
    std::ranges::sort(order);
    order.resize(2);
    std::ranges::sort(order, {}, &std::pair<u64, i32>::second);
    sets = {order[0].second, order[1].second};
    if (glance.shape == sample.shape && taps.size() == 1) costs = {order[0].first, order[1].first};
  }
  i32 frozen = sets[0], tight = tights[0], k = taps.back();
  if (sets.size() == 1 && taps.size() == 1 && tights.size() == 1) return with(frozen, tight, k);
  u64 cost = costs.empty() ? cost_of(frozen, tight, k, sample) : costs[0];
  if (sets.size() > 1) {
    const u64 other = costs.empty() ? cost_of(sets[1], tight, k, sample) : costs[1];
    if (is_less(other, cost, 1)) cost = other, frozen = sets[1];
  }
  if (taps.size() > 1) {
    const u64 plain = cost_of(frozen, tight, 0, sample);
    if (!is_less(cost, plain, params.gain)) cost = plain, k = 0;
  }
  for (size_t i = 1; i < tights.size(); ++i) {
    const u64 tighter = cost_of(frozen, tights[i], k, sample);
    if (!is_less(tighter, cost, 1)) break;
    cost = tighter, tight = tights[i];
  }
  return with(frozen, tight, k);
}

void Pyramid::write(Writer& side) const {
  side.put(u8(params.frozen));
  side.put(u8(params.tight));
  side.put(u8(params.taps));
  side.put(u8(params.tile));
}

Pyramid Pyramid::read(const Shape& shape, Reader& side) const {
  Pyramid result = *this;
  result.params.frozen = side.get<u8>();
  result.params.tight = side.get<u8>();
  result.params.taps = side.get<u8>();
  result.params.tile = side.get<u8>();
  if (result.params.frozen >> shape.rank() != 0 || result.params.tight > 2 ||
      size_t(result.params.taps) > kMostTaps || result.params.tile > kMostTile)
    fail_corrupt("settings of the pyramid");
  return result;
}

}  // namespace leeway
#endif
