// SPDX-License-Identifier: BSD-3-Clause
// Quantize first, then predict on integers, exactly and reversibly (dual quantization).
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "leeway/join/causal_contexts.h"
#include "leeway/join/join.h"
#include "leeway/join/no_predictor.h"

namespace leeway {

// The array form of a grid, for values [first, ...) of a chunk; one that would become a fill value
// is kept exactly, as one without a code is.
template <class T>
double quantize_all(const auto& grid, std::span<T> values, std::span<Code<T>> codes,
                    Patches<T>& exact, size_t first, Code<T> before, const Specials<T>& special) {
  if (special.fills.empty()) return grid.quantize(values, codes, exact, first, before);
  double max_error = 0;
  std::array<T, kMostCodes> originals;
  for (size_t done = 0; done < values.size();) {
    const size_t count = std::min(kMostCodes, values.size() - done);
    const std::span<T> piece = values.subspan(done, count);
    const std::span<Code<T>> to = codes.subspan(done, count);
    const size_t start = first + done;
    std::ranges::copy(piece, originals.data());
    Patches<T> found;
    max_error = std::max(max_error, grid.quantize(piece, to, found, start, before));
    if (!special.fills.any_in(piece)) {
      exact.append(found);
    } else {
      std::copy_n(originals.data(), count, piece.data());
      for (size_t i = 0; i < count; ++i) {
        const bool has_code = grid.quantize(piece[i], Predicted<T>(0), to[i]);
        if (has_code && (special.at(start + i) || !special.fills.has(piece[i]))) continue;
        piece[i] = originals[i];
        to[i] = i > 0 ? to[i - 1] : before;
        exact.add(start + i, piece[i]);
      }
    }
    before = to.back();
    done += count;
  }
  return max_error;
}

// Whether a predictor on integers can work piece by piece.
template <class P>
concept PiecewisePredictor = requires(const P p, const Shape& shape) {
  { p.is_piecewise(shape) } -> std::same_as<bool>;
};

// Quantize, then predict on integers. Piece by piece where the predictor can, so that values pass
// through all stages while they are in the first cache.
template <class T, class Q, class P>
class QuantizeFirst final : public Join<T> {
 public:
  QuantizeFirst(Q quantizer, P predictor)
      : quantizer_(std::move(quantizer)), predictor_(std::move(predictor)) {}

  double forward(const View& source, ValueSink& values, const ChunkBound& bound,
                 const Specials<T>& special, CodeSink<Code<T>>& sink, Patches<T>& exact,
                 Writer& side) const override {
    std::optional<CausalSink<Code<T>>> causal;
    if (P::kTraits.causal_codes && sink.wants_contexts()) causal.emplace(sink, source.shape);
    return *send_all<Code<T>>(source, values, bound.most, special, causal ? *causal : sink, &exact,
                              side);
  }
  bool backward(const Shape& shape, ValueSink& values, double bound, CodeSource<Code<T>>& source,
                const Patches<T>& exact, Reader& side, const Wanted&) const override {
    std::optional<CausalSource<Code<T>>> causal;
    if (P::kTraits.causal_codes && source.wants_contexts()) causal.emplace(source, shape);
    take_all<Code<T>>(shape, values, bound, causal ? *causal : source, &exact, side);
    return true;
  }

  bool can_be_narrow(const Shape& shape) const override {
    if constexpr (kNarrow)
      return predictor_.is_piecewise(shape);
    else
      return false;
  }
  std::optional<double> forward_narrow(const View& source, ValueSink& values, double bound,
                                       CodeSink<i16>& sink, Writer& side) const override {
    if constexpr (kNarrow)
      return send_all<i16>(source, values, bound, {}, sink, nullptr, side);
    else
      return {};
  }
  void backward_narrow(const Shape& shape, ValueSink& values, double bound, CodeSource<i16>& source,
                       Reader& side) const override {
    if constexpr (kNarrow) take_all<i16>(shape, values, bound, source, nullptr, side);
  }

 private:
  // Codes go straight to the encoder.
  static constexpr bool kAsTheyAre = std::is_same_v<P, NoPredictor>;
  static constexpr bool kNarrow =
      PiecewisePredictor<P> &&
      (std::is_same_v<T, float> || std::is_same_v<T, double>)&&requires(
          const Q q, const Plane<const std::byte>& plane, T* values, i16* codes, double& error) {
    q.template at<T>(1.0).quantize_plane(plane, values, codes, error);
  };

