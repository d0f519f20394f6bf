// SPDX-License-Identifier: BSD-3-Clause
// Lorenzo: predicts a value from the corner of values before it, in any rank [Ibarria et al.,
// 2003].
//
// The prediction error is one backward difference along every axis, (1 - S_0)(1 - S_1)... x, where
// S_k shifts by one along axis k and values outside the array are 0. Order 2 takes every difference
// twice. On integers (order of stages: quantizer+lorenzo) this is a reversible transform:
// difference along every axis, and back by prefix sums. In feedback (lorenzo+quantizer) the
// prediction splits into what the rows before give, h, and the values before in the same row:
//
//   order 1:  p[i] = x[i-1] + (h[i] - h[i-1])
//   order 2:  p[i] = (2 x[i-1] - x[i-2]) + (h[i] - 2 h[i-1] + h[i-2])
//
// and so on with binomials: order n takes n layers of neighbours, as SZ-1.4 can.
#pragma once

#include <algorithm>
#include <vector>

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"
#include "leeway/stage/wave.h"

namespace leeway {

struct Lorenzo {
  static constexpr std::string_view kName = "lorenzo";
  static constexpr std::string_view kAbout =
      "from the corner of neighbours before, any rank, both orders";
  static constexpr Kind kKind = Kind::predictor;
  static constexpr Traits kTraits{.causal_codes = true};
  static constexpr i32 kMostOrder = 4;
  struct Params {
    i32 order = 1;
    i32 axes = 8;
    void fields(auto&& field) {
      field("order", order, 1, kMostOrder, "layers of neighbours");
      field("axes", axes, 0, 8,
            "axes used, counted from the fastest; the others are a batch; 0: chosen by a sample");
    }
  } params;

  LEEWAY_EXPORT void forward(Field<u32> field, Writer& side) const;
  LEEWAY_EXPORT void forward(Field<u64> field, Writer& side) const;
  LEEWAY_EXPORT void backward(Field<u32> field, Reader& side) const;
  LEEWAY_EXPORT void backward(Field<u64> field, Reader& side) const;

  // forward() and backward() piece by piece, in order. `values` is where the piece stands, with
  // those before it in front, as many as reach() says; forward_piece() leaves them as they are.
  // choose() looks at the first values_ahead().
  bool is_piecewise(const Shape& shape) const {
    return params.order == 1 && std::min(shape.rank(), size_t(params.axes)) <= 3;
  }
  LEEWAY_EXPORT size_t values_ahead(const Shape& shape) const;
  LEEWAY_EXPORT size_t reach(const Shape& shape) const;
  template <class U>  // u16, u32, u64
  LEEWAY_EXPORT size_t choose(Field<U> field, Writer& side) const;
  LEEWAY_EXPORT size_t chosen(Reader& side) const;
  template <class U>
  LEEWAY_EXPORT void forward_piece(const Shape& shape, size_t axes, size_t first, size_t count,
                                   const U* values, U* out) const;
  // Gives values that do not matter, those marked, what the ones before predict: no difference.
  template <class U>
  LEEWAY_EXPORT void bridge_piece(const Shape& shape, size_t axes, size_t first, size_t count,
                                  const u8* marks, U* values) const;
  template <class U>
  LEEWAY_EXPORT void backward_piece(const Shape& shape, size_t axes, size_t first, size_t count,
                                    U* values) const;

  template <class T>
  void walk(Field<T> field, auto& coder) const {
    const auto axes = params.axes > 0 ? size_t(params.axes) : kMaxRank;
    for_each_batch(field, axes, [&](Field<T> part) {
      const size_t rank = part.shape.rank(), length = rank ? size_t(part.shape[rank - 1]) : 1;
      const size_t table = rank > 1 ? size_t(part.shape[rank - 2]) : 1;  // rows of one
      WaveMaker<T> waves(length);
      std::vector<Predicted<T>> before(length + kMostOrder);  // h, with zeros in front
      Predicted<T>* const h = before.data() + kMostOrder;
      size_t done = 0, row_by_row = 0;               // rows; those to go without another wave
      for_each_row_index(part.shape, [&](const Index& index, size_t row) {
        if (row < done) return;
        T* x = part.data + row * length;
        const size_t left = table - row % table;
        const size_t rows = row >= row_by_row && params.order == 1 ? waves.rows(left) : 0;
        if (rows > 0) {
          if (try_wave(part, index, x, waves, rows, row % table > 0, coder)) {
            done = row + rows;
            return;
          }
          row_by_row = row + rows;
        }
        predict_from_rows(part, index, x, h, length, false);
        if (params.order == 1)
          walk_row<1>(x, h, length, coder);
        else if (params.order == 2)
          walk_row<2>(x, h, length, coder);
        else
          walk_row_of_any_order(x, h, length, coder);
      });
    });
  }

