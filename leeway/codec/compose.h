// SPDX-License-Identifier: BSD-3-Clause
// Compose: stages that fit together (rules.h) become the pipeline of one element type.
#pragma once

#include <memory>
#include <utility>

#include "leeway/codec/pipeline.h"
#include "leeway/encode/raw.h"
#include "leeway/join/predict_first.h"
#include "leeway/join/quantize_first.h"
#include "leeway/join/rules.h"
#include "leeway/join/set_apart.h"
#include "leeway/join/transform_first.h"

namespace leeway {

// Predictor (or none) and quantizer, joined. integers<I>() gives the predictor after a quantizer
// whose integers are I (integers.h).
template <class T, Order order, class P, class Q, class MakeIntegers>
std::unique_ptr<Join<T>> joined(const P& predictor, const Q& quantizer,
                                const MakeIntegers& integers) {
  static_assert(broken_by<T, P, Q>(order) == Rule::none);
  if constexpr (P::kTraits.transforms) {
    return std::make_unique<TransformFirst<T, P>>(predictor);
  } else if constexpr (Q::kTraits.by_value) {
    using Grids = typename Q::Grids;
    return std::make_unique<PredictFirst<T, P, Grids>>(predictor, Grids(), true);
  } else if constexpr (order == Order::predict_first) {
    return as_quantized<T>(std::make_unique<PredictFirst<T, P, Q>>(predictor, quantizer),
                           quantizer);
  } else {
    return as_quantized<T>(
        std::make_unique<QuantizeFirst<T, Q>>(quantizer, integers.template operator()<Code<T>>(),
                                              integers.template operator()<i16>()),
        quantizer);
  }
}

// A pipeline of this join. Until another encoder is added, codes are written as they are.
template <class T>
Pipeline<T> pipeline_of(std::unique_ptr<Join<T>> join) {
  Pipeline<T> pipeline;
  pipeline.join = std::move(join);
  pipeline.encoder = erase_encoder(Raw());
  return pipeline;
}

// Adds one of the other stages, in order.
template <class T, class S>
void add_stage(Pipeline<T>& pipeline, const S& stage) {
  if constexpr (S::kKind == Kind::preprocessor)
    pipeline.preprocessors.push_back(erase_preprocessor<T>(stage));
  else if constexpr (S::kKind == Kind::encoder)
    pipeline.encoder = erase_encoder(stage);
  else if constexpr (S::kKind == Kind::lossless)
    pipeline.lossless.push_back(erase_lossless(stage));
}

}  // namespace leeway