  // With codes of type C. Values without a code are kept in `exact`; without that, this ends.
  template <class C>
  std::optional<double> send_all(const View& source, ValueSink& values, double bound,
                                 const Specials<T>& special, CodeSink<C>& sink, Patches<T>* exact,
                                 Writer& side) const {
    using U = std::make_unsigned_t<C>;
    const Shape& shape = source.shape;
    Window<U> codes(predictor_, shape);
    const auto grid = quantizer_.template at<T>(bound);
    double max_error = 0;
    C last = 0;
    size_t done = 0, sent = 0;
    std::optional<size_t> choice;
    [[maybe_unused]] const auto send = [&] {
      if constexpr (PiecewisePredictor<P> && !kAsTheyAre) {
        if (!codes.is_piecewise() || done < predictor_.values_ahead(shape)) return;
        if (!choice) choice = predictor_.choose(Field<U>{codes.at(0, done), shape}, side);
        for (size_t count; sent < done; sent += count) {
          count = std::min(kMostCodes, done - sent);
          if constexpr (requires { &P::template bridge_piece<U>; })
            if (!special.flags.empty())
              predictor_.bridge_piece(shape, *choice, sent, count, special.flags.data() + sent,
                                      codes.at(sent, count));
          predictor_.forward_piece(shape, *choice, sent, count, codes.at(sent, count),
                                   reinterpret_cast<U*>(sink.room(count)));
          sink.put(count, nullptr);
        }
      }
    };
    bool fits = true;
    const auto quantize_part = [&](const Plane<const std::byte>& part) {
      if (!fits) return;
      const size_t first = std::exchange(done, done + part.size());
      const std::span piece(static_cast<T*>(values.room(part.size() * sizeof(T))), part.size());
      const std::span to(
          kAsTheyAre ? sink.room(part.size()) : reinterpret_cast<C*>(codes.at(first, part.size())),
          part.size());
      fits = quantize(grid, part, piece, to, exact, first, last, special, max_error);
      if (!fits) return;
      last = to.back();
      values.put(piece.size_bytes());
      if constexpr (kAsTheyAre)
        sink.put(part.size(), nullptr);
      else
        send();
    };
    // Each knows the next one, so that it can ask for it in time.
    std::optional<Plane<const std::byte>> waiting;
    for_each_plane(source, [&](const Plane<const std::byte>& plane) {
      for_each_part(plane, kMostCodes, [&](const Plane<const std::byte>& part) {
        if (waiting && waiting->is_like(part)) waiting->next = part.data;
        if (waiting) quantize_part(*waiting);
        waiting = part;
      });
    });
    if (waiting) quantize_part(*waiting);
    if (!fits) return {};
    if constexpr (sizeof(C) > 2)
      if (!codes.is_piecewise()) {
        const Field<U> field{codes.at(0, done), shape};
        predictor_.forward(field, side);
        sink.put_all({reinterpret_cast<const C*>(field.data), done}, {});
      }
    sink.finish();
    return max_error;
  }

  template <class C>
  void take_all(const Shape& shape, ValueSink& values, double bound, CodeSource<C>& source,
                const Patches<T>* exact, Reader& side) const {
    using U = std::make_unsigned_t<C>;
    const auto size = size_t(shape.size());
    Window<U> codes(predictor_, shape);
    const auto grid = quantizer_.template at<T>(bound);
    // Small ones: values written past the caches wait for the memory if they come all at once.
    constexpr size_t kPiece = kMostCodes / 2;
    const auto for_each_piece = [&](auto&& f) {
      for (size_t first = 0; first < size; first += kPiece) {
        const size_t count = std::min(kPiece, size - first);
        f(first, count, codes.at(first, count));
      }
    };
    const auto next = [&](size_t, size_t count, U* to) {
      source.next({reinterpret_cast<C*>(to), count}, nullptr);
    };
    const auto recover = [&](size_t first, size_t count, const U* from) {
      const std::span to(static_cast<T*>(values.room(count * sizeof(T))), count);
      grid.recover(std::span(reinterpret_cast<const C*>(from), count), to);
      if (exact) exact->apply(to, first);
      values.put(to.size_bytes());
    };
    if constexpr (PiecewisePredictor<P>)
      if (codes.is_piecewise()) {
        const size_t choice = predictor_.chosen(side);
        return for_each_piece([&](size_t first, size_t count, U* piece) {
          next(first, count, piece);
          predictor_.backward_piece(shape, choice, first, count, piece);
          recover(first, count, piece);
        });
      }
    if constexpr (sizeof(C) > 2) {
      for_each_piece(next);
      predictor_.backward(Field<U>{codes.at(0, size), shape}, side);
      for_each_piece(recover);
    }
  }

