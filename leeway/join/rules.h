// SPDX-License-Identifier: BSD-3-Clause
// Rules: which stages fit together, and why others do not. Recipes throw the reason; Compressor<>
// does not compile and shows it.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "leeway/stage/stage.h"

namespace leeway {

// Time and memory for decoding grow with the number of stages: a recipe in a stream must not ask
// for many.
inline constexpr size_t kMostPreprocessors = 4, kMostLossless = 4;
inline constexpr size_t kMostRecipeText = 1024;  // characters

// RULE(name, what holds). Text, because static_assert takes nothing else.
#define LEEWAY_RULES(RULE)                                                                         \
  RULE(are_stages, "every part must be a stage: see the concept Stage in stage/stage.h")           \
  RULE(are_named, "the name of a stage has letters, digits, '.', '_' and '-' only")                \
  RULE(is_preprocessor,                                                                            \
       "a preprocessor does not fit: see the concept Preprocessor in stage/stage.h")               \
  RULE(is_quantizer, "the quantizer does not fit: see the concept Quantizer in stage/stage.h")     \
  RULE(is_encoder, "the encoder does not fit: see the concept Encoder in stage/stage.h")           \
  RULE(is_lossless, "a lossless stage does not fit: see the concept Lossless in stage/stage.h")    \
  RULE(order_of_kinds,                                                                             \
       "the order is preprocessors, predictor and quantizer (either first), encoder, lossless")    \
  RULE(one_predictor, "at most one predictor")                                                     \
  RULE(one_quantizer, "at most one quantizer")                                                     \
  RULE(one_encoder, "at most one encoder")                                                         \
  RULE(few_preprocessors, "at most 4 preprocessors")                                               \
  RULE(few_lossless, "at most 4 lossless stages")                                                  \
  RULE(floating_only, "one of the stages takes floating-point numbers only")                       \
  RULE(walks_over_values,                                                                          \
       "this predictor cannot come before the quantizer: it has no walk() over values")            \
  RULE(comes_after,                                                                                \
       "this predictor cannot come before the quantizer: it is made for its integers")             \
  RULE(walks_over_integers,                                                                        \
       "this predictor cannot come after the quantizer: it has neither forward() and backward() "  \
       "nor walk() for integers")                                                                  \
  RULE(uses_predictions,                                                                           \
       "no predictor can come before this quantizer: its codes do not depend on predictions")      \
  RULE(has_step,                                                                                   \
       "this predictor asks for the step of the quantizer after it, and this one has none")        \
  RULE(one_grid,                                                                                   \
       "this predictor needs one step for all values, and the quantizer has a bound for each")     \
  RULE(transform_first,                                                                            \
       "a transform comes before the quantizer linear, which has no parameters then")              \
  RULE(by_value_after_predictor,                                                                   \
       "a quantizer with a bound for each value needs a predictor before it")                      \
  RULE(by_value_in_place,                                                                          \
       "a quantizer with a bound for each value cannot come after a preprocessor: bounds belong "  \
       "to values in their places")                                                                \
  RULE(same_again,                                                                                 \
       "before a predictor that comes before the quantizer, a preprocessor must do the same with " \
       "decoded values as with the original ones, or data compressed again might change; "         \
       "quantize first, as balanced and fast do")

enum class Rule {
  none,  // all are kept
#define LEEWAY_RULE_NAME(name, text) name,
  LEEWAY_RULES(LEEWAY_RULE_NAME)
#undef LEEWAY_RULE_NAME
};

constexpr std::string_view text_of(Rule rule) {
  constexpr std::string_view kTexts[] = {"",
#define LEEWAY_RULE_TEXT(name, text) text,
                                         LEEWAY_RULES(LEEWAY_RULE_TEXT)
#undef LEEWAY_RULE_TEXT
  };
  return kTexts[size_t(rule)];
}

// Which of predictor and quantizer comes first; the quantizer, if there is no predictor.
enum class Order { predict_first, quantize_first };

// A stage's name is part of a recipe's text.
constexpr bool is_stage_name(std::string_view name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.find_first_not_of(kAllowed) == std::string_view::npos;
}

// Where a kind may stand; predictor and quantizer share a place.
constexpr int place_of(Kind kind) {
  return kind == Kind::quantizer ? int(Kind::predictor) : int(kind);
}

// The rule about kinds that stages of these kinds, in this order, break.
constexpr Rule broken_by(std::span<const Kind> kinds) {
  std::array<size_t, std::size(kKindNames)> count{};
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (i > 0 && place_of(kinds[i - 1]) > place_of(kinds[i])) return Rule::order_of_kinds;
    ++count[size_t(kinds[i])];
  }
  const auto has_more = [&](Kind kind, size_t most) { return count[size_t(kind)] > most; };
  if (has_more(Kind::predictor, 1)) return Rule::one_predictor;
  if (has_more(Kind::quantizer, 1)) return Rule::one_quantizer;
  if (has_more(Kind::encoder, 1)) return Rule::one_encoder;
  if (has_more(Kind::preprocessor, kMostPreprocessors)) return Rule::few_preprocessors;
  if (has_more(Kind::lossless, kMostLossless)) return Rule::few_lossless;
  return Rule::none;
}
static_assert(kMostPreprocessors == 4 && kMostLossless == 4, "the texts above say so");

