// SPDX-License-Identifier: BSD-3-Clause
// Transform: predictor and quantizer joined, in either order: values to codes and back.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "leeway/core/stage.h"
#include "leeway/recipe/visitors.h"

namespace leeway {

template <class T>
class Transform {
 public:
  virtual ~Transform() = default;
  // Takes the values of `source`, an array of the field's type and shape that may be the field
  // itself. Leaves in `field` exactly what backward() will give. Returns the largest error.
  // `special` is empty or says which values do not matter, because the mask will put them back.
  virtual double forward(const View& source, Field<T> field, const ChunkBound& bound,
                         std::span<const u8> special, CodeSink<Code<T>>& codes, Patches<T>& exact,
                         Writer& side) const = 0;
  // With a last level above 0, values of finer levels may be left out.
  virtual void backward(Field<T> field, double bound, CodeSource<Code<T>>& codes,
                        const Patches<T>& exact, Reader& side, size_t last_level) const = 0;
  // How many values a chunk should have; 0: no matter.
  virtual u64 chunk_values() const { return 0; }
  virtual bool predicts_first() const { return false; }
  // Whether values can have a bound each.
  virtual bool is_by_value() const { return false; }
};

template <class T>
bool is_in_place(const View& source, Field<T> field) {
  return source.data == reinterpret_cast<const std::byte*>(field.data);
}

// Whether a predictor on integers can work piece by piece.
template <class P>
concept PiecewisePredictor = requires(const P p, Field<u32> field) {
  { p.is_piecewise(field.shape) } -> std::same_as<bool>;
};

// Quantize, then predict on integers. Piece by piece where the predictor can, so that values pass
// through all stages while they are in the first cache.
template <class T, class Q, class P>
class Dual final : public Transform<T> {
 public:
  Dual(Q quantizer, P predictor)
      : quantizer_(std::move(quantizer)), predictor_(std::move(predictor)) {}

  double forward(const View& source, Field<T> field, const ChunkBound& bound, std::span<const u8>,
                 CodeSink<Code<T>>& sink, Patches<T>& exact, Writer& side) const override {
    Buffer<Code<T>> codes(field.size());
    Predict predict(predictor_, integers(codes, field.shape), sink, side);
    const auto grid = quantizer_.template at<T>(bound.most);
    double max_error = 0;
    size_t done = 0;
    for_each_plane(source, [&](const Plane<const std::byte>& plane) {
      for_each_part(plane, kMostCodes, [&](const Plane<const std::byte>& part) {
        const size_t first = std::exchange(done, done + part.size());
        max_error = std::max(
            max_error, quantize(grid, part, is_in_place(source, field), field.values().first(done),
                                std::span(codes).first(done), exact, first));
        predict.up_to(done);
      });
    });
    predict.finish();
    return max_error;
  }

  void backward(Field<T> field, double bound, CodeSource<Code<T>>& source, const Patches<T>& exact,
                Reader& side, size_t) const override {
    Buffer<Code<T>> codes(field.size());
    const Field<Unsigned> values = integers(codes, field.shape);
    const auto grid = quantizer_.template at<T>(bound);
    const auto for_each_piece = [&](auto&& f) {
      for (size_t first = 0; first < codes.size(); first += kMostCodes) {
        const size_t count = std::min(kMostCodes, codes.size() - first);
        f(first, std::span(codes).subspan(first, count));
      }
    };
    const auto recover = [&](size_t first, std::span<const Code<T>> piece) {
      grid.recover(piece, field.values().subspan(first, piece.size()));
    };
    bool piecewise = false;
    if constexpr (PiecewisePredictor<P>) {
      piecewise = predictor_.is_piecewise(field.shape);
      if (piecewise) {
        const size_t choice = predictor_.chosen(side);
        for_each_piece([&](size_t first, std::span<Code<T>> piece) {
          source.next(piece, nullptr);
          predictor_.backward_piece(values, choice, first, piece.size());
          recover(first, piece);
        });
      }
    }
    if (!piecewise) {
      for_each_piece([&](size_t, std::span<Code<T>> piece) { source.next(piece, nullptr); });
      predictor_.backward(values, side);
      for_each_piece(recover);
    }
    exact.apply(field.values());
  }

