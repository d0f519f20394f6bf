// SPDX-License-Identifier: BSD-3-Clause
// Predict from decoded values, quantize the difference.
#pragma once

#include <algorithm>

#include "leeway/base/log2.h"
#include "leeway/join/decoding.h"
#include "leeway/join/encoding.h"
#include "leeway/join/join.h"
#include "leeway/join/trying.h"

namespace leeway {

// Patches are in the order of the walk. If values may have bounds of their own, the classes of
// these bounds come first in the notes; then the range that values are kept in, if the quantizer is
// to; then what the predictor notes.
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
    ByValue by_value;
    if (is_by_value_) {
      by_value = ByValue(BoundClasses::of(job.bound), job.special.flags);
      by_value.classes.write(out.notes);
    }
    Reader settings(job.settings);
    ChunkRange<T> range(source, wants_range(quantizer_), settings);
    if (range.get()) range.get()->write(out.notes);
    const CodedChunk<T> chunk = by_value.in(
        {job.bound.most, whole.field.data, job.special.flags, {}, job.special.fills, range.get()});
    const P predictor = settled(job, settings, chunk, range);
    if constexpr (SettledPredictor<P>) predictor.write(out.notes);
    if (!is_in_place(source, whole.field)) gather(source, whole.field.data);
    CodeSink<Code<T>>& sink = typed<Code<T>>(out.codes);
    Encoding<T, Q> coder(quantizer_, chunk, sink, out.exact);
    walk(predictor, whole.field, coder, out.notes);
    coder.finish();
    sink.finish();
    whole.finish();
    out.max_error = coder.max_error();
    return true;
  }
  bool decode(const ToDecode& job, const Coded<T>& in, ValueSink& decoded) const override {
    WholeField<T> whole(decoded, job.shape);
    const Field<T> field = whole.field;
    ByValue by_value;
    if (is_by_value_) by_value = ByValue(BoundClasses::read(in.notes, job.bound, field.size()), {});
    CodedChunk<T> chunk = by_value.in({job.bound, field.data});
    if (wants_range(quantizer_)) chunk.range = ValueRange<T>::read(in.notes);
    Decoding<T, Q> coder(quantizer_, chunk, typed<Code<T>>(in.codes), field.size(), in.exact,
                         job.wanted);
    if constexpr (SettledPredictor<P>)
      walk(predictor_.read(job.shape, in.notes), field, coder, in.notes);
    else
      walk(predictor_, field, coder, in.notes);
    whole.finish();
    return coder.is_complete();
  }
  bool may_have_made(const ToEncode<T>& job) const override {
    if constexpr (requires(const P p) { p.maker(job.values.shape, typename P::Try()); }) {
      if (is_by_value_) return true;
      ChunkRange<T> range(job.values, wants_range(quantizer_));
      const CodedChunk<T> chunk = chunk_of(job);
      return predictor_.maker(job.values.shape, trial_on(job.values, chunk, range, false))
          .has_value();
    } else {
      return true;
    }
  }
  std::string settings_text(const ToDecode& job, Reader notes) const override {
    if constexpr (SettledPredictor<P>) {
      if (is_by_value_) BoundClasses::read(notes, job.bound, size_t(job.shape.size()));
      if (wants_range(quantizer_)) ValueRange<T>::read(notes);
      const std::string params = print_params(predictor_.read(job.shape, notes).params);
      return std::string(P::kName) + (params.empty() ? "" : ":" + params);
    }
    return {};
  }
  // What is noted before the predictor's own notes.
  Writer settings_for(const ToEncode<T>& job) const override {
    Writer notes;
    if (is_by_value_) return notes;
    Reader none{ByteView()};
    ChunkRange<T> range(job.values, wants_range(quantizer_));
    if (range.get()) range.get()->write(notes);
    if constexpr (SettledPredictor<P>) settled(job, none, chunk_of(job), range).write(notes);
    return notes;
  }
  JoinTraits traits() const override {
    JoinTraits traits{.chunk_values = P::kTraits.chunk_values,
                      .predicts_first = true,
                      .by_value = is_by_value_,
                      .lossless = Q::kTraits.lossless,
                      .makes_trials = SettledPredictor<P> || wants_range(quantizer_)};
    if constexpr (requires { predictor_.block_values(); })
      traits.block_values = predictor_.block_values();
    if constexpr (requires { predictor_.learned_levels(); })
      traits.learns = predictor_.learned_levels() > 0;
    return traits;
  }

 private:
  // Classes of bounds, and flags that say which value belongs to which.
  struct ByValue {
    BoundClasses classes;
    std::vector<u8> flags;
    ByValue() = default;
    ByValue(BoundClasses c, std::span<const u8> special) : classes(std::move(c)) {
      if (!classes.bounds.empty()) flags = classes.flags(special);
    }
    CodedChunk<T> in(CodedChunk<T> chunk) const {
      if (!classes.bounds.empty()) chunk.flags = flags;
      chunk.class_bounds = classes.bounds;
      return chunk;
    }
  };

  static void walk(const P& predictor, Field<T> field, auto& coder, auto& notes) {
    if constexpr (NotingPredictor<P, T>)
      predictor.walk(field, coder, notes);
    else
      predictor.walk(field, coder);
  }

  // Before anything is known about it.
  static CodedChunk<T> chunk_of(const ToEncode<T>& job) {
    return {job.bound.most, nullptr, job.special.flags, {}, job.special.fills};
  }
  // The predictor with its settings: those given, or what trials find.
  P settled(const ToEncode<T>& job, Reader& given, CodedChunk<T> chunk,
            ChunkRange<T>& range) const {
    if constexpr (SettledPredictor<P>) {
      const Shape& shape = job.values.shape;
      if (given.remaining() > 0) return predictor_.read(shape, given);
      const bool by_squares = job.bound.aim.trial > 0;
      if (by_squares) chunk.bound = job.bound.aim.trial;
      return predictor_.settled(shape, trial_on(job.values, chunk, range, by_squares));
    } else {
      return predictor_;
    }
  }
  auto trial_on(const View& source, const CodedChunk<T>& chunk, ChunkRange<T>& range,
                bool by_squares) const {
    return [this, &source, &chunk, &range, by_squares](const P& candidate, const Sample& sample) {
      Trial result = try_on(candidate, sample, source, chunk, range, by_squares);
      if (!by_squares || sample.shape.size() == 1 || !(result.squares > 0)) return result;
      CodedChunk<T> finer = chunk;
      finer.bound *= kFiner;
      result.cost =
          cost_at_equal_squares(result, try_on(candidate, sample, source, finer, range, true));
      return result;
    };
  }
  // Settings whose errors are smaller may have a larger step, at the same squared error: what that
  // saves shows from a second trial with a smaller one.
  static constexpr double kFiner = 0.84;
  static u64 cost_at_equal_squares(const Trial& trial, const Trial& finer) {
    const auto log2_of_mean = [&](double squares) {
      return double(log2_of(u64(squares / double(trial.values) * 0x1p32) + 1));
    };
    const double here = log2_of_mean(trial.squares),
                 there = log2_of_mean(finer.squares * (kFiner * kFiner)),
                 usual = log2_of_mean(double(trial.values) / 3);
    const double most = double(trial.values) / 2;  // half a bit for an octave of squares
    const double rise = double(finer.cost) - double(trial.cost);
    const double slope = here > there && rise > 0 ? std::min(most, rise / (here - there)) : 0;
    return u64(std::max(0.0, double(trial.cost) + slope * (here - usual)));
  }
  Trial try_on(const P& candidate, const Sample& sample, const View& source, CodedChunk<T> chunk,
               ChunkRange<T>& range, bool by_squares) const {
    const auto cut = [&](const View& whole) {
      View view(whole.at(sample.first), whole.dtype, sample.shape, whole.strides);
      for (size_t axis = 0; axis < sample.shape.rank(); ++axis)
        view.strides[axis] *= std::ptrdiff_t(sample.step[axis]);
      return view;
    };
    if constexpr (requires { candidate.tightening(size_t(0)); })
      if (sample.shape.size() == 1 && chunk.flags.empty())
        return try_on_one(candidate.tightening(0), source.at(sample.first), chunk, range);
    chunk.range = range.get();
    Buffer<T> values(size_t(sample.shape.size()));
    Buffer<u8> flags(chunk.flags.empty() ? 0 : values.size());
    gather(cut(source), values.data());
    if (!flags.empty()) gather(cut(view_of(chunk.flags.data(), source.shape)), flags.data());
    chunk.values = values.data();
    chunk.flags = flags;
    const auto coder = std::make_unique<Trying<T, Q>>(quantizer_, chunk, by_squares);
    Writer notes;
    walk(candidate, Field<T>{values.data(), sample.shape}, *coder, notes);
    Trial result = coder->result();
    result.lossless = is_lossless(chunk);
    return result;
  }

  // Predictors that go from coarse to fine (trials.h) predict a value that is alone as 0. This is
  // their most frequent question, so it is answered without a walk.
  Trial try_on_one(double tightening, const std::byte* at, CodedChunk<T> chunk,
                   ChunkRange<T>& range) const {
    T value;
    std::memcpy(&value, at, sizeof value);
    chunk.bound *= tightening;
    if (range.may_end_at(value)) chunk.range = range.get();
    const T before = value;
    Code<T> code = 0;
    GridsInForce<T, Q>(quantizer_, chunk).quantize(value, {}, code, 0);
    return {.coded = code != 0,
            .unchanged = bits_of(value) == bits_of(before),
            .lossless = is_lossless(chunk)};
  }

  // An integer that is less than 1 away from another is the same.
  static bool is_lossless(const CodedChunk<T>& chunk) {
    return std::is_integral_v<T> && chunk.bound < 1;
  }

  P predictor_;
  Q quantizer_;
  bool is_by_value_;
};

}  // namespace leeway
