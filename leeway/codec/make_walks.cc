// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/codec/make_typed.h"

namespace leeway {

template <class I>
std::unique_ptr<Join<I>> make_walk(const StageCall& predictor) {
  std::unique_ptr<Join<I>> walk;
  with_stage(Predictors{}, predictor, [&]<class P>(const P& p) {
    if constexpr (broken_by<I, P, Linear>(Order::quantize_first) == Rule::none &&
                  !IntegerPredictor<P>)
      walk = std::make_unique<PredictFirst<I, P, Linear>>(p, Linear());
  });
  return walk;
}

template std::unique_ptr<Join<i32>> make_walk<i32>(const StageCall&);
template std::unique_ptr<Join<i64>> make_walk<i64>(const StageCall&);

}  // namespace leeway
