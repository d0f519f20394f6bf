// SPDX-License-Identifier: BSD-3-Clause
// Make codec: from a recipe to the templates of its stages. Compiled in parts (make_floating.cc and
// others), because it brings every predictor together with every quantizer and element type.
#pragma once

#include "leeway/codec/alternatives.h"
#include "leeway/codec/compose.h"
#include "leeway/codec/make_codec.h"
#include "leeway/codec/typed_codec.h"
#include "leeway/recipe/stage_call.h"

namespace leeway {

// The predictor of a recipe after its quantizer; null stands for none.
template <class I>
std::unique_ptr<Integers<I>> make_integers(const StageCall* predictor);
extern template std::unique_ptr<Integers<i16>> make_integers<i16>(const StageCall*);
extern template std::unique_ptr<Integers<i32>> make_integers<i32>(const StageCall*);
extern template std::unique_ptr<Integers<i64>> make_integers<i64>(const StageCall*);

// Predictor and quantizer in the order the recipe names them.
template <class T>
std::unique_ptr<Join<T>> make_join(const Recipe& recipe) {
  std::unique_ptr<Join<T>> join;
  const auto integers = [&]<class I>() {
    return make_integers<I>(find_stage(recipe, Kind::predictor));
  };
  with_join(recipe, [&]<class P, class Q>(const P& predictor, const Q& quantizer) {
    const auto join_in = [&]<Order order>() {
      if constexpr (broken_by<T, P, Q>(order) == Rule::none)
        join = joined<T, order>(predictor, quantizer, integers);
      else
        fail_rule(recipe, broken_by<T, P, Q>(order));
    };
    if (order_of(recipe) == Order::predict_first)
      join_in.template operator()<Order::predict_first>();
    else
      join_in.template operator()<Order::quantize_first>();
  });
  return join;
}

// By one alternative of a recipe; null if it is not for this type.
template <class T>
std::shared_ptr<const ChunkCodec> make_alternative(const Recipe& recipe) {
  if (!is_for(recipe, dtype_of<T>())) return nullptr;
  Pipeline<T> pipeline = pipeline_of(make_join<T>(recipe));
  const auto add = [&]<class S>(const S& stage) {
    if constexpr (is_floating<T> || !S::kTraits.floating_only) add_stage(pipeline, stage);
  };
  for (const StageCall& call : recipe.stages) {
    with_stage(Preprocessors{}, call, add);
    with_stage(Encoders{}, call, add);
    with_stage(LosslessStages{}, call, add);
  }
  return std::make_shared<const TypedChunkCodec<T>>(std::move(pipeline));
}

template <class T>
std::shared_ptr<const ChunkCodec> make_typed_codec(const Recipe& recipe) {
  if (!is_for(recipe, dtype_of<T>()))
    fail_argument("the recipe '" + to_string(recipe) + "' is for floating-point numbers, not " +
                  std::string(name_of(dtype_of<T>())));
  std::vector<std::shared_ptr<const ChunkCodec>> codecs;
  for (const Recipe& alternative : alternatives_of(recipe))
    codecs.push_back(make_alternative<T>(alternative));
  if (codecs.size() == 1) return codecs.front();
  return std::make_shared<const AlternativesCodec>(dtype_of<T>(), std::move(codecs));
}

}  // namespace leeway
