// SPDX-License-Identifier: BSD-3-Clause
// Integers: a predictor that comes after the quantizer, as filters between integers and codes.
//
// Predictors have one of three forms: piece by piece (Lorenzo in most shapes), on the whole array,
// or visiting integers one by one as they would visit values. Which one is chosen once a chunk; a
// virtual call passes a whole piece.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "leeway/join/no_predictor.h"
#include "leeway/join/pieces.h"
#include "leeway/join/predict_first.h"
#include "leeway/join/rules.h"
#include "leeway/quantize/linear.h"

namespace leeway {

template <class I>
class Integers {
 public:
  virtual ~Integers() = default;
  virtual Traits traits() const = 0;
  virtual u64 block_values() const { return 1; }
  // Whether it can predict integers of this width in this shape.
  virtual bool takes(const Shape& shape) const = 0;
  // Takes integers and passes their codes on; null if the integers are the codes. `special` says
  // which do not matter, or is empty.
  virtual std::unique_ptr<CodeSink<I>> sink(const Shape& shape, std::span<const u8> special,
                                            CodeSink<I>& codes, Writer& notes) const = 0;
  virtual std::unique_ptr<IntegerSource<I>> source(const ToDecode& job, CodeSource<I>& codes,
                                                   Reader& notes) const = 0;
};

// All integers of a chunk; finish(integers) is called when the last is there.
template <class I, class Finish>
class WholeSink final : public CodeSink<I> {
 public:
  WholeSink(size_t count, Finish finish) : integers_(count), finish_(std::move(finish)) {}
  I* room(size_t) override { return integers_.data() + done_; }
  void put(size_t count, const u8*) override { done_ += count; }
  void finish() override { finish_(integers_.data()); }

 private:
  Buffer<I> integers_;
  size_t done_ = 0;
  Finish finish_;
};
template <class I>
class WholeSource final : public IntegerSource<I> {
 public:
  WholeSource(Buffer<I> integers, bool is_complete)
      : integers_(std::move(integers)), is_complete_(is_complete) {}
  const I* next(size_t count) override {
    return integers_.data() + std::exchange(done_, done_ + count);
  }
  bool is_complete() const override { return is_complete_; }

 private:
  Buffer<I> integers_;
  size_t done_ = 0;
  bool is_complete_;
};

// No predictor: the integers are the codes.
template <class I>
class Unpredicted final : public Integers<I> {
 public:
  Traits traits() const override { return {}; }
  bool takes(const Shape&) const override { return true; }
  std::unique_ptr<CodeSink<I>> sink(const Shape&, std::span<const u8>, CodeSink<I>&,
                                    Writer&) const override {
    return {};
  }
  std::unique_ptr<IntegerSource<I>> source(const ToDecode&, CodeSource<I>& codes,
                                           Reader&) const override {
    struct Source final : IntegerSource<I> {
      CodeSource<I>& codes;
      std::array<I, kMostCodes> piece;
      explicit Source(CodeSource<I>& c) : codes(c) {}
      const I* next(size_t count) override {
        codes.next({piece.data(), count}, nullptr);
        return piece.data();
      }
    };
    return std::make_unique<Source>(codes);
  }
};

// A predictor that replaces integers by codes: piece by piece where it can, else on the whole
// array.
template <class I, class P>
class Replacing final : public Integers<I> {
 public:
  explicit Replacing(P predictor) : predictor_(std::move(predictor)) {}
  Traits traits() const override {
    Traits traits = P::kTraits;
    if constexpr (requires { predictor_.wants_rows(); })
      traits.whole_rows = predictor_.wants_rows();
    return traits;
  }
  bool takes(const Shape& shape) const override { return kHasWhole || is_piecewise(shape); }
  std::unique_ptr<CodeSink<I>> sink(const Shape& shape, std::span<const u8> special,
                                    CodeSink<I>& codes, Writer& notes) const override {
    if constexpr (PiecewisePredictor<P>)
      if (is_piecewise(shape))
        return std::make_unique<PieceSink<I, P>>(predictor_, shape, special, codes, notes);
    if constexpr (kHasWhole) {
      const auto size = size_t(shape.size());
      auto finish = [this, shape, size, &codes, &notes](I* integers) {
        predictor_.forward(Field<U>{reinterpret_cast<U*>(integers), shape}, notes);
        codes.put_all({integers, size}, {});
        codes.finish();
      };
      return std::make_unique<WholeSink<I, decltype(finish)>>(size, std::move(finish));
    }
    return {};
  }
  std::unique_ptr<IntegerSource<I>> source(const ToDecode& job, CodeSource<I>& codes,
                                           Reader& notes) const override {
    if constexpr (PiecewisePredictor<P>)
      if (is_piecewise(job.shape))
        return std::make_unique<PieceSource<I, P>>(predictor_, job.shape, codes, notes);
    if constexpr (kHasWhole) {
      Buffer<I> integers(size_t(job.shape.size()));
      for (size_t first = 0; first < integers.size(); first += kMostCodes)
        codes.next(std::span<I>(integers).subspan(first).first(
                       std::min(kMostCodes, integers.size() - first)),
                   nullptr);
      predictor_.backward(Field<U>{reinterpret_cast<U*>(integers.data()), job.shape}, notes);
      return std::make_unique<WholeSource<I>>(std::move(integers), true);
    }
    return {};
  }

