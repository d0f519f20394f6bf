// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/pyramid.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/predict/pyramid.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_PREDICT_PYRAMID_ROW
#define LEEWAY_PREDICT_PYRAMID_ROW
namespace leeway::pyramid {

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

}  // namespace leeway::pyramid
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::HWY_NAMESPACE {
using namespace leeway::pyramid;

// These are plain loops for the compiler to turn into vector code: every value is computed alone,
// by the same operations in the same order on every target.

template <class C>
struct Direction {
  C value, activity, weight;
  HWY_INLINE Direction(const Taps<C>& t, size_t i, C inverse) {
    const C near = t.b[i] + t.c[i], far = t.a[i] + t.d[i];
    value = C(0.5625) * near - C(0.0625) * far;
    activity =
        (std::abs(value - C(0.5) * near) * 2 + C(0.25) * std::abs(t.b[i] - t.c[i])) * inverse;
    const C w = 2 * activity + 3;
    weight = w < C(32768) ? w : C(32768);
    weight = weight * weight;
  }
};

template <class C>
void blend(const RowInput<C>& in, size_t axes, C* HWY_RESTRICT predicted,
           C* HWY_RESTRICT activity) {
  const size_t n = in.count;
  const C inverse = in.inverse;
  const Taps<C>*t = in.axes.data();
  if (axes == 1) {
    const Taps<C> t0 = t[0];
    for (size_t i = 0; i < n; ++i) {
      const Direction<C> x(t0, i, inverse);
      predicted[i] = x.value;
      activity[i] = x.activity;
    }
  } else if (axes == 2) {
    const Taps<C> t0 = t[0], t1 = t[1];
    for (size_t i = 0; i < n; ++i) {
      const Direction<C> x(t0, i, inverse), y(t1, i, inverse);
      const C scale = 1 / (x.weight + y.weight);
      predicted[i] = (x.value * y.weight + y.value * x.weight) * scale;
      activity[i] = (x.activity * y.weight + y.activity * x.weight) * scale;
    }
  } else if (axes == 3) {
    const Taps<C> t0 = t[0], t1 = t[1], t2 = t[2];
    for (size_t i = 0; i < n; ++i) {
      const Direction<C> x(t0, i, inverse), y(t1, i, inverse), z(t2, i, inverse);
      const C wx = y.weight * z.weight, wy = x.weight * z.weight, wz = x.weight * y.weight;
      const C scale = 1 / (wx + wy + wz);
      predicted[i] = (x.value * wx + y.value * wy + z.value * wz) * scale;
      activity[i] = (x.activity * wx + y.activity * wy + z.activity * wz) * scale;
    }
  } else {
    const Taps<C> t0 = t[0], t1 = t[1], t2 = t[2], t3 = t[3];
    for (size_t i = 0; i < n; ++i) {
      const Direction<C> x(t0, i, inverse), y(t1, i, inverse), z(t2, i, inverse),
          u(t3, i, inverse);
      const C wx = 1 / x.weight, wy = 1 / y.weight, wz = 1 / z.weight, wu = 1 / u.weight;
      const C scale = 1 / (wx + wy + wz + wu);
      predicted[i] = (x.value * wx + y.value * wy + z.value * wz + u.value * wu) * scale;
      activity[i] =
          (x.activity * wx + y.activity * wy + z.activity * wz + u.activity * wu) * scale;
    }
  }
}

void blend_f32(const RowInput<float>& in, size_t axes, float* predicted, float* activity) {
  blend(in, axes, predicted, activity);
}
void blend_f64(const RowInput<double>& in, size_t axes, double* predicted, double* activity) {
  blend(in, axes, predicted, activity);
}

void add_sizes(const u8* HWY_RESTRICT sizes, size_t n, u16* HWY_RESTRICT sums) {
  for (size_t i = 0; i < n; ++i) sums[i] = u16(sums[i] + sizes[i]);
}

// The class of an expected size of a code, in half octaves.
template <class C>
void classify(const C* HWY_RESTRICT activity, const u16* HWY_RESTRICT sums, size_t n,
              float activity_weight, float size_weight, u8 first, u8* HWY_RESTRICT contexts) {
  for (size_t i = 0; i < n; ++i) {
    const float expected =
        float(activity[i]) * activity_weight + float(sums[i]) * size_weight + 0x1p-7f;
    u32 bits;
    std::memcpy(&bits, &expected, 4);
    const u32 octave = (bits >> 22) - (120u << 1);
    contexts[i] = u8(first + (octave < 31 ? octave : 31));
  }
}
void classify_f32(const float* activity, const u16* sums, size_t n, float activity_weight,
                  float size_weight, u8 first, u8* contexts) {
  classify(activity, sums, n, activity_weight, size_weight, first, contexts);
}
void classify_f64(const double* activity, const u16* sums, size_t n, float activity_weight,
                  float size_weight, u8 first, u8* contexts) {
  classify(activity, sums, n, activity_weight, size_weight, first, contexts);
}

}  // namespace leeway::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway {
namespace pyramid {
namespace {

HWY_EXPORT(blend_f32);
HWY_EXPORT(blend_f64);
HWY_EXPORT(add_sizes);
HWY_EXPORT(classify_f32);
HWY_EXPORT(classify_f64);

void blend(const RowInput<float>& in, size_t axes, float* predicted, float* activity) {
  HWY_DYNAMIC_DISPATCH(blend_f32)(in, axes, predicted, activity);
}
void blend(const RowInput<double>& in, size_t axes, double* predicted, double* activity) {
  HWY_DYNAMIC_DISPATCH(blend_f64)(in, axes, predicted, activity);
}
void classify(const float* activity, const u16* sums, size_t n, float wa, float ws, u8 first,
              u8* contexts) {
  HWY_DYNAMIC_DISPATCH(classify_f32)(activity, sums, n, wa, ws, first, contexts);
}
void classify(const double* activity, const u16* sums, size_t n, float wa, float ws, u8 first,
              u8* contexts) {
  HWY_DYNAMIC_DISPATCH(classify_f64)(activity, sums, n, wa, ws, first, contexts);
}

double env(const char* name, double other) {
  const char* text = std::getenv(name);
  return text ? std::atof(text) : other;
}

constexpr u8 kTopContext = 192;

template <class C>
class Walk {
 public:
  Walk(const Pyramid& pyramid, const Polyphase& layout, double step, PyramidRows<C>& rows)
      : pyramid_(pyramid),
        layout_(layout),
        rank_(layout.rank()),
        step_(step),
        rows_(rows),
        numbers_(layout.size()),
        sizes_(layout.size()) {
    std::fill(sizes_.begin(), sizes_.end(), u8(0));
    std::fill(numbers_.begin(), numbers_.end(), C(0));
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
          layout_.merge_grid(l - 1, numbers_.data() + slice_);
          layout_.merge_grid(l - 1, sizes_.data() + slice_);
          rows_.end_level(l, slice_);
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
        std::fill_n(predicted_.data(), count, C(0));
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
          const C* from = numbers_.data() + at - back;
          for (size_t i = 0; i < count; ++i) predicted_[i] += sign * from[i];
        }
        std::fill_n(contexts_.data(), count, kTopContext);
        rows_.row(at, count, predicted_.data(), contexts_.data(), numbers_.data() + at,
                  sizes_.data() + at);
      }
      pad(top, row);
    }
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
        const C* at = numbers_.data() + place(side, row) + x;
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
        return numbers_.data() + place(side, first + size_t(k) * stride) + x;
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
    blend(in, axes, predicted_.data(), activity_.data());
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
    std::fill_n(sums_.data(), count, u16(0));
    for (const size_t from : known_)
      HWY_DYNAMIC_DISPATCH(add_sizes)(sizes_.data() + from, count, sums_.data());
    static const double wa = env("LW_WA", 0.2), ws = env("LW_WS", 1);
    const size_t group = std::min<size_t>(level, 2) * 2 + (axes > 1);
    classify(activity_.data(), sums_.data(), count, float(wa),
             known_.empty() ? 0 : float(ws) / float(known_.size()), u8(32 * group),
             contexts_.data());
    rows_.row(at, count, predicted_.data(), contexts_.data(), numbers_.data() + at,
              sizes_.data() + at);
  }

  // The next value of the parabola through three, the nearest first.
  static C beyond(C r0, C r1, C r2) { return 3 * (r0 - r1) + r2; }

  // What stands beside a row: its parabola continued.
  void pad(const Part& part, size_t row) {
    C* r = numbers_.data() + place(part, row);
    u8* s = sizes_.data() + place(part, row);
    const size_t n = part.length();
    r[-1] = n > 2 ? beyond(r[0], r[1], r[2]) : n > 1 ? 2 * r[0] - r[1] : r[0];
    r[n] = n > 2 ? beyond(r[n - 1], r[n - 2], r[n - 3]) : n > 1 ? 2 * r[1] - r[0] : r[0];
    r[n + 1] = n > 1 ? beyond(r[n], r[n - 1], r[n - 2]) : r[0];
    s[-1] = s[0];
    s[n] = s[n + 1] = s[n - 1];
  }

  const Pyramid& pyramid_;
  const Polyphase& layout_;
  size_t rank_;
  double step_;
  PyramidRows<C>& rows_;
  Buffer<C> numbers_;
  Buffer<u8> sizes_;
  size_t slice_ = 0;  // where it starts
  Index index_{};     // of the slice
  C inverse_ = 1;
  std::array<C, kMostCodes> predicted_, activity_;
  std::array<std::array<C, kMostCodes>, 3 * kMaxActive> ghosts_;
  std::array<u16, kMostCodes> sums_;
  std::array<u8, kMostCodes> contexts_;
  std::vector<size_t> known_;  // places of sizes
};

}  // namespace
}  // namespace pyramid

template <class C>
void Pyramid::walk_rows(const Polyphase& layout, double step, PyramidRows<C>& rows) const {
  std::make_unique<pyramid::Walk<C>>(*this, layout, step, rows)->run();
}
template void Pyramid::walk_rows(const Polyphase&, double, PyramidRows<float>&) const;
template void Pyramid::walk_rows(const Polyphase&, double, PyramidRows<double>&) const;

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