 private:
  using Unsigned = std::make_unsigned_t<Code<T>>;
  static Field<Unsigned> integers(Buffer<Code<T>>& codes, const Shape& shape) {
    return {reinterpret_cast<Unsigned*>(codes.data()), shape};
  }

  // A plane of values to the end of `values` and `codes`, from `first` on.
  static double quantize(const auto& grid, const Plane<const std::byte>& plane, bool in_place,
                         std::span<T> values, std::span<Code<T>> codes, Patches<T>& exact,
                         size_t first) {
    if (!in_place) {
      double max_error = 0;
      if constexpr (requires {
                      grid.quantize_plane(plane, values.data(), codes.data(), max_error);
                    })
        if (grid.quantize_plane(plane, values.data() + first, codes.data() + first, max_error))
          return max_error;
      gather(plane, sizeof(T), reinterpret_cast<std::byte*>(values.data() + first));
    }
    return grid.quantize(values, codes, exact, first);
  }

  // Hands differences to the encoder as soon as it can.
  class Predict {
   public:
    Predict(const P& predictor, Field<Unsigned> field, CodeSink<Code<T>>& sink, Writer& side)
        : predictor_(predictor), field_(field), sink_(sink), side_(side) {
      if constexpr (PiecewisePredictor<P>) piecewise_ = predictor.is_piecewise(field.shape);
    }
    void up_to(size_t done) {
      if constexpr (PiecewisePredictor<P>) {
        if (!piecewise_ || done < predictor_.values_ahead(field_.shape)) return;
        while (done - sent_ >= kMostCodes || (done == field_.size() && sent_ < done)) send(done);
      }
    }
    void finish() {
      if (!piecewise_) {
        predictor_.forward(field_, side_);
        sink_.put_all({reinterpret_cast<const Code<T>*>(field_.data), field_.size()}, {});
      }
      sink_.finish();
    }

   private:
    void send(size_t done) {
      if constexpr (PiecewisePredictor<P>) {
        if (!choice_) choice_ = predictor_.choose(field_, side_);
        const size_t count = std::min(kMostCodes, done - sent_);
        predictor_.forward_piece(field_, *choice_, sent_, count,
                                 reinterpret_cast<Unsigned*>(sink_.room(count)));
        sink_.put(count, nullptr);
        sent_ += count;
      }
    }
    const P& predictor_;
    Field<Unsigned> field_;
    CodeSink<Code<T>>& sink_;
    Writer& side_;
    bool piecewise_ = false;
    size_t sent_ = 0;
    std::optional<size_t> choice_;
  };

  Q quantizer_;
  P predictor_;
};

// A predictor that finds its settings by trials and writes them beside the codes.
template <class P>
concept SettledPredictor = requires(const P p, Writer& side, Reader& in) {
  p.write(side);
  { p.read(Shape(), in) } -> std::same_as<P>;
};

// Predict from reconstructed values, quantize the difference. Patches stand in the order of the
// walk. If values may have bounds of their own, the classes of these come first in the side data.
template <class T, class P, class Q>
class Feedback final : public Transform<T> {
 public:
  Feedback(P predictor, Q quantizer, bool is_by_value = false)
      : predictor_(std::move(predictor)),
        quantizer_(std::move(quantizer)),
        is_by_value_(is_by_value) {}

  double forward(const View& source, Field<T> field, const ChunkBound& bound,
                 std::span<const u8> special, CodeSink<Code<T>>& sink, Patches<T>& exact,
                 Writer& side) const override {
    Marked marked{bound.most, special};
    if (is_by_value_) {
      marked.classes = BoundClasses::of(bound);
      marked.classes.write(side);
      marked.join();
    }
    Quantize<T, Q> visit(quantizer_, bound.most, field.data, marked.marks, marked.classes.bounds,
                         sink, exact);
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
    return visit.max_error;
  }
  void backward(Field<T> field, double bound, CodeSource<Code<T>>& source, const Patches<T>& exact,
                Reader& side, size_t last_level) const override {
    Marked marked{bound, {}};
    if (is_by_value_) {
      marked.classes = BoundClasses::read(side, bound, field.size());
      marked.join();
    }
    Recover<T, Q> visit(quantizer_, bound, field.data, marked.marks, marked.classes.bounds, source,
                        field.size(), exact, last_level);
    if constexpr (SettledPredictor<P>)
      predictor_.read(field.shape, side).walk(field, visit);
    else if constexpr (NotingPredictor<P, T>)
      predictor_.walk(field, visit, side);
    else
      predictor_.walk(field, visit);
  }
  u64 chunk_values() const override { return preferred_chunk<P>(0); }
  bool predicts_first() const override { return true; }
  bool is_by_value() const override { return is_by_value_; }

