// SPDX-License-Identifier: BSD-3-Clause
// Pieces: a predictor on integers that works piece by piece, so that values pass through all stages
// while they are in the first cache.
#pragma once

#include <algorithm>
#include <optional>

#include "leeway/stage/stage.h"

namespace leeway {

// Gives integers that were made of codes.
template <class I>
class IntegerSource {
 public:
  virtual ~IntegerSource() = default;
  // The next `count` integers, at most kMostCodes; valid until the next call.
  virtual const I* next(size_t count) = 0;
  // Leaves out the next `count` integers. Returns false and does nothing if those after them need
  // them.
  virtual bool skip(size_t) { return false; }
  // Whether none was left out because it was not wanted.
  virtual bool is_complete() const { return true; }
};

// Whether a predictor on integers can work piece by piece.
template <class P>
concept PiecewisePredictor = requires(const P p, const Shape& shape) {
  { p.is_piecewise(shape) } -> std::same_as<bool>;
};

// The integers of a chunk that a predictor still needs: all, or the last ones.
template <class U>
class Window {
 public:
  // With `reach` integers before every piece.
  Window(size_t size, size_t reach)
      : memory_(std::min(size, 8 * reach + 2 * kMostCodes)), reach_(reach) {}  // seldom moved
  explicit Window(size_t size) : memory_(size), reach_(size) {}
  // Where integers [first, first + count) are, or are to be written, after those before them.
  U* at(size_t first, size_t count) {
    if (first + count - begin_ > memory_.size()) {
      const size_t kept = std::min(reach_, first - begin_);
      std::memmove(memory_.data(), memory_.data() + (first - begin_ - kept), kept * sizeof(U));
      begin_ = first - kept;
    }
    return memory_.data() + (first - begin_);
  }
  // From here on, nothing before is needed.
  void begin_at(size_t first) { begin_ = first; }

 private:
  Buffer<U> memory_;
  size_t reach_, begin_ = 0;
};

template <class U, class P>
Window<U> window_of(const P& predictor, const Shape& shape) {
  const auto size = size_t(shape.size());
  return predictor.values_ahead(shape) > 0 ? Window<U>(size)
                                           : Window<U>(size, predictor.reach(shape));
}

// Takes integers and passes their codes on.
template <class I, class P>
class PieceSink final : public CodeSink<I> {
 public:
  PieceSink(const P& predictor, const Shape& shape, std::span<const u8> special, CodeSink<I>& codes,
            Writer& notes)
      : predictor_(predictor),
        shape_(shape),
        special_(special),
        codes_(codes),
        notes_(notes),
        ahead_(predictor.values_ahead(shape)),
        window_(window_of<U>(predictor, shape)) {}
  I* room(size_t count) override { return reinterpret_cast<I*>(window_.at(done_, count)); }
  void put(size_t count, const u8*) override {
    done_ += count;
    if (done_ < ahead_) return;
    if (!choice_) choice_ = predictor_.choose(Field<U>{window_.at(0, done_), shape_}, notes_);
    while (sent_ < done_) send(std::min(kMostCodes, done_ - sent_));
  }
  void finish() override { codes_.finish(); }

 private:
  using U = std::make_unsigned_t<I>;
  void send(size_t count) {
    U* const piece = window_.at(sent_, count);
    if constexpr (requires { &P::template bridge_piece<U>; })
      if (!special_.empty())
        predictor_.bridge_piece(shape_, *choice_, sent_, count, special_.data() + sent_, piece);
    predictor_.forward_piece(shape_, *choice_, sent_, count, piece,
                             reinterpret_cast<U*>(codes_.room(count)));
    codes_.put(count, nullptr);
    sent_ += count;
  }

  const P& predictor_;
  Shape shape_;
  std::span<const u8> special_;
  CodeSink<I>& codes_;
  Writer& notes_;
  size_t ahead_;  // integers that the predictor looks at before it begins
  Window<U> window_;
  std::optional<size_t> choice_;
  size_t done_ = 0, sent_ = 0;
};

// The inverse.
template <class I, class P>
class PieceSource final : public IntegerSource<I> {
 public:
  PieceSource(const P& predictor, const Shape& shape, CodeSource<I>& codes, Reader& notes)
      : predictor_(predictor),
        shape_(shape),
        codes_(codes),
        choice_(predictor.chosen(notes)),
        window_(window_of<U>(predictor, shape)) {}
  const I* next(size_t count) override {
    U* const piece = window_.at(done_, count);
    codes_.next({reinterpret_cast<I*>(piece), count}, nullptr);
    predictor_.backward_piece(shape_, choice_, done_, count, piece);
    done_ += count;
    return reinterpret_cast<const I*>(piece);
  }
  bool skip(size_t count) override {
    if constexpr (requires { predictor_.begins_anew(done_); }) {
      if (!predictor_.begins_anew(done_ + count) || !codes_.skip(count)) return false;
      window_.begin_at(done_ += count);
      return true;
    }
    return false;
  }

 private:
  using U = std::make_unsigned_t<I>;
  const P& predictor_;
  Shape shape_;
  CodeSource<I>& codes_;
  size_t choice_;
  Window<U> window_;
  size_t done_ = 0;
};

}  // namespace leeway
