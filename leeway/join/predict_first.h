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

  bool encode(const ToEncode<T>& job, ValueSink& decoded, Encoded<T>& out) const override {
    const View& source = job.values;
    WholeField<T> whole(decoded, source.shape);
    const Field<T> field = whole.field;
    Marked marked{job.bound.most, job.special.flags, job.special.fills};
    if (is_by_value_) {
      marked.classes = BoundClasses::of(job.bound);
      marked.classes.write(out.notes);
      marked.join();
    }
    CodeSink<Code<T>>& sink = typed<Code<T>>(out.codes);
    Quantize<T, Q> visit(quantizer_, marked.bound, field.data, marked.marks, marked.classes.bounds,
                         marked.fills, sink, out.exact);
    if constexpr (SettledPredictor<P>) {
      const P settled =
          predictor_.settled(field.shape, [&](const P& candidate, const Sample& part) {
            return try_on(candidate, part, source, marked);
          });
      settled.write(out.notes);
      walk(settled, source, field, visit);
    } else if constexpr (NotingPredictor<P, T>) {
      if (!is_in_place(source, field)) gather(source, field.data);
      predictor_.walk(field, visit, out.notes);
    } else {
      walk(predictor_, source, field, visit);
    }
    visit.flush();
    sink.finish();
    whole.finish();
    out.max_error = visit.max_error;
    return true;
  }
  bool decode(const ToDecode& job, const Coded<T>& in, ValueSink& decoded) const override {
    WholeField<T> whole(decoded, job.shape);
    const Field<T> field = whole.field;
    Marked marked{job.bound};
    if (is_by_value_) {
      marked.classes = BoundClasses::read(in.notes, job.bound, field.size());
      marked.join();
    }
    Recover<T, Q> visit(quantizer_, job.bound, field.data, marked.marks, marked.classes.bounds,
                        typed<Code<T>>(in.codes), field.size(), in.exact, job.wanted);
    if constexpr (SettledPredictor<P>)
      predictor_.read(field.shape, in.notes).walk(field, visit);
    else if constexpr (NotingPredictor<P, T>)
      predictor_.walk(field, visit, in.notes);
    else
      predictor_.walk(field, visit);
    whole.finish();
    return visit.is_complete;
  }
  JoinTraits traits() const override { return {P::kTraits.chunk_values, true, is_by_value_}; }

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
