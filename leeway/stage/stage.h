// SPDX-License-Identifier: BSD-3-Clause
// Stage: the five kinds of stage as concepts. This file is the architecture.
//
//   values -> Preprocessor(s) -> Predictor and Quantizer -> codes -> Encoder -> bytes -> Lossless
//   -> bytes
//
// A stage is a plain struct: a name (used in every interface and in the stream, never reused), one
// line about it, a kind, its traits (traits.h), its parameters, and a forward/backward pair. There
// is no base class.
// Predictor and quantizer meet in one of two orders:
//
//   predictor+quantizer   feedback: predict from reconstructed values, quantize the difference
//   quantizer+predictor   dual quantization: quantize first, predict on the integers, exactly
//   reversible
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "leeway/base/buffer.h"
#include "leeway/base/bytes.h"
#include "leeway/base/field.h"
#include "leeway/stage/codes.h"
#include "leeway/stage/params.h"
#include "leeway/stage/patches.h"
#include "leeway/stage/traits.h"
#include "leeway/stage/wave.h"

namespace leeway {

enum class Kind { preprocessor, predictor, quantizer, encoder, lossless };

inline constexpr std::string_view kKindNames[] = {"preprocessor", "predictor", "quantizer",
                                                  "encoder", "lossless"};

template <class S>
concept Stage = requires(S s) {
  { S::kName } -> std::convertible_to<std::string_view>;
  { S::kAbout } -> std::convertible_to<std::string_view>;
  { S::kKind } -> std::convertible_to<Kind>;
  { S::kTraits } -> std::same_as<const Traits&>;
  s.params.fields([](auto&&...) {});
};

// 1. Changes values before prediction; what backward() needs goes to `side`. It may take the flags
//    of special values, too, and move them or add to them: predictors before the quantizer need to
//    know them. One that changes the shape offers inner_shape(shape, side). One that also changes
//    what a bound means offers inner_bound<T>(bound), the bound for what it makes of values (0:
//    only without loss), and holds(original, decoded, bound).
template <class S, class T>
concept TakesSpecial = requires(const S s, Field<T> field, std::vector<u8>& special, Writer& side) {
  s.forward(field, special, side);
};
template <class S, class T>
concept Preprocessor = Stage<S> && S::kKind ==
                       Kind::preprocessor&& requires(const S s, Field<T> field, Reader& in) {
  s.backward(field, in);
}
&&(TakesSpecial<S, T> ||
   requires(const S s, Field<T> field, Writer& side) { s.forward(field, side); });

// Stands for a visitor in the concepts below. A predictor calls visit.run() for values that do not
// depend on each other, and visit.point() where each value waits for the one before. The optional
// contexts, one byte a value, tell the encoder what the predictor knows about a value before it is
// coded.
//
// Between begin_block() and end_block(), point_at() takes the values of a block in any order, each
// once; their codes stand by slot. points_at() takes rows of it at once where it can (wave.h), or
// says false.
//
// keep() is for a value that shall not be predicted: it comes back bit for bit, unless it is
// special; then it becomes `otherwise`. rounded() says what point() would make of a value, if it
// has a code, and round() what run() would make of many. wave() takes many rows at once where it
// can (wave.h), or says false.
//
// marks(), if not null, has a byte for every value (marks.h); run() wants those of its values. It
// can also tell the sizes of their codes, |q| but at most 255. step() is about twice the bound, and
// tighten() makes the bound of what follows smaller. A predictor that goes from coarse to fine says
// with mark(level) that all coarser levels are done, and may leave out those finer than
// last_level(). fork(n) returns a visitor for the next n values, which can then be decoded without
// the values before them; null if the encoder has no segments. Either all values are visited by
// forks, or none. Forks may be at work on several threads and are joined in order. A fork whose box
// nobody wants() is dropped. A predictor that asks step() has the trait needs_step; one that asks rounded(), round()
// or step() while it decides about single values has the trait one_grid.
template <class T>
struct AnyVisitor {
  void run(T* values, const Predicted<T>* predicted, size_t count, const u8* contexts = nullptr,
           const u8* marks = nullptr, u8* sizes = nullptr);  // count <= kMostCodes
  void point(T& value, Predicted<T> predicted);
  void begin_block(size_t count);  // count <= kMostCodes
  void point_at(size_t slot, T& value, Predicted<T> predicted);
  bool points_at(size_t slot, const BlockWave<T>& rows);
  void end_block(size_t count);
  void keep(T& value, Predicted<T> otherwise);
  std::optional<T> rounded(T value, Predicted<T> predicted) const;
  void round(T* values, const Predicted<T>* predicted, size_t count) const;
  bool wave(const Wave<T>& rows);
  bool decodes() const;
  const u8* marks() const;
  double step() const;
  void tighten(double factor);
  void mark(size_t level);
  std::unique_ptr<AnyVisitor> fork(size_t count);
  void join(AnyVisitor& part);
  bool wants(const Box& box) const;
  size_t last_level() const;
};

// 2a. Visits every value once, predicting from values visited before. One walk serves both
// directions, so
//     encoder and decoder cannot disagree. One that moves values anyway may offer a second form,
//     for speed: walk(source, field, visit) takes them from a strided array. One that decides
//     something on its way takes a third argument, a Writer for what the decoder has to know, or
//     the Reader that gives it back.
template <class S, class T>
concept NotingPredictor = requires(const S s, Field<T> field, AnyVisitor<T> visit, Writer& notes,
                                   Reader& noted) {
  s.walk(field, visit, notes), s.walk(field, visit, noted);
};
template <class S, class T>
concept FeedbackPredictor = Stage<S> && S::kKind == Kind::predictor &&
                            (NotingPredictor<S, T> ||
                             requires(const S s, Field<T> field, AnyVisitor<T> visit) {
                               s.walk(field, visit);
                             });

// Part of an array: extents, first index and step of every axis.
struct Sample {
  Shape shape;
  Index first{};
  std::array<u64, kMaxRank> step{};
};

// How a predictor with certain settings did on a sample.
struct Trial {
  u64 cost = 0;           // bits * 2^16, about
  u64 coded = 0;          // values with a code that is not 0
  bool unchanged = true;  // whether all values came back bit for bit
};

// 2b. Replaces integers by differences to their predictions, in place and reversibly, modulo 2^32
//     or 2^64; may put them in another order. What backward() needs goes to `side`. One that can do
//     so piece by piece also offers is_piecewise() and its forms (lorenzo.h), for speed.
template <class S>
concept IntegerPredictor = Stage<S> && S::kKind ==
                           Kind::predictor&& requires(const S s, Field<u32> narrow, Field<u64> wide,
                                                      Writer& side, Reader& in) {
  s.forward(narrow, side), s.backward(narrow, in);
  s.forward(wide, side), s.backward(wide, in);
};

// 3. at<T>(bound) gives the grid of one bound. quantize() finds the code of a value, leaves in the
//    value exactly what recover() will put there, and says false if no code keeps the bound. The
//    array form does the same with prediction 0 for values of a chunk from a first one on: values
//    without a code are kept as patches and get the code before them, that of the value before the
//    first if need be. It returns the largest error. A grid may also
//    offer quantize_plane(), which takes values straight from the caller's array, for speed. A
//    quantizer with the trait by_value names the quantizer whose grids it uses: Grids.
template <class S, class T>
concept Quantizer = Stage<S> && S::kKind ==
                    Kind::quantizer&& requires(const S s, T& value, Code<T>& code,
                                               std::span<T> values, std::span<Code<T>> codes,
                                               Patches<T>& exact) {
  { s.template at<T>(1.0).quantize(value, Predicted<T>{}, code) } -> std::same_as<bool>;
  { s.template at<T>(1.0).recover(Predicted<T>{}, code) } -> std::same_as<T>;
  { s.template at<T>(1.0).quantize(values, codes, exact, size_t(0), code) } -> std::same_as<double>;
  s.template at<T>(1.0).recover(codes, values);
};

// 4. Packs codes. Knows nothing of T: templates stop at the two widths of codes, I. In one of two
//    forms: sink<I>(count, out) and source<I>(in, count) take and give codes piece by piece, with a
//    context each if the predictor has them (codes.h); encode() and decode() do all at once and
//    ignore contexts. With the trait narrow_codes there are sinks and sources for I = i16, too.
template <class S>
concept PiecewiseEncoder = requires(const S s, Writer& out, Reader& in) {
  { s.template sink<i32>(size_t(0), out) } -> std::same_as<std::unique_ptr<CodeSink<i32>>>;
  { s.template sink<i64>(size_t(0), out) } -> std::same_as<std::unique_ptr<CodeSink<i64>>>;
  { s.template source<i32>(in, size_t(0)) } -> std::same_as<std::unique_ptr<CodeSource<i32>>>;
  { s.template source<i64>(in, size_t(0)) } -> std::same_as<std::unique_ptr<CodeSource<i64>>>;
};
template <class S>
concept WholeEncoder = requires(const S s, std::span<const i32> codes32,
                                std::span<const i64> codes64, std::span<i32> out32,
                                std::span<i64> out64, Writer& out, Reader& in) {
  s.encode(codes32, out), s.decode(in, out32);
  s.encode(codes64, out), s.decode(in, out64);
};
template <class S>
concept Encoder = Stage<S> && S::kKind == Kind::encoder && (PiecewiseEncoder<S> || WholeEncoder<S>);

// An encoder of either form, piece by piece.
template <class I, Encoder S>
std::unique_ptr<CodeSink<I>> make_sink(const S& stage, size_t count, Writer& out) {
  if constexpr (PiecewiseEncoder<S>) {
    return stage.template sink<I>(count, out);
  } else {
    auto encode = [&stage, &out](std::span<const I> codes) { stage.encode(codes, out); };
    return std::make_unique<CollectedSink<I, decltype(encode)>>(count, std::move(encode));
  }
}
template <class I, Encoder S>
std::unique_ptr<CodeSource<I>> make_source(const S& stage, Reader& in, size_t count) {
  if constexpr (PiecewiseEncoder<S>) {
    return stage.template source<I>(in, count);
  } else {
    auto decode = [&stage, &in](std::span<I> codes) { stage.decode(in, codes); };
    return std::make_unique<CollectedSource<I, decltype(decode)>>(count, std::move(decode));
  }
}

// 5. Packs bytes: both append to `out`. decompress() refuses to give more than `limit` bytes.
template <class S>
concept Lossless = Stage<S> && S::kKind ==
                   Kind::lossless&& requires(const S s, ByteView bytes, Writer& out, size_t limit) {
  s.compress(bytes, out);
  s.decompress(bytes, limit, out);
};

}  // namespace leeway
