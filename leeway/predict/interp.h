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
#include <functional>
#include <optional>

#include "leeway/predict/number.h"
#include "leeway/predict/trials.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Interp {
  static constexpr std::string_view kName = "interp";
  static constexpr std::string_view kAbout =
      "from coarse to fine, one axis after the other, as SZ3 does";
  static constexpr Kind kKind = Kind::predictor;
  static constexpr Traits kTraits{.chunk_values = 3 << 21};
  struct Params {
    i32 cubic = -1;
    i32 reverse = -1;
    double alpha = 0;
    double beta = 2;
    void fields(auto&& field) {
      field("cubic", cubic, -1, 1, "1: cubics, 0: lines, -1: chosen by trials");
      field("reverse", reverse, -1, 1, "1: the fastest axis first, 0: last, -1: chosen by trials");
      field("alpha", alpha, 0, 4,
            "from 1: bound of a level over that of the next coarser one; 0: chosen by trials");
      field("beta", beta, 1, 16,
            "bound of the finest level over the smallest of all, if alpha is given");
    }
    void check() const {
      if (alpha > 0 && alpha < 1) fail_argument("stage 'interp': alpha is 0 or at least 1");
    }
  } params;
  size_t tight = 1;  // how bounds of levels shrink: one of kTightness, or as the parameters say
  size_t first_level = 0;  // what the finest level counts as, if coarser ones are tried alone

  // With all settings given: by trials on samples of an array, or as an encoder has written them.
  using Try = std::function<Trial(const Interp&, const Sample&)>;
  LEEWAY_EXPORT Interp settled(const Shape& shape, const Try& trial) const;
  // The settings that seem to have made decoded values, if any do.
  LEEWAY_EXPORT std::optional<Interp> maker(const Shape& shape, const Try& trial) const;
  LEEWAY_EXPORT void write(Writer& side) const;
  LEEWAY_EXPORT Interp read(const Shape& shape, Reader& side) const;

  template <class T>
  void walk(Field<T> field, Coder<T>& coder) const {
    const Shape& shape = field.shape;
    if (field.size() == 0) return;
    const int levels = levels_of(shape);
    coder.tighten(tightening(level_of_first(shape)));
    coder.point(field.data[0], Predicted<T>{});
    for (int level = levels; level-- > 0;) {
      coder.tighten(tightening(level));
      for (size_t i = 0; i < shape.rank(); ++i) Pass(*this, field, u64(1) << level, i).walk(coder);
    }
  }

  // The bound of a level as a part of the finest one's.
  LEEWAY_EXPORT double tightening(size_t level) const;
  static int levels_of(const Shape& shape) {
    u64 longest = 1;
    for (const u64 extent : shape.extents()) longest = std::max(longest, extent);
    return std::bit_width(longest - 1);
  }
  // The level whose bound the first value has.
  static size_t level_of_first(const Shape& shape) {
    return size_t(std::max(levels_of(shape) - 1, 0));
  }

  static u32 frozen_axes(const Shape&) { return 0; }
  static size_t learned_levels() { return 0; }

 private:
  struct Choices;
  Choices choices(const Shape& shape) const;
  Interp with(i32 reverse, i32 cubic, size_t tight_bounds) const;

  // The new points of a level along one axis.
  template <class T>
  class Pass {
    using C = Number<T>;

   public:
    Pass(const Interp& interp, Field<T> field, u64 s, size_t which)
        : cubic_(interp.params.cubic != 0), field_(field), rank_(field.shape.rank()), s_(s) {
      const auto axis_of = [&](size_t i) { return interp.params.reverse > 0 ? rank_ - 1 - i : i; };
      axis_ = axis_of(which);
      strides_ = contiguous_strides(field.shape, 1);
      for (size_t i = 0; i < rank_; ++i) {
        first_[axis_of(i)] = i == which ? s : 0;
        step_[axis_of(i)] = i < which ? s : 2 * s;
      }
    }

    void walk(Coder<T>& coder) {
      for (size_t axis = 0; axis < rank_; ++axis)
        if (first_[axis] >= field_.shape[axis]) return;
      Index index = first_;
      for (;;) {
        walk_row(index, coder);
        size_t axis = rank_ - 1;
        while (axis > 0 && (index[axis - 1] += step_[axis - 1]) >= field_.shape[axis - 1]) {
          --axis;
          index[axis] = first_[axis];
        }
        if (axis == 0) return;
      }
    }

   private:
    void walk_row(Index index, Coder<T>& coder) {
      const size_t last = rank_ - 1;
      const u64 n = field_.shape[last];
      const u8* const flags = coder.flags();
      std::array<T, kMostCodes> values;
      std::array<Predicted<T>, kMostCodes> predicted;
      std::array<u8, kMostCodes> row_flags;
      while (index[last] < n) {
        std::ptrdiff_t at = 0;
        for (size_t axis = 0; axis < rank_; ++axis)
          at += std::ptrdiff_t(index[axis]) * strides_[axis];
        const size_t count =
            std::min<u64>(kMostCodes, (n - index[last] + step_[last] - 1) / step_[last]);
        T* row = field_.data + at;
        predict_row(row, index[axis_], count, predicted.data());
        for (size_t i = 0; i < count; ++i) values[i] = row[i * step_[last]];
        if (flags)
          for (size_t i = 0; i < count; ++i)
            row_flags[i] = flags[size_t(row - field_.data) + i * step_[last]];
        index[last] += count * step_[last];
        coder.run({.values = values.data(),
                   .predicted = predicted.data(),
                   .count = count,
                   .flags = flags ? row_flags.data() : nullptr});
        for (size_t i = 0; i < count; ++i) row[i * step_[last]] = values[i];
      }
    }

    // Values of a row, the first of which is at `position` on the axis.
    void predict_row(const T* row, u64 position, size_t count, Predicted<T>* predicted) const {
      const bool along = axis_ == rank_ - 1;
      const u64 n = field_.shape[axis_], step = along ? step_[axis_] : 0;
      for (size_t i = 0; i < count;) {
        const u64 at = position + i * step;
        // Where all neighbours exist, up to the end of the row or the last value that has them.
        const bool inside = at >= 3 * s_ && at + 3 * s_ < n;
        const size_t end = !along   ? count
                           : inside ? std::min<u64>(count, i + (n - 1 - 3 * s_ - at) / step + 1)
                                    : i + 1;
        predict(row + i * step_[rank_ - 1], at, end - i, predicted + i);
        i = end;
      }
    }

    // Predicts `count` values from their neighbours a, b, c and d at -3s, -s, s and 3s. The same
    // neighbours exist for all of them.
    void predict(const T* first, u64 position, size_t count, Predicted<T>* predicted) const {
      const std::ptrdiff_t d1 = std::ptrdiff_t(s_) * strides_[axis_], d3 = 3 * d1;
      const u64 n = field_.shape[axis_], step = step_[rank_ - 1];
      const bool has_a = position >= 3 * s_, has_c = position + s_ < n,
                 has_d = position + 3 * s_ < n;
      const auto each = [&](auto&& formula) {
        const T* x = first;
        for (size_t i = 0; i < count; ++i, x += step) predicted[i] = predicted_as<T>(formula(x));
      };
      const auto a = [d3](const T* x) { return C(x[-d3]); };
      const auto b = [d1](const T* x) { return C(x[-d1]); };
      const auto c = [d1](const T* x) { return C(x[d1]); };
      const auto d = [d3](const T* x) { return C(x[d3]); };
      if (!has_c && !has_a)
        each([&](const T* x) { return b(x); });
      else if (!has_c)
        each([&](const T* x) { return C(1.5) * b(x) - C(0.5) * a(x); });
      else if (!cubic_ || (!has_a && !has_d))
        each([&](const T* x) { return C(0.5) * (b(x) + c(x)); });
      else if (!has_a)
        each([&](const T* x) { return C(0.375) * b(x) + (C(0.75) * c(x) - C(0.125) * d(x)); });
      else if (!has_d)
        each([&](const T* x) { return C(0.375) * c(x) + (C(0.75) * b(x) - C(0.125) * a(x)); });
      else
        each([&](const T* x) { return C(0.5625) * (b(x) + c(x)) - C(0.0625) * (a(x) + d(x)); });
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