 private:
  struct Marked {
    double bound;
    std::span<const u8> marks;
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
    Buffer<T> values(size_t(part.shape.size()));
    Buffer<u8> marks(marked.marks.empty() ? 0 : values.size());
    if (!marks.empty()) gather(cut(view_of(marked.marks.data(), source.shape)), marks.data());
    auto visit = std::make_unique<Estimate<T, Q>>(
        quantizer_, marked.bound, std::span<const u8>(marks), marked.classes.bounds);
    walk(candidate, cut(source), Field<T>{values.data(), part.shape}, *visit);
    return visit->result();
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

// Quantize, then walk over the integers, without loss: predictors that visit values do so here,
// too. What they decide on their way is theirs to decide, for the values do not depend on it.
template <class T, class Q>
class Walked final : public Transform<T> {
 public:
  // The walk is a feedback without loss.
  Walked(Q quantizer, std::unique_ptr<Transform<Code<T>>> walk)
      : quantizer_(std::move(quantizer)), walk_(std::move(walk)) {}

  double forward(const View& source, Field<T> field, const ChunkBound& bound, std::span<const u8>,
                 CodeSink<Code<T>>& sink, Patches<T>& exact, Writer& side) const override {
    if (!is_in_place(source, field)) gather(source, field.data);
    Buffer<Code<T>> codes(field.size());
    const double max_error =
        quantizer_.template at<T>(bound.most).quantize(field.values(), std::span(codes), exact);
    Patches<Code<T>> far;  // integers without a code
    Writer notes, patches;
    const Field<Code<T>> integers{codes.data(), field.shape};
    walk_->forward(view_of(codes.data(), field.shape), integers, 0, {}, sink, far, notes);
    if (far.count() > 0) far.write(patches);
    side.put_section(patches.bytes());
    side.put_bytes(notes.bytes());
    return max_error;
  }
  void backward(Field<T> field, double bound, CodeSource<Code<T>>& source, const Patches<T>& exact,
                Reader& side, size_t last_level) const override {
    Buffer<Code<T>> codes(field.size());
    if (last_level > 0) std::ranges::fill(codes, Code<T>(0));  // not all will be there
    Reader patches(side.take_section());
    Patches<Code<T>> far;
    if (patches.remaining() > 0) far = Patches<Code<T>>::read(patches, field.size());
    patches.expect_end();
    walk_->backward({codes.data(), field.shape}, 0, source, far, side, last_level);
    quantizer_.template at<T>(bound).recover(std::span<const Code<T>>(codes), field.values());
    exact.apply(field.values());
  }
  u64 chunk_values() const override { return walk_->chunk_values(); }

 private:
  Q quantizer_;
  std::unique_ptr<Transform<Code<T>>> walk_;
};

// The predictor that is not there: every value is predicted as 0.
struct NoPredictor {
  static constexpr std::string_view kName = "none";
  static constexpr std::string_view kAbout = "no prediction";
  static constexpr Kind kKind = Kind::predictor;
  NoParams params;
  void forward(auto, Writer&) const {}
  void backward(auto, Reader&) const {}
  bool is_piecewise(const Shape&) const { return true; }
  size_t values_ahead(const Shape&) const { return 0; }
  size_t choose(auto, Writer&) const { return 0; }
  size_t chosen(Reader&) const { return 0; }
  template <class I>
  void forward_piece(Field<I> field, size_t, size_t first, size_t count, I* out) const {
    std::copy_n(field.data + first, count, out);
  }
  void backward_piece(auto, size_t, size_t, size_t) const {}
};

}  // namespace leeway
