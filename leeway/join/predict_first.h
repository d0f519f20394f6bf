// SPDX-License-Identifier: BSD-3-Clause
// Predict from reconstructed values, quantize the difference (feedback).
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "leeway/join/join.h"
#include "leeway/join/visitors.h"

namespace leeway {

// A predictor that finds its settings by trials and writes them beside the codes.
template <class P>
concept SettledPredictor = requires(const P p, Writer& side, Reader& in) {
  p.write(side);
  { p.read(Shape(), in) } -> std::same_as<P>;
};

// Predict from reconstructed values, quantize the difference. Patches stand in the order of the
// walk. If values may have bounds of their own, the classes of these come first in the side data.
template <class T, class P, class Q>
class PredictFirst final : public Join<T> {
 public:
  PredictFirst(P predictor, Q quantizer, bool is_by_value = false)
      : predictor_(std::move(predictor)),
        quantizer_(std::move(quantizer)),
        is_by_value_(is_by_value) {}

  double forward(const View& source, ValueSink& values, const ChunkBound& bound,
                 const Specials<T>& special, CodeSink<Code<T>>& sink, Patches<T>& exact,
                 Writer& side) const override {
    WholeField<T> whole(values, source.shape);
    const Field<T> field = whole.field;
    Marked marked{bound.most, special.flags, special.fills};
    if (is_by_value_) {
      marked.classes = BoundClasses::of(bound);
      marked.classes.write(side);
      marked.join();
    }
    Quantize<T, Q> visit(quantizer_, bound.most, field.data, marked.marks, marked.classes.bounds,
                         special.fills, sink, exact);
    if constexpr (SettledPredictor<P>) {
      const P settled =
          predictor_.settled(field.shape, [&](const P& candidate, const Sample& part) {
            return try_on(candidate, part, source, marked);
          });
      settled.write(side);
      walk(settled, source, field, visit);
    } else if constexpr (NotingPredictor<P, T>) {
      if (!is_in_place(source, field)) gather(source, field.data);
      predictor_.walk(field, visit, side);
    } else {
      walk(predictor_, source, field, visit);
    }
    visit.flush();
    sink.finish();
    whole.finish();
    return visit.max_error;
  }
  bool backward(const Shape& shape, ValueSink& values, double bound, CodeSource<Code<T>>& source,
                const Patches<T>& exact, Reader& side, const Wanted& wanted) const override {
    WholeField<T> whole(values, shape);
    const Field<T> field = whole.field;
    Marked marked{bound};
    if (is_by_value_) {
      marked.classes = BoundClasses::read(side, bound, field.size());
      marked.join();
    }
    Recover<T, Q> visit(quantizer_, bound, field.data, marked.marks, marked.classes.bounds, source,
                        field.size(), exact, wanted);
    if constexpr (SettledPredictor<P>)
      predictor_.read(field.shape, side).walk(field, visit);
    else if constexpr (NotingPredictor<P, T>)
      predictor_.walk(field, visit, side);
    else
      predictor_.walk(field, visit);
    whole.finish();
    return visit.is_complete;
  }
  u64 chunk_values() const override { return P::kTraits.chunk_values; }
  bool predicts_first() const override { return true; }
  bool is_by_value() const override { return is_by_value_; }

 private:
  struct Marked {
    double bound;
    std::span<const u8> marks{};
    Fills<T> fills{};
    BoundClasses classes{};
    std::vector<u8> joined{};
    void join() {
      if (!classes.bounds.empty()) marks = joined = classes.marks(marks);
    }
  };

  Trial try_on(const P& candidate, const Sample& part, const View& source,
               const Marked& marked) const {
    const auto cut = [&](const View& whole) {
      View view(whole.at(part.first), whole.dtype, part.shape, whole.strides);
      for (size_t axis = 0; axis < part.shape.rank(); ++axis)
        view.strides[axis] *= std::ptrdiff_t(part.step[axis]);
      return view;
    };
    if (part.shape.size() == 1 && marked.marks.empty())
      return try_on_one(candidate, source.at(part.first), marked);
    Buffer<T> values(size_t(part.shape.size()));
    Buffer<u8> marks(marked.marks.empty() ? 0 : values.size());
    if (!marks.empty()) gather(cut(view_of(marked.marks.data(), source.shape)), marks.data());
    auto visit = std::make_unique<Estimate<T, Q>>(
        quantizer_, marked.bound, std::span<const u8>(marks), marked.classes.bounds, marked.fills);
    walk(candidate, cut(source), Field<T>{values.data(), part.shape}, *visit);
    return visit->result();
  }

  // A value alone has the prediction 0.
  Trial try_on_one(const P& candidate, const std::byte* at, const Marked& marked) const {
    T value;
    std::memcpy(&value, at, sizeof value);
    const Visitor<T, Q> visit(quantizer_, marked.bound * candidate.tightening(0), nullptr, {}, {},
                              marked.fills);
    Trial trial;
    Code<T> code;
    const T before = value;
    visit.quantize(value, {}, code, 0);
    trial.coded = code != 0;
    trial.unchanged = bits_of(value) == bits_of(before);
    return trial;
  }

  static void walk(const P& predictor, const View& source, Field<T> field, auto& visit) {
    if constexpr (requires { predictor.walk(source, field, visit); }) {
      predictor.walk(source, field, visit);
    } else {
      if (!is_in_place(source, field)) gather(source, field.data);
      predictor.walk(field, visit);
    }
  }

  P predictor_;
  Q quantizer_;
  bool is_by_value_;
};

}  // namespace leeway