// The rule that a stage breaks by itself. Whether a predictor fits depends on its place.
template <class T, class S>
constexpr Rule broken_by() {
  if constexpr (!Stage<S>) {
    return Rule::are_stages;
  } else if constexpr (!is_stage_name(S::kName)) {
    return Rule::are_named;
  } else if constexpr (S::kTraits.floating_only && !is_floating<T>) {
    return Rule::floating_only;
  } else {
    if (S::kKind == Kind::preprocessor && !Preprocessor<S, T>) return Rule::is_preprocessor;
    if (S::kKind == Kind::quantizer && !Quantizer<S, T>) return Rule::is_quantizer;
    if (S::kKind == Kind::encoder && !Encoder<S>) return Rule::is_encoder;
    if (S::kKind == Kind::lossless && !Lossless<S>) return Rule::is_lossless;
    return Rule::none;
  }
}

template <class Q, class T>
concept HasStep = requires(const Q q) {
  q.template at<T>(1.0).step;
};

// The rule that predictor and quantizer break in this order.
template <class T, class P, class Q>
constexpr Rule broken_by(Order order) {
  constexpr Traits p = P::kTraits, q = Q::kTraits;
  if constexpr (!is_floating<T> && q.floating_only) {
    return Rule::floating_only;
  } else if constexpr (p.transforms) {
    const bool fits = order == Order::predict_first && Q::kName == "linear";
    return fits ? Rule::none : Rule::transform_first;
  } else if constexpr (q.by_value) {
    if (order == Order::quantize_first) return Rule::by_value_after_predictor;
    if (p.one_grid) return Rule::one_grid;
    return broken_by<T, P, typename Q::Grids>(order);
  } else if (order == Order::quantize_first) {
    const bool walks = FeedbackPredictor<P, Code<T>> && !p.floating_only;
    return IntegerPredictor<P> || walks ? Rule::none : Rule::walks_over_integers;
  } else {
    if (!is_floating<T> && p.floating_only) return Rule::floating_only;
    if (p.after_quantizer) return Rule::comes_after;
    if (!FeedbackPredictor<P, T>) return Rule::walks_over_values;
    if (q.ignores_prediction) return Rule::uses_predictions;
    return p.needs_step && !HasStep<Q, T> ? Rule::has_step : Rule::none;
  }
}

// The same for the parameters of the quantizer.
template <class P, class Q>
Rule broken_by_parameters(const Q& quantizer) {
  return P::kTraits.transforms && !print_params(quantizer.params).empty() ? Rule::transform_first
                                                                          : Rule::none;
}

// The rule that a preprocessor breaks before a predictor and a quantizer.
template <class T, class S>
constexpr Rule broken_before(Order order, const Traits& quantizer) {
  if (quantizer.by_value) return Rule::by_value_in_place;
  return order == Order::predict_first && !TakesSpecial<S, T> ? Rule::same_again : Rule::none;
}
// The same for what its parameters decide.
template <class S>
Rule broken_before(const S& stage, Order order) {
  if constexpr (requires { stage.decides(); })
    if (order == Order::predict_first && stage.decides()) return Rule::same_again;
  return Rule::none;
}

}  // namespace leeway
