// SPDX-License-Identifier: BSD-3-Clause
// Transform: predictor and quantizer joined, in either order: values to codes and back.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "leeway/core/distance.h"
#include "leeway/core/log2.h"
#include "leeway/core/stage.h"

namespace leeway {

// In feedback order, the code of a value that is kept exactly.
template <class I>
inline constexpr I kExactCode = std::numeric_limits<I>::min();

template <class T>
class Transform {
 public:
  virtual ~Transform() = default;
  // Takes the values of `source`, an array of the field's type and shape that may be the field
  // itself. Leaves in `field` exactly what backward() will give. Returns the largest error.
  // `special` is empty or says which values do not matter, because the mask will put them back.
  virtual double forward(const View& source, Field<T> field, double bound,
                         std::span<const u8> special, CodeSink<Code<T>>& codes, Patches<T>& exact,
                         Writer& side) const = 0;
  // With a last level above 0, values of finer levels may be left out.
  virtual void backward(Field<T> field, double bound, CodeSource<Code<T>>& codes,
                        const Patches<T>& exact, Reader& side, size_t last_level) const = 0;
  // How many values a chunk should have; 0: no matter.
  virtual u64 chunk_values() const { return 0; }
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

  double forward(const View& source, Field<T> field, double bound, std::span<const u8>,
                 CodeSink<Code<T>>& sink, Patches<T>& exact, Writer& side) const override {
    Buffer<Code<T>> codes(field.size());
    Predict predict(predictor_, integers(codes, field.shape), sink, side);
    const auto grid = quantizer_.template at<T>(bound);
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
// walk.
template <class T, class P, class Q>
class Feedback final : public Transform<T> {
  using Grid = decltype(std::declval<Q>().template at<T>(1.0));

 public:
  Feedback(P predictor, Q quantizer)
      : predictor_(std::move(predictor)), quantizer_(std::move(quantizer)) {}

  double forward(const View& source, Field<T> field, double bound, std::span<const u8> special,
                 CodeSink<Code<T>>& sink, Patches<T>& exact, Writer& side) const override {
    Quantize visit(quantizer_, bound, special, sink, exact);
    if constexpr (SettledPredictor<P>) {
      const P settled =
          predictor_.settled(field.shape, [&](const P& candidate, const Sample& part) {
            return try_on(candidate, part, source, bound, special);
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
    Recover visit(quantizer_, bound, source, field.size(), exact, last_level);
    if constexpr (SettledPredictor<P>)
      predictor_.read(field.shape, side).walk(field, visit);
    else if constexpr (NotingPredictor<P, T>)
      predictor_.walk(field, visit, side);
    else
      predictor_.walk(field, visit);
  }
  u64 chunk_values() const override { return preferred_chunk<P>(0); }

 private:
  // What both directions have in common.
  struct Visitor {
    const Q& quantizer;
    double bound;
    Grid grid;
    std::array<Code<T>, kMostCodes> codes;
    std::vector<Code<T>> wave_codes;
    size_t done = 0;  // values of the walk

    Visitor(const Q& q, double e) : quantizer(q), bound(e), grid(q.template at<T>(e)) {}
    double step() const requires requires(const Grid& g) { g.step; }
    { return double(grid.step); }
    std::optional<T> rounded(T value, Predicted<T> predicted) const {
      Code<T> code = 0;
      if (!grid.quantize(value, predicted, code)) return std::nullopt;
      return value;
    }
    void tighten(double factor) { grid = quantizer.template at<T>(bound * factor); }
    void mark(size_t) {}
    size_t last_level() const { return 0; }
    // Says whether the value has a code. A special one has code 0, whatever is predicted: decoded
    // data compressed again must take the same way.
    bool quantize(T& value, Predicted<T> predicted, Code<T>& code, bool is_special) const {
      if (is_special) {
        code = 0;
        value = grid.recover(predicted, 0);
      } else if (!grid.quantize(value, predicted, code)) {
        code = kExactCode<Code<T>>;
        return false;
      }
      return true;
    }
  };

  struct Quantize : Visitor {
    using Visitor::codes, Visitor::done, Visitor::grid, Visitor::wave_codes;
    std::span<const u8> special;
    CodeSink<Code<T>>& sink;
    Patches<T>& exact;
    double max_error = 0;
    size_t waiting = 0;  // codes not yet in the sink

    Quantize(const Q& q, double e, std::span<const u8> flags, CodeSink<Code<T>>& s, Patches<T>& p)
        : Visitor(q, e), special(flags), sink(s), exact(p) {}

    bool decodes() const { return false; }
    const u8* special_values() const { return special.empty() ? nullptr : special.data(); }
    void mark(size_t level) { sink.mark(level); }
    void point(T& value, Predicted<T> predicted) {
      code_one(value, predicted, codes[waiting], !special.empty() && special[done]);
      if (++waiting == kMostCodes) flush();
    }
    void keep(T& value, Predicted<T> otherwise) {
      if (!special.empty() && special[done]) return point(value, otherwise);
      exact.add(done++, value);
      codes[waiting] = kExactCode<Code<T>>;
      if (++waiting == kMostCodes) flush();
    }
    bool wave(const Wave<T>& rows) {
      if constexpr (requires { quantize_wave(grid, rows, codes.data(), max_error); }) {
        const size_t count = rows.size_with_border(), length = count / rows.rows;
        if (!special.empty() &&
            std::ranges::any_of(special.subspan(done, count), [](u8 flag) { return flag != 0; }))
          return false;
        wave_codes.resize(count);
        Code<T>* const found = wave_codes.data() + (count - rows.size());
        if (!quantize_wave(grid, rows, found, max_error)) return false;
        for (size_t r = 0; rows.has_border && r < rows.rows; ++r) {
          exact.add(done + r * length, rows.border(r));
          wave_codes[r * length] = kExactCode<Code<T>>;
          std::copy_n(found + r * rows.length, rows.length, wave_codes.data() + r * length + 1);
        }
        flush();
        sink.put_all(wave_codes, {});
        done += count;
        return true;
      }
      return false;
    }
    void run(T* values, const Predicted<T>* predicted, size_t count, const u8* contexts,
             const u8* flags, u8* sizes) {
      Code<T>* const room = sink.room(count);
      size_t i = 0;
      while (i < count) {
        if constexpr (requires { grid.quantize_run(values, predicted, 0, room, max_error); })
          if (!flags) {
            const size_t n =
                grid.quantize_run(values + i, predicted + i, count - i, room + i, max_error);
            i += n;
            done += n;
          }
        for (const size_t stop = std::min(count, i + kStretch); i < stop; ++i)
          code_one(values[i], predicted[i], room[i], flags && flags[i]);
      }
      if (sizes) sizes_of(std::span<const Code<T>>(room, count), sizes);
      sink.put(count, contexts);
    }
    void flush() {
      if (waiting == 0) return;
      std::copy_n(codes.data(), waiting, sink.room(waiting));
      sink.put(waiting, nullptr);
      waiting = 0;
    }

   private:
    void code_one(T& value, Predicted<T> predicted, Code<T>& code, bool is_special) {
      const T original = value;
      if (!Visitor::quantize(value, predicted, code, is_special))
        exact.add(done, original);
      else if (!is_special)
        max_error = std::max(max_error, rounded_error(original, value));
      ++done;
    }
  };

  struct Recover : Visitor {
    using Visitor::codes, Visitor::done, Visitor::grid, Visitor::wave_codes;
    CodeSource<Code<T>>& source;
    size_t remaining;            // in the source
    Buffer<T> exact;             // in the order of the walk
    std::vector<Code<T>> ahead;  // codes for point() and wave()
    size_t next = 0;             // in them
    size_t last;

    Recover(const Q& q, double e, CodeSource<Code<T>>& s, size_t size, const Patches<T>& patches,
            size_t last_level)
        : Visitor(q, e), source(s), remaining(size), last(last_level) {
      if (patches.count() == 0) return;
      exact = Buffer<T>(size);
      std::ranges::fill(exact, T());
      patches.apply({exact.data(), size});
    }

    bool decodes() const { return true; }
    size_t last_level() const { return last; }
    const u8* special_values() const { return nullptr; }
    void point(T& value, Predicted<T> predicted) {
      if (next == ahead.size()) look_ahead(1);
      recover(value, predicted, ahead[next++]);
    }
    void keep(T& value, Predicted<T> otherwise) { point(value, otherwise); }
    bool wave(const Wave<T>& rows) {
      if constexpr (requires { recover_wave(grid, rows, codes.data()); }) {
        const size_t count = rows.size_with_border(), length = count / rows.rows;
        if (ahead.size() - next < count) look_ahead(count);
        const Code<T>* found = ahead.data() + next;
        if (rows.has_border) {
          wave_codes.resize(rows.size());
          for (size_t r = 0; r < rows.rows; ++r) {
            if (found[r * length] != kExactCode<Code<T>>) return false;
            rows.border(r) = exact.empty() ? T() : exact[done + r * length];
            std::copy_n(found + r * length + 1, rows.length, wave_codes.data() + r * rows.length);
          }
          found = wave_codes.data();
        }
        if (!recover_wave(grid, rows, found)) return false;
        next += count;
        done += count;
        return true;
      }
      return false;
    }
    void run(T* values, const Predicted<T>* predicted, size_t count, const u8* contexts, const u8*,
             u8* sizes) {
      source.next(std::span(codes.data(), count), contexts);
      size_t i = 0;
      while (i < count) {
        if constexpr (requires { grid.recover_run(values, predicted, 0, codes.data()); }) {
          const size_t n = grid.recover_run(values + i, predicted + i, count - i, codes.data() + i);
          i += n;
          done += n;
        }
        for (const size_t stop = std::min(count, i + kStretch); i < stop; ++i)
          recover(values[i], predicted[i], codes[i]);
      }
      if (sizes) sizes_of(std::span<const Code<T>>(codes.data(), count), sizes);
    }

   private:
    // At least `count` codes wait in `ahead` after this.
    void look_ahead(size_t count) {
      ahead.erase(ahead.begin(), ahead.begin() + std::ptrdiff_t(next));
      next = 0;
      while (ahead.size() < count) {
        const size_t old = ahead.size(), n = std::min(remaining, kMostCodes);
        ahead.resize(old + n);
        source.next(std::span(ahead).subspan(old), nullptr);
        remaining -= n;
      }
    }
    void recover(T& value, Predicted<T> predicted, Code<T> code) {
      if (code != kExactCode<Code<T>>)
        value = grid.recover(predicted, code);
      else
        value = exact.empty() ? T() : exact[done];
      ++done;
    }
  };

  // Only counts what codes would cost.
  struct Estimate : Visitor {
    using Visitor::codes;
    static constexpr size_t kContexts = 64, kBins = 64;
    std::span<const u8> special;
    Trial trial;
    std::array<u8, kMostCodes> own_sizes;
    std::array<std::array<u32, kBins>, kContexts> counts{};

    Estimate(const Q& q, double e, std::span<const u8> flags) : Visitor(q, e), special(flags) {}
    bool decodes() const { return false; }
    const u8* special_values() const { return special.empty() ? nullptr : special.data(); }
    void run(T* values, const Predicted<T>* predicted, size_t count, const u8* contexts,
             const u8* flags, u8* sizes) {
      for (size_t i = 0; i < count; ++i) {
        const T original = values[i];
        const bool is_special = flags && flags[i];
        if (Visitor::quantize(values[i], predicted[i], codes[i], is_special) && !is_special)
          trial.unchanged = trial.unchanged && bits_of(original) == bits_of(values[i]);
      }
      u8* const known = sizes ? sizes : own_sizes.data();
      sizes_of(std::span<const Code<T>>(codes.data(), count), known);
      for (size_t i = 0; i < count; ++i) {
        const u8 size = known[i];
        trial.coded += size > 0;
        // Beyond 32 only the octave is modelled, the rest are bits.
        const int octave = size < 32 ? 0 : std::bit_width(size) - 5;
        trial.cost += u64(octave > 0 ? octave + 4 : 0) << 16;
        ++counts[contexts ? contexts[i] % kContexts : 0][size < 32 ? size : size_t(31 + octave)];
      }
    }
    Trial result() {
      trial.cost += trial.coded << 16;  // signs
      for (const auto& bins : counts) {
        u64 total = 0;
        for (const u32 n : bins) total += n;
        if (total == 0) continue;
        for (const u32 n : bins)
          if (n > 0) trial.cost += n * (log2_of(total) - std::min(log2_of(total), log2_of(n)));
      }
      return trial;
    }
  };

  Trial try_on(const P& candidate, const Sample& part, const View& source, double bound,
               std::span<const u8> special) const {
    const auto cut = [&](const View& whole) {
      View view(whole.at(part.first), whole.dtype, part.shape, whole.strides);
      for (size_t axis = 0; axis < part.shape.rank(); ++axis)
        view.strides[axis] *= std::ptrdiff_t(part.step[axis]);
      return view;
    };
    Buffer<T> values(size_t(part.shape.size()));
    Buffer<u8> flags(special.empty() ? 0 : values.size());
    if (!special.empty()) gather(cut(view_of(special.data(), source.shape)), flags.data());
    auto visit = std::make_unique<Estimate>(quantizer_, bound, std::span<const u8>(flags));
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

  static constexpr size_t kStretch =
      16;  // values done one by one before the fast loop is tried again
  P predictor_;
  Q quantizer_;
};

// The predictor that is not there: every value is predicted as 0.
struct NoPredictor {
  static constexpr std::string_view kName = "none";
  static constexpr std::string_view kAbout = "no prediction";
  static constexpr Kind kKind = Kind::predictor;
  NoParams params;
  void forward(auto, Writer&) const {}
  void backward(auto, Reader&) const {}
};

}  // namespace leeway