  // Some rows of a table at once (wave.h).
  template <class T>
  bool try_wave(Field<T> part, const Index& index, T* x, WaveMaker<T>& waves, size_t rows,
                bool has_above, auto& coder) const {
    if constexpr (WaveMaker<T>::kPossible) {
      const size_t rank = part.shape.rank(), length = size_t(part.shape[rank - 1]);
      Wave<T> wave = waves.make(x, rows, std::ptrdiff_t(length), has_above, false);
      if (rank > 2) {
        for (size_t r = 0; r < rows; ++r) {
          Index at = index;
          at[rank - 2] += r;
          predict_from_rows(part, at, x + r * length, waves.other(r), length, true);
        }
        wave = waves.with_other(wave);
      }
      return coder.wave(wave);
    }
    return false;
  }

  // Splits the field into its batches: arrays of the last `axes` axes.
  template <class T, class F>
  static void for_each_batch(Field<T> field, size_t axes, F&& f) {
    const size_t rank = field.shape.rank(), used = std::min(rank, axes);
    const Field<T> part{field.data, Shape(field.shape.extents().last(used))};
    const size_t size = part.size();
    if (size == 0) return;
    for (size_t first = 0; first < field.size(); first += size)
      f(Field<T>{field.data + first, part.shape});
  }

 private:
  template <class F>
  static void for_each_row_index(const Shape& shape, F&& f) {
    size_t row = 0;
    for_each_outer(shape, 1, [&](const Index& index) { f(index, row++); });
  }

  // h: the part of the prediction that comes from other rows, those of the same table last, or not
  // at all. The shifts of the other axes are counted like an odometer, the last axis fastest.
  template <class T>
  void predict_from_rows(Field<T> field, const Index& index, const T* x, Predicted<T>* h,
                         size_t length, bool other_tables_only) const {
    std::fill_n(h, length, Predicted<T>(0));
    const size_t outer = field.shape.rank() > 0 ? field.shape.rank() - 1 : 0;
    const auto add = [&](const Index& shift) {
      std::ptrdiff_t offset = 0;
      auto stride = std::ptrdiff_t(length);
      int weight = -1;
      for (size_t k = outer; k-- > 0; stride *= std::ptrdiff_t(field.shape[k])) {
        offset += stride * std::ptrdiff_t(shift[k]);
        weight *= kWeights[params.order][shift[k]];
      }
      const T* row = x - offset;
      const auto w = Predicted<T>(weight);
      for (size_t i = 0; i < length; ++i) h[i] += w * Predicted<T>(row[i]);
    };
    const auto most = [&](size_t axis) { return std::min(u64(params.order), index[axis]); };
    const auto is_other_table = [&](const Index& shift) {
      return std::any_of(shift.begin(), shift.begin() + std::ptrdiff_t(outer) - 1,
                         [](u64 s) { return s > 0; });
    };
    for (Index shift{};;) {
      size_t axis = outer;
      while (axis > 0 && ++shift[axis - 1] > most(axis - 1)) shift[--axis] = 0;
      if (axis == 0) break;
      if (is_other_table(shift)) add(shift);
    }
    if (outer == 0 || other_tables_only) return;
    for (u64 s = 1; s <= most(outer - 1); ++s) {
      Index own{};
      own[outer - 1] = s;
      add(own);
    }
  }

  // Binomials with alternating signs: the weights of a difference that is taken `order` times.
  static constexpr int kWeights[kMostOrder + 1][kMostOrder + 1] = {
      {}, {1, -1}, {1, -2, 1}, {1, -3, 3, -1}, {1, -4, 6, -4, 1}};

  template <int order, class T>
  static void walk_row(T* x, const Predicted<T>* h, size_t length, auto& coder) {
    using P = Predicted<T>;
    P last{}, second{};
    for (size_t i = 0; i < length; ++i) {
      const P* g = h + i;
      if constexpr (order == 1)
        coder.point(x[i], last + (g[0] - g[-1]));
      else
        coder.point(x[i], (P(2) * last - second) + (g[0] - P(2) * g[-1] + g[-2]));
      second = last;
      last = P(x[i]);
    }
  }
  template <class T>
  void walk_row_of_any_order(T* x, const Predicted<T>* h, size_t length, auto& coder) const {
    using P = Predicted<T>;
    const int(&weights)[kMostOrder + 1] = kWeights[params.order];
    for (size_t i = 0; i < length; ++i) {
      P own{}, others = h[i];
      for (i32 k = 1; k <= params.order; ++k) {
        if (size_t(k) <= i) own += P(-weights[k]) * P(x[i - size_t(k)]);
        others += P(weights[k]) * h[std::ptrdiff_t(i) - k];
      }
      coder.point(x[i], own + others);
    }
  }
};

}  // namespace leeway
