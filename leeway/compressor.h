// SPDX-License-Identifier: BSD-3-Clause
// Compressor: stages composed at compile time, the library's and the user's own.
//
//   leeway::Compressor<float, leeway::Lorenzo, leeway::Linear, MyEncoder, leeway::Zstd> compressor;
//   leeway::Bytes stream = compressor.compress(values, shape, leeway::Bound::abs(1e-3));
//   leeway::Array array = compressor.decompress(stream);
//
// The stream carries the names of the stages. Only a Compressor that has a user's stage can decode
// a stream made with it; if all stages are the library's, every reader can.
//
// To be included by itself: leeway.hpp, whose functions are compiled already, does without it.
#pragma once

// Stages are compiled into the program here. With the options below decoded values would depend on
// what the compiler makes of each expression, and streams could not be read again.
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error \
    "leeway/compressor.h cannot be compiled with -ffast-math, -Ofast or their parts: nobody could decode the streams. Compile this file without them, or use leeway/leeway.hpp only, which is safe."
#endif

#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "leeway/array.h"
#include "leeway/encode/raw.h"
#include "leeway/engine/chunk_codec.h"
#include "leeway/engine/engine.h"
#include "leeway/quantize/exact.h"
#include "leeway/quantize/linear.h"

namespace leeway {

namespace detail {

LEEWAY_EXPORT Array decompress_array(const CodecMaker& maker, ByteView stream, const Box* region,
                                     const DecompressOptions& options);

inline constexpr size_t kAbsent = size_t(-1);

// Where the first stage of a kind stands.
template <class... S>
consteval size_t position_of(Kind kind) {
  size_t position = kAbsent, i = 0;
  ((position == kAbsent&& S::kKind == kind ? position = i : position, ++i), ...);
  return position;
}
template <class... S>
consteval size_t count_of(Kind kind) {
  return (size_t(S::kKind == kind) + ... + 0);
}
// Predictor and quantizer share a place, in either order.
template <class... S>
consteval bool are_ordered() {
  bool ordered = true;
  int last = 0;
  ((ordered &= (S::kKind == Kind::quantizer ? int(Kind::predictor) : int(S::kKind)) >= last,
    last = S::kKind == Kind::quantizer ? int(Kind::predictor) : int(S::kKind)),
   ...);
  return ordered;
}

}  // namespace detail

template <class T, class... S>
class Compressor {
  static_assert((Stage<S> && ...),
                "every part of a Compressor must be a Stage: see leeway/core/stage.h");
  static_assert(
      detail::are_ordered<S...>(),
      "the order is: preprocessors, predictor and quantizer (either first), encoder, lossless");
  static_assert(detail::count_of<S...>(Kind::predictor) <= 1, "at most one predictor");
  static_assert(detail::count_of<S...>(Kind::quantizer) <= 1, "at most one quantizer");
  static_assert(detail::count_of<S...>(Kind::encoder) <= 1, "at most one encoder");

 public:
  explicit Compressor(S... stages)
      : recipe_(recipe_text(stages...)),
        codec_(std::make_shared<TypedChunkCodec<T>>(
            pipeline(std::tuple<S...>(std::move(stages)...)))) {}
  Compressor() requires(sizeof...(S) > 0) : Compressor(S()...) {}

  const std::string& recipe() const { return recipe_; }

  Bytes compress(const T* values, const Shape& shape, const Bound& bound) const {
    CompressOptions options;
    options.bound = bound;
    Bytes stream;
    compress(view_of(values, shape), options,
             [&](ByteView part) { stream.insert(stream.end(), part.begin(), part.end()); });
    return stream;
  }
  // options.recipe is not used.
  CompressReport compress(const View& view, const CompressOptions& options,
                          const Sink& sink) const {
    return compress_with(*codec_, recipe_, view, options, sink);
  }
  Array decompress(ByteView stream, const DecompressOptions& options = {}) const {
    return detail::decompress_array(maker(), stream, nullptr, options);
  }

 private:
  static std::string recipe_text(const S&... stages) {
    std::string text;
    const auto append = [&](const auto& stage) {
      const std::string params = print_params(stage.params);
      text += (text.empty() ? "" : "+") + std::string(stage.kName) +
              (params.empty() ? "" : ":" + params);
    };
    (append(stages), ...);
    return text;
  }

  static std::unique_ptr<Transform<T>> transform(const std::tuple<S...>& stages) {
    constexpr size_t q = detail::position_of<S...>(Kind::quantizer);
    if constexpr (q == detail::kAbsent)
      return transform(stages, Exact());
    else
      return as_quantized(transform(stages, std::get<q>(stages)), std::get<q>(stages));
  }
  template <class Q>
  static std::unique_ptr<Transform<T>> transform(const std::tuple<S...>& stages,
                                                 const Q& quantizer) {
    constexpr size_t p = detail::position_of<S...>(Kind::predictor),
                     q = detail::position_of<S...>(Kind::quantizer);
    static_assert(Quantizer<Q, T>,
                  "the quantizer does not fit: see the concept Quantizer in core/stage.h");
    if constexpr (p == detail::kAbsent) {
      return std::make_unique<Dual<T, Q, NoPredictor>>(quantizer, NoPredictor());
    } else {
      using P = std::tuple_element_t<p, std::tuple<S...>>;
      if constexpr (q != detail::kAbsent && p < q) {
        static_assert(FeedbackPredictor<P, T>,
                      "this predictor cannot stand before the quantizer: it has no walk()");
        return std::make_unique<Feedback<T, P, Q>>(std::get<p>(stages), quantizer);
      } else if constexpr (IntegerPredictor<P>) {
        return std::make_unique<Dual<T, Q, P>>(quantizer, std::get<p>(stages));
      } else {
        static_assert(FeedbackPredictor<P, Code<T>>,
                      "this predictor cannot stand behind the quantizer: it has neither "
                      "forward()/backward() nor walk() on integers");
        return std::make_unique<Walked<T, Q>>(
            quantizer,
            std::make_unique<Feedback<Code<T>, P, Linear>>(std::get<p>(stages), Linear()));
      }
    }
  }

  static Pipeline<T> pipeline(const std::tuple<S...>& stages) {
    Pipeline<T> result;
    result.transform = transform(stages);
    result.encoder = erase_encoder(Raw());
    const auto add = [&]<class Part>(const Part& stage) {
      if constexpr (Part::kKind == Kind::preprocessor) {
        static_assert(Preprocessor<Part, T>, "a preprocessor does not fit: see core/stage.h");
        result.preprocessors.push_back(erase_preprocessor<T>(stage));
      } else if constexpr (Part::kKind == Kind::encoder) {
        static_assert(Encoder<Part>, "the encoder does not fit: see core/stage.h");
        result.encoder = erase_encoder(stage);
      } else if constexpr (Part::kKind == Kind::lossless) {
        static_assert(Lossless<Part>, "a lossless stage does not fit: see core/stage.h");
        result.lossless.push_back(erase_lossless(stage));
      }
    };
    std::apply([&](const auto&... stage) { (add(stage), ...); }, stages);
    return result;
  }

  CodecMaker maker() const {
    return [this](const std::string& recipe, DType dtype) {
      if (recipe != recipe_ || dtype != dtype_of<T>())
        throw Error(Errc::unsupported, "the stream was made by '" + recipe + "' for " +
                                           std::string(name_of(dtype)) + ", not by '" + recipe_ +
                                           "' for " + std::string(name_of(dtype_of<T>())));
      return codec_;
    };
  }

  std::string recipe_;
  std::shared_ptr<const ChunkCodec> codec_;
};

}  // namespace leeway
