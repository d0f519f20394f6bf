// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/codec/make_typed.h"

namespace leeway {

template <class I>
std::unique_ptr<Integers<I>> make_integers(const StageCall* predictor) {
  if (!predictor) return integers_of<I>(NoPredictor());
  std::unique_ptr<Integers<I>> integers;
  with_stage(Predictors{}, *predictor, [&](const auto& p) { integers = integers_of<I>(p); });
  return integers;
}

template std::unique_ptr<Integers<i16>> make_integers<i16>(const StageCall*);
template std::unique_ptr<Integers<i32>> make_integers<i32>(const StageCall*);
template std::unique_ptr<Integers<i64>> make_integers<i64>(const StageCall*);

}  // namespace leeway
