// SPDX-License-Identifier: BSD-3-Clause
// Make codec: from a recipe to the templates of its stages. Compiled in parts (codec_*.cc), because
// it brings every predictor together with every quantizer and element type.
#pragma once

#include "leeway/recipe/stage_call.h"

namespace leeway {

template <class T, class P, class Q>
constexpr bool fits_together() {
  constexpr bool for_floats = P::kTraits.floating_only || Q::kTraits.floating_only;
  if constexpr ((for_floats && !is_floating<T>) || P::kTraits.after_quantizer ||
                Q::kTraits.ignores_prediction)
    return false;
  else if constexpr (P::kTraits.needs_step)
    return requires(const Q q) { q.template at<T>(1.0).step; };
  else
    return true;
}

// A predictor before the quantizer leaves other values if anything before it does something else
// with decoded data than it did with the original.
template <class T>
void check_before_feedback(const Recipe& recipe, const StageCall& predictor) {
  for (const StageCall& call : recipe.stages)
    with_stage(Preprocessors{}, call, [&]<class S>(const S& stage) {
      bool decides = !TakesSpecial<S, T>;
      if constexpr (requires { stage.decides(); }) decides = decides || stage.decides();
      if (decides)
        fail_argument("'" + predictor.name + "' cannot stand before the quantizer behind '" +
                      call.name + (call.params.empty() ? "" : ":" + call.params) +
                      "': decoded data compressed again might change; take a recipe that quantizes "
                      "first, like balanced or fast");
    });
}

// Bounds belong to values as they are given.
inline void check_before_by_value(const Recipe& recipe, const StageCall& quantizer) {
  if (const StageCall* call = find_stage(recipe, Kind::preprocessor))
    fail_argument("'" + quantizer.name + "' cannot stand behind '" + call->name +
                  "': bounds belong to values in their places");
  const StageCall* predictor = find_stage(recipe, Kind::predictor);
  if (!predicts_first(recipe))
    fail_argument("'" + quantizer.name + "' needs a predictor before it" +
                  (predictor ? ", not '" + predictor->name + "' behind it" : ""));
}

// A predictor that walks over integers, for those of a quantizer before it; null if it cannot.
template <class I>
std::unique_ptr<Transform<I>> make_walk(const StageCall& predictor);
extern template std::unique_ptr<Transform<i32>> make_walk<i32>(const StageCall&);
extern template std::unique_ptr<Transform<i64>> make_walk<i64>(const StageCall&);

// Joins predictor and quantizer in the order the recipe names them.
template <class T>
std::unique_ptr<Transform<T>> make_transform(const Recipe& recipe) {
  const StageCall* predictor = find_stage(recipe, Kind::predictor);
  const StageCall* quantizer = find_stage(recipe, Kind::quantizer);
  const StageCall exact{std::string(Exact::kName), "", Kind::quantizer};
  const bool feedback = predicts_first(recipe);
  if (feedback) check_before_feedback<T>(recipe, *predictor);
  std::unique_ptr<Transform<T>> transform;
  with_stage(Quantizers{}, quantizer ? *quantizer : exact, [&]<class Q>(const Q& q) {
    if constexpr (Q::kTraits.floating_only && !is_floating<T>) {
      return;
    } else if constexpr (Q::kTraits.by_value) {
      check_before_by_value(recipe, *quantizer);
      with_stage(Predictors{}, *predictor, [&]<class P>(const P& p) {
        using G = typename Q::Grids;
        if constexpr (FeedbackPredictor<P, T> && fits_together<T, P, G>() && !P::kTraits.one_grid)
          transform = std::make_unique<Feedback<T, P, G>>(p, G(), true);
      });
    } else if (!predictor) {
      transform = std::make_unique<Dual<T, Q, NoPredictor>>(q, NoPredictor());
    } else {
      with_stage(Predictors{}, *predictor, [&]<class P>(const P& p) {
        if (feedback) {
          if constexpr (FeedbackPredictor<P, T> && fits_together<T, P, Q>())
            transform = std::make_unique<Feedback<T, P, Q>>(p, q);
        } else if constexpr (IntegerPredictor<P>) {
          transform = std::make_unique<Dual<T, Q, P>>(q, p);
        } else if (auto walk = make_walk<Code<T>>(*predictor)) {
          transform = std::make_unique<Walked<T, Q>>(q, std::move(walk));
        }
      });
    }
    transform = as_quantized(std::move(transform), q);
  });
  if (!transform)
    fail_argument("'" + predictor->name + "' cannot stand " + (feedback ? "before" : "behind") +
                  " the quantizer '" + (quantizer ? quantizer->name : exact.name) + "'");
  return transform;
}

template <class T>
std::shared_ptr<const ChunkCodec> make_typed_codec(const Recipe& recipe) {
  if (!is_for(recipe, dtype_of<T>()))
    fail_argument("the recipe '" + to_string(recipe) + "' is for floating-point numbers, not " +
                  std::string(name_of(dtype_of<T>())));
  Pipeline<T> pipeline;
  pipeline.transform = make_transform<T>(recipe);
  pipeline.encoder = erase_encoder(Raw());
  for (const StageCall& call : recipe.stages) {
    with_stage(Preprocessors{}, call, [&]<class S>(const S& stage) {
      if constexpr (Preprocessor<S, T>)
        pipeline.preprocessors.push_back(erase_preprocessor<T>(stage));
    });
    with_stage(Encoders{}, call,
               [&](const auto& stage) { pipeline.encoder = erase_encoder(stage); });
    with_stage(LosslessStages{}, call,
               [&](const auto& stage) { pipeline.lossless.push_back(erase_lossless(stage)); });
  }
  return std::make_shared<const TypedChunkCodec<T>>(std::move(pipeline));
}

}  // namespace leeway
