// SPDX-License-Identifier: BSD-3-Clause
// Interp: interpolation level by level, one axis after the other, as SZ3 does [Zhao et al., ICDE
// 2021] (interp.md).
//
// A level of stride s doubles the resolution: along the first axis at points where all coordinates
// but this one are multiples of 2 s, along the next with the first at stride s, and so on. Unlike
// `pyramid`, a value is predicted along one axis only.
#pragma once

#include <algorithm>
#include <array>
#include <bit>

#include "leeway/core/number.h"
#include "leeway/core/stage.h"

namespace leeway {

struct Interp {
  static constexpr std::string_view kName = "interp";
  static constexpr std::string_view kAbout =
      "from coarse to fine, one axis after the other, as SZ3 does";
  static constexpr Kind kKind = Kind::predictor;
  static constexpr u64 kChunkValues = 3 << 21;
  struct Params {
    i32 cubic = 1;
    i32 reverse = 0;
    double alpha = 1.25;
    double beta = 2;
    void fields(auto&& field) {
      field("cubic", cubic, 0, 1, "1: cubics, 0: lines");
      field("reverse", reverse, 0, 1, "1: the fastest axis first");
      field("alpha", alpha, 1, 4, "bound of a level over that of the next coarser one");
      field("beta", beta, 1, 16, "bound of the finest level over the smallest of all");
    }
  } params;

  template <class T, class Visit>
  void walk(Field<T> field, Visit&& visit) const {
    const Shape& shape = field.shape;
    if (field.size() == 0) return;
    u64 longest = 1;
    for (const u64 extent : shape.extents()) longest = std::max(longest, extent);
    const int levels = std::bit_width(longest - 1);
    visit.tighten(tightening(std::max(levels - 1, 0)));
    const Predicted<T> nothing{};
    visit.run(field.data, &nothing, 1, nullptr, visit.marks(), nullptr);
    for (int level = levels; level-- > 0;) {
      visit.tighten(tightening(level));
      for (size_t i = 0; i < shape.rank(); ++i) Pass(*this, field, u64(1) << level, i).walk(visit);
    }
  }

 private:
  double tightening(int level) const {
    return tightening_at(size_t(level), params.alpha, params.beta);
  }

  // The new points of a level along one axis.
  template <class T>
  class Pass {
    using C = Number<T>;

   public:
    Pass(const Interp& interp, Field<T> field, u64 s, size_t which)
        : cubic_(interp.params.cubic), field_(field), rank_(field.shape.rank()), s_(s) {
      const auto axis_of = [&](size_t i) { return interp.params.reverse ? rank_ - 1 - i : i; };
      axis_ = axis_of(which);
      strides_ = contiguous_strides(field.shape, 1);
      for (size_t i = 0; i < rank_; ++i) {
        first_[axis_of(i)] = i == which ? s : 0;
        step_[axis_of(i)] = i < which ? s : 2 * s;
      }
    }

    void walk(auto& visit) {
      for (size_t axis = 0; axis < rank_; ++axis)
        if (first_[axis] >= field_.shape[axis]) return;
      Index index = first_;
      for (;;) {
        walk_row(index, visit);
        size_t axis = rank_ - 1;
        while (axis > 0 && (index[axis - 1] += step_[axis - 1]) >= field_.shape[axis - 1]) {
          --axis;
          index[axis] = first_[axis];
        }
        if (axis == 0) return;
      }
    }

   private:
    void walk_row(Index index, auto& visit) {
      const size_t last = rank_ - 1;
      const u64 n = field_.shape[last];
      const u8* special = visit.marks();
      std::array<T, kMostCodes> values;
      std::array<Predicted<T>, kMostCodes> predicted;
      std::array<u8, kMostCodes> flags;
      while (index[last] < n) {
        std::ptrdiff_t at = 0;
        for (size_t axis = 0; axis < rank_; ++axis)
          at += std::ptrdiff_t(index[axis]) * strides_[axis];
        const size_t count =
            std::min<u64>(kMostCodes, (n - index[last] + step_[last] - 1) / step_[last]);
        T* row = field_.data + at;
        for (size_t i = 0; i < count; ++i, index[last] += step_[last]) {
          const T* value = row + i * step_[last];
          values[i] = *value;
          predicted[i] = predicted_as<T>(predict(value, index[axis_]));
          if (special) flags[i] = special[value - field_.data];
        }
        visit.run(values.data(), predicted.data(), count, nullptr, special ? flags.data() : nullptr,
                  nullptr);
        for (size_t i = 0; i < count; ++i) row[i * step_[last]] = values[i];
      }
    }

    // From the neighbours a, b, c, d at -3 s, -s, s and 3 s, as far as they exist.
    C predict(const T* value, u64 position) const {
      const std::ptrdiff_t d1 = std::ptrdiff_t(s_) * strides_[axis_];
      const u64 n = field_.shape[axis_];
      const auto at = [&](std::ptrdiff_t k) { return C(value[k * d1]); };
      const bool has_a = position >= 3 * s_, has_c = position + s_ < n,
                 has_d = position + 3 * s_ < n;
      const C b = at(-1);
      if (!has_c) return has_a ? C(1.5) * b - C(0.5) * at(-3) : b;
      const C c = at(1);
      if (!cubic_ || (!has_a && !has_d)) return C(0.5) * (b + c);
      if (!has_a) return C(0.375) * b + (C(0.75) * c - C(0.125) * at(3));
      if (!has_d) return C(0.375) * c + (C(0.75) * b - C(0.125) * at(-3));
      return C(0.5625) * (b + c) - C(0.0625) * (at(-3) + at(3));
    }

    bool cubic_;
    Field<T> field_;
    size_t rank_, axis_;
    u64 s_;
    Strides strides_;
    Index first_{};
    std::array<u64, kMaxRank> step_{};
  };
};

}  // namespace leeway
