// SPDX-License-Identifier: BSD-3-Clause
// Stage call: from the words of a recipe to stages, and from a recipe to its stages.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "leeway/join/no_predictor.h"
#include "leeway/quantize/exact.h"
#include "leeway/recipe/all_stages.h"
#include "leeway/recipe/recipe.h"
#include "leeway/stage/configured.h"

namespace leeway {

// Calls f(type) for the type of that name, if the list has one; says whether it has.
template <class... S, class F>
bool with_type(List<S...>, std::string_view name, F&& f) {
  return ((S::kName == name ? (f(std::type_identity<S>()), true) : false) || ...);
}
// Calls f(stage) with the stage that is called, if its type is in the list; says whether it is.
template <class... S, class F>
bool with_stage(List<S...> list, const StageCall& call, F&& f) {
  return with_type(list, call.name, [&]<class Type>(std::type_identity<Type>) {
    f(*static_cast<const Type*>(call.stage.get()));
  });
}

inline const StageCall* find_stage(const Recipe& recipe, Kind kind) {
  const auto found = std::ranges::find(recipe.stages, kind, &StageCall::kind);
  return found == recipe.stages.end() ? nullptr : &*found;
}

inline Order order_of(const Recipe& recipe) {
  return predicts_first(recipe) ? Order::predict_first : Order::quantize_first;
}

// Calls f(predictor, quantizer) with those of a recipe; NoPredictor and Exact stand for those that
// it does not name.
template <class F>
void with_join(const Recipe& recipe, F&& f) {
  const StageCall* predictor = find_stage(recipe, Kind::predictor);
  const StageCall* quantizer = find_stage(recipe, Kind::quantizer);
  const auto with_quantizer = [&](const auto& q) {
    if (predictor)
      with_stage(Predictors{}, *predictor, [&](const auto& p) { f(p, q); });
    else
      f(NoPredictor(), q);
  };
  if (quantizer)
    with_stage(Quantizers{}, *quantizer, with_quantizer);
  else
    with_quantizer(Exact());
}

// Says which rule a recipe breaks.
[[noreturn]] inline void fail_rule(const Recipe& recipe, Rule rule) {
  fail_argument("the recipe '" + to_string(recipe) +
                "' is not possible: " + std::string(text_of(rule)));
}

}  // namespace leeway
