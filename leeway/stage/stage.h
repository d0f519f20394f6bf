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
//   predictor+quantizer   predict first, from decoded values, and quantize the difference
//   quantizer+predictor   quantize first, and predict on the integers, reversibly
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "leeway/base/buffer.h"
#include "leeway/base/bytes.h"
#include "leeway/base/field.h"
#include "leeway/stage/coder.h"
#include "leeway/stage/codes.h"
#include "leeway/stage/params.h"
#include "leeway/stage/patches.h"
#include "leeway/stage/traits.h"
#include "leeway/stage/trial.h"
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
template <class S, Kind kind>
concept StageOf = Stage<S> && S::kKind == kind;

// 1. Changes values before prediction. What backward() needs goes to `side`. A preprocessor that
//    moves special values, or makes new ones, takes their flags, too: predictors that come before
//    the quantizer need them. One that changes the shape offers inner_shape(shape, side). One that
//    changes what a bound means offers inner_bound<T>(bound), the bound for what it makes of values
//    (0: only without loss), and holds(original, decoded, bound).
template <class S, class T>
concept TakesSpecial = requires(const S s, Field<T> field, std::vector<u8>& special, Writer& side) {
  s.forward(field, special, side);
};
template <class S, class T>
concept TakesValues = requires(const S s, Field<T> field, Writer& side) { s.forward(field, side); };
template <class S, class T>
concept GivesBack = requires(const S s, Field<T> field, Reader& side) { s.backward(field, side); };
template <class S, class T>
concept Preprocessor =
    StageOf<S, Kind::preprocessor> && GivesBack<S, T> && (TakesSpecial<S, T> || TakesValues<S, T>);

// 2a. Before the quantizer, a predictor walks over a field: it hands every value once, with its
//     prediction from values handed over before, to a coder (coder.h). A predictor that decides
//     something on its way notes it for the decoder: its walk takes a third argument, a Writer, or
//     the Reader that gives the notes back.
template <class S, class T>
concept SilentPredictor =
    requires(const S s, Field<T> field, Coder<T>& coder) { s.walk(field, coder); };
template <class S, class T>
concept NotingPredictor =
    requires(const S s, Field<T> field, Coder<T>& coder, Writer& notes, Reader& noted) {
      s.walk(field, coder, notes);
      s.walk(field, coder, noted);
    };
template <class S, class T>
concept FeedbackPredictor =
    StageOf<S, Kind::predictor> && (SilentPredictor<S, T> || NotingPredictor<S, T>);

// A predictor that finds its settings by trials (trial.h) and writes them before its notes.
template <class S>
concept SettledPredictor = requires(const S s, const Shape& shape, Writer& notes, Reader& noted) {
  {
    s.settled(shape, [](const S&, const Sample&) { return Trial(); })
  } -> std::same_as<S>;
  s.write(notes);
  { s.read(shape, noted) } -> std::same_as<S>;
};

// 2b. After the quantizer, a predictor replaces integers by differences to their predictions, in
//     place and reversibly, modulo 2^32 or 2^64; it may put them in another order. What backward()
//     needs goes to `side`. A predictor that can do so piece by piece also offers is_piecewise()
//     and its forms (lorenzo.h), for speed. Predictors that have only a walk work here, too.
template <class S, class U>
concept TakesIntegers = requires(const S s, Field<U> field, Writer& side, Reader& in) {
  s.forward(field, side);
  s.backward(field, in);
};
template <class S>
concept IntegerPredictor =
    StageOf<S, Kind::predictor> && TakesIntegers<S, u32> && TakesIntegers<S, u64>;

// 3. at<T>(bound) gives the grid of one bound. quantize() finds the code of a value, leaves in the
//    value exactly what recover() will make of the code, and returns false if no code keeps the
//    bound. quantize(values, codes, exact, first, before) does this for a piece of the chunk that
//    starts at value number `first`, with all predictions 0, and returns the largest error. A value
//    without a code goes to `exact`, and its code repeats the previous one (`before` for the first
//    value), so that differences stay small. A grid may also offer quantize_plane(), which takes
//    values straight from the caller's array, for speed. A quantizer with the trait by_value names
//    the quantizer whose grids it uses: Grids.
template <class G, class T>
concept GridOf = requires(const G grid, T& value, Code<T>& code, std::span<T> values,
                          std::span<Code<T>> codes, Patches<T>& exact) {
  { grid.quantize(value, Predicted<T>{}, code) } -> std::same_as<bool>;
  { grid.recover(Predicted<T>{}, code) } -> std::same_as<T>;
  { grid.quantize(values, codes, exact, size_t(0), code) } -> std::same_as<double>;
  grid.recover(codes, values);
};
template <class S, class T>
concept Quantizer = StageOf<S, Kind::quantizer> && requires(const S s) {
  { s.template at<T>(1.0) } -> GridOf<T>;
};

// A quantizer may keep codes in a channel of its own, where sets_apart() says so: those that are
// apart leave the stream of codes, a mark in their place, and are handed over together, in order.
// What write_apart() notes, read_apart() gives back; more than `most` codes are never needed.
template <class S, class I>
concept SetsApart = requires(const S s, I code, std::span<const I> codes, Writer& notes,
                             Reader& noted, size_t most) {
  { s.sets_apart() } -> std::same_as<bool>;
  { s.is_apart(code) } -> std::same_as<bool>;
  { s.template mark<I>() } -> std::same_as<I>;  // a code that is apart itself, or never occurs
  s.write_apart(codes, notes);
  { s.template read_apart<I>(noted, most) } -> std::same_as<std::vector<I>>;
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
concept Encoder = StageOf<S, Kind::encoder> && (PiecewiseEncoder<S> || WholeEncoder<S>);

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
concept PacksBytes = requires(const S s, ByteView bytes, Writer& out, size_t limit) {
  s.compress(bytes, out);
  s.decompress(bytes, limit, out);
};
template <class S>
concept Lossless = StageOf<S, Kind::lossless> && PacksBytes<S>;

}  // namespace leeway