 private:
  using U = std::make_unsigned_t<I>;
  static constexpr bool kHasWhole = sizeof(I) > 2;
  bool is_piecewise(const Shape& shape) const {
    if constexpr (PiecewisePredictor<P>)
      return predictor_.is_piecewise(shape);
    else
      return false;
  }
  P predictor_;
};

// A predictor that visits integers as it would visit values: a join of its own, without loss. What
// it decides on its way is free, for the values do not depend on it.
template <class I>
class Visiting final : public Integers<I> {
 public:
  explicit Visiting(std::unique_ptr<Join<I>> walk) : walk_(std::move(walk)) {}
  Traits traits() const override { return {.chunk_values = walk_->traits().chunk_values}; }
  u64 block_values() const override { return walk_->traits().block_values; }
  bool takes(const Shape&) const override { return true; }
  std::unique_ptr<CodeSink<I>> sink(const Shape& shape, std::span<const u8>, CodeSink<I>& codes,
                                    Writer& notes) const override {
    auto finish = [this, shape, &codes, &notes](I* integers) {
      KeptValues kept(integers);
      Encoded<I> out{codes};
      walk_->encode({view_of(integers, shape), 0.0}, kept, out);
      Writer patches;
      if (out.exact.count() > 0) out.exact.write(patches);
      notes.put_section(patches.bytes());
      notes.put_bytes(out.notes.bytes());
    };
    return std::make_unique<WholeSink<I, decltype(finish)>>(size_t(shape.size()),
                                                            std::move(finish));
  }
  std::unique_ptr<IntegerSource<I>> source(const ToDecode& job, CodeSource<I>& codes,
                                           Reader& notes) const override {
    Buffer<I> integers(size_t(job.shape.size()));
    if (job.wanted.last_level > 0 || job.wanted.box)
      std::ranges::fill(integers, I(0));  // not all will be there
    Reader patches(notes.take_section());
    Patches<I> exact;
    if (patches.remaining() > 0) exact = Patches<I>::read(patches, integers.size());
    patches.expect_end();
    KeptValues kept(integers.data());
    const bool is_complete =
        walk_->decode({job.shape, 0.0, job.wanted}, {codes, exact, notes}, kept);
    return std::make_unique<WholeSource<I>>(std::move(integers), is_complete);
  }

 private:
  std::unique_ptr<Join<I>> walk_;
};

// The filters of a predictor; null if it cannot take integers of this width.
template <class I, class P>
std::unique_ptr<Integers<I>> integers_of(const P& predictor) {
  if constexpr (std::is_same_v<P, NoPredictor>)
    return std::make_unique<Unpredicted<I>>();
  else if constexpr (IntegerPredictor<P> && (sizeof(I) > 2 || PiecewisePredictor<P>))
    return std::make_unique<Replacing<I, P>>(predictor);
  else if constexpr (sizeof(I) > 2 && broken_by<I, P, Linear>(Order::quantize_first) == Rule::none)
    return std::make_unique<Visiting<I>>(
        std::make_unique<PredictFirst<I, P, Linear>>(predictor, Linear()));
  else
    return {};
}

}  // namespace leeway
