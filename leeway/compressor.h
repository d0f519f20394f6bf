// SPDX-License-Identifier: BSD-3-Clause
// Compressor: stages composed at compile time, the library's and the user's own.
//
//   leeway::Compressor<float, leeway::Lorenzo, leeway::Linear, MyEncoder, leeway::Zstd> compressor;
//   leeway::Bytes stream = compressor.compress(values, shape, leeway::Bound::abs(1e-3));
//   leeway::Array array = compressor.decompress(stream);
//
// The stream carries the names of the stages. A Compressor that has a user's stage can decode a
// stream made with it, and so can every reader of a program that has registered the stages
// (registration.h); if all stages are the library's, every reader can. Stages that do not fit
// together (join/rules.h) do not compile; parameters out of their ranges throw Error.
//
// A quantizer of one's own is not trusted: every chunk is decoded once more, and kept without loss
// if a value is not within the bound.
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

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <typeinfo>
#include <utility>

#include "leeway/array.h"
#include "leeway/codec/compose.h"
#include "leeway/codec/typed_codec.h"
#include "leeway/engine/with_codec.h"
#include "leeway/quantize/exact.h"
#include "leeway/quantize/linear.h"
#include "leeway/recipe/recipe.h"
#include "leeway/registration.h"
#include "leeway/stage/configured.h"

namespace leeway {

namespace detail {

inline constexpr size_t kAbsent = size_t(-1);

// Where the first stage of a kind stands.
template <class... S>
constexpr size_t position_of(Kind kind) {
  constexpr std::array<Kind, sizeof...(S)> kKinds{S::kKind...};
  const auto found = std::ranges::find(kKinds, kind);
  return found == kKinds.end() ? kAbsent : size_t(found - kKinds.begin());
}

// Predictor and quantizer of stages whose kinds are in order; NoPredictor and Exact stand for those
// that are not there.
template <class... S>
struct JoinOf {
  static constexpr size_t p = position_of<S...>(Kind::predictor),
                          q = position_of<S...>(Kind::quantizer);
  static constexpr Order order =
      p != kAbsent && q != kAbsent && p < q ? Order::predict_first : Order::quantize_first;

  static auto predictor(const std::tuple<S...>& stages) {
    if constexpr (p == kAbsent)
      return NoPredictor();
    else
      return std::get<p>(stages);
  }
  static auto quantizer(const std::tuple<S...>& stages) {
    if constexpr (q == kAbsent)
      return Exact();
    else
      return std::get<q>(stages);
  }
  using P = decltype(predictor(std::declval<std::tuple<S...>>()));
  using Q = decltype(quantizer(std::declval<std::tuple<S...>>()));
};

// The first rule that stages break.
template <class T, class... S>
constexpr Rule broken_rule() {
  Rule rule = Rule::none;
  const auto note = [&](Rule broken) { rule = rule == Rule::none ? broken : rule; };
  (note(broken_by<T, S>()), ...);
  if constexpr (((broken_by<T, S>() == Rule::none) && ...)) {
    constexpr std::array<Kind, sizeof...(S)> kKinds{S::kKind...};
    note(broken_by(kKinds));
    if constexpr (broken_by(kKinds) == Rule::none) {
      using Joined = JoinOf<S...>;
      note(broken_by<T, typename Joined::P, typename Joined::Q>(Joined::order));
      const auto look_before = [&]<class Part>(std::type_identity<Part>) {
        if constexpr (Part::kKind == Kind::preprocessor)
          note(broken_before<T, Part>(Joined::order, Joined::Q::kTraits));
      };
      (look_before(std::type_identity<S>()), ...);
    }
  }
  return rule;
}

// What can be known of a stage only now: its parameters, and whether somebody else has its name.
template <class S>
void check_stage(const S& stage, Order order) {
  const std::string name(S::kName);
  const std::type_info* const known = library_stage(name);
  if (known && *known != typeid(S))
    fail_argument("'" + name + "' is the name of a stage of the library; take another");
  for (const NamedRecipe& named : named_recipes())
    if (named.name == name)
      fail_argument("'" + name + "' is the name of a recipe of the library; take another");
  check_params(stage.params, name);
  if (S::kKind == Kind::preprocessor)
    if (const Rule rule = broken_before(stage, order); rule != Rule::none)
      fail_argument("'" + name + "' does not fit: " + std::string(text_of(rule)));
}

}  // namespace detail

template <class T, class... S>
class Compressor {
  static constexpr Rule kBroken = detail::broken_rule<T, S...>();
#define LEEWAY_RULE_HOLDS(name, text) static_assert(kBroken != Rule::name, text);
  LEEWAY_RULES(LEEWAY_RULE_HOLDS)
#undef LEEWAY_RULE_HOLDS

 public:
  // Throws if a parameter is out of its range.
  explicit Compressor(S... stages) {
    if constexpr (kBroken == Rule::none) {  // else one sentence says it all
      using Joined = detail::JoinOf<S...>;
      (detail::check_stage(stages, Joined::order), ...);
      recipe_ = recipe_text(stages...);
      if (recipe_.size() > kMostRecipeText) fail_argument("the recipe is too long: " + recipe_);
      const bool is_trusted = library_stage(Joined::Q::kName) != nullptr;
      codec_ = std::make_shared<TypedChunkCodec<T>>(pipeline({std::move(stages)...}), is_trusted);
    }
  }
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
    return decompress_with(maker(), stream, nullptr, options);
  }
  // As long as this lives, all functions of the library read streams of these stages.
  [[nodiscard]] static Registration known() {
    std::string stages;
    ((stages += (stages.empty() ? "" : "+") + std::string(S::kName)), ...);
    return Registration(std::move(stages), dtype_of<T>(), [](const std::string& recipe) {
      std::vector<std::string_view> params;
      for (const std::string_view stage : split(recipe, '+'))
        params.push_back(stage.substr(std::min(stage.size(), stage.find(':'))));
      size_t next = 0;
      const auto after_colon = [&](std::string_view text) { return text.substr(!text.empty()); };
      return Compressor{configured<S>(after_colon(params[next++]))...}.codec_;
    });
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

  static Pipeline<T> pipeline(const std::tuple<S...>& stages) {
    using Joined = detail::JoinOf<S...>;
    const auto predictor = Joined::predictor(stages);
    const auto integers = [&]<class I>() { return integers_of<I>(predictor); };
    auto result =
        pipeline_of<T>(joined<T, Joined::order>(predictor, Joined::quantizer(stages), integers));
    std::apply([&](const auto&... stage) { (add_stage(result, stage), ...); }, stages);
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