  // The integers of a chunk: all, or only the last ones, if the predictor looks no further back.
  template <class U>
  class Window {
   public:
    Window(const P& predictor, const Shape& shape) : reach_(size_t(shape.size())) {
      size_t kept = reach_;
      if constexpr (PiecewisePredictor<P>) {
        is_piecewise_ = predictor.is_piecewise(shape);
        if (is_piecewise_ && predictor.values_ahead(shape) == 0) {
          reach_ = predictor.reach(shape);
          kept = std::min(kept, 8 * reach_ + 2 * kMostCodes);  // seldom moved
        }
      }
      memory_ = Buffer<U>(kept);
    }
    bool is_piecewise() const { return is_piecewise_; }
    // Where `count` integers from number `first` on stand, or shall stand, behind those before.
    U* at(size_t first, size_t count) {
      if (first + count - begin_ > memory_.size()) {
        const size_t kept = std::min(reach_, first - begin_);
        std::memmove(memory_.data(), memory_.data() + (first - begin_ - kept), kept * sizeof(U));
        begin_ = first - kept;
      }
      return memory_.data() + (first - begin_);
    }

   private:
    Buffer<U> memory_;
    size_t reach_, begin_ = 0;
    bool is_piecewise_ = false;
  };

  // A plane of values; `values` may be where it stands. Says false if one has no code and none are
  // kept.
  template <class C>
  static bool quantize(const auto& grid, const Plane<const std::byte>& plane, std::span<T> values,
                       std::span<C> codes, Patches<T>* exact, size_t first, C before,
                       const Specials<T>& special, double& max_error) {
    const bool in_place = static_cast<const void*>(values.data()) == plane.data;
    if constexpr (requires { grid.quantize_plane(plane, values.data(), codes.data(), max_error); })
      if (!in_place && grid.quantize_plane(plane, values.data(), codes.data(), max_error) &&
          !special.fills.any_in(values))
        return true;
    if (!in_place) gather(plane, sizeof(T), reinterpret_cast<std::byte*>(values.data()));
    if constexpr (std::is_same_v<C, Code<T>>) {
      max_error =
          std::max(max_error, quantize_all(grid, values, codes, *exact, first, before, special));
      return true;
    } else {
      const Plane<const std::byte> gathered{reinterpret_cast<const std::byte*>(values.data()), 1, 0,
                                            values.size(), sizeof(T)};
      return grid.quantize_plane(gathered, values.data(), codes.data(), max_error);
    }
  }

  Q quantizer_;
  P predictor_;
};

// Quantize, then walk over the integers, without loss: predictors that visit values do so here,
// too. What they decide on their way is theirs to decide, for the values do not depend on it.
template <class T, class Q>
class Walked final : public Join<T> {
 public:
  // The walk is a feedback without loss.
  Walked(Q quantizer, std::unique_ptr<Join<Code<T>>> walk)
      : quantizer_(std::move(quantizer)), walk_(std::move(walk)) {}

  double forward(const View& source, ValueSink& values, const ChunkBound& bound,
                 const Specials<T>& special, CodeSink<Code<T>>& sink, Patches<T>& exact,
                 Writer& side) const override {
    WholeField<T> whole(values, source.shape);
    if (!is_in_place(source, whole.field)) gather(source, whole.field.data);
    Buffer<Code<T>> codes(whole.field.size());
    const double max_error =
        quantize_all(quantizer_.template at<T>(bound.most), whole.field.values(), std::span(codes),
                     exact, 0, Code<T>(0), special);
    whole.finish();
    Patches<Code<T>> far;  // integers without a code
    Writer notes, patches;
    KeptValues integers(codes.data());
    walk_->forward(view_of(codes.data(), source.shape), integers, 0, {}, sink, far, notes);
    if (far.count() > 0) far.write(patches);
    side.put_section(patches.bytes());
    side.put_bytes(notes.bytes());
    return max_error;
  }
  bool backward(const Shape& shape, ValueSink& values, double bound, CodeSource<Code<T>>& source,
                const Patches<T>& exact, Reader& side, const Wanted& wanted) const override {
    WholeField<T> whole(values, shape);
    Buffer<Code<T>> codes(whole.field.size());
    if (wanted.last_level > 0 || wanted.box)
      std::ranges::fill(codes, Code<T>(0));  // not all will be there
    Reader patches(side.take_section());
    Patches<Code<T>> far;
    if (patches.remaining() > 0) far = Patches<Code<T>>::read(patches, codes.size());
    patches.expect_end();
    KeptValues integers(codes.data());
    const bool complete = walk_->backward(shape, integers, 0, source, far, side, wanted);
    quantizer_.template at<T>(bound).recover(std::span<const Code<T>>(codes), whole.field.values());
    exact.apply(whole.field.values());
    whole.finish();
    return complete;
  }
  u64 chunk_values() const override { return walk_->chunk_values(); }

 private:
  Q quantizer_;
  std::unique_ptr<Join<Code<T>>> walk_;
};

}  // namespace leeway
