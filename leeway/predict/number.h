// SPDX-License-Identifier: BSD-3-Clause
// Number: the floating type in which predictors with weights compute, and the way back.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "leeway/base/types.h"

namespace leeway {

template <class T>
using Number = std::conditional_t<std::is_same_v<T, double> || (!is_floating<T> && sizeof(T) > 2),
                                  double, float>;

// A prediction as the quantizer wants it: integers are rounded, halves up, and kept in range.
template <class T>
Predicted<T> predicted_as(Number<T> p) {
  if constexpr (is_floating<T>) {
    return p;
  } else {
    constexpr double lowest = double(std::numeric_limits<T>::min());
    constexpr double highest = double(std::numeric_limits<T>::max());
    if (!(p > lowest)) return Predicted<T>(std::numeric_limits<T>::min());
    if (!(p < highest)) return Predicted<T>(std::numeric_limits<T>::max());
    const double down = std::floor(double(p));
    return Predicted<T>(T(double(p) - down < 0.5 ? down : down + 1));
  }
}

// The bound of a level as a part of the finest one's: 1 / min(alpha^level, beta).
inline double tightening_at(size_t level, double alpha, double beta) {
  double factor = 1;
  for (size_t i = 0; i < level && factor < beta; ++i) factor *= alpha;
  return 1 / std::min(factor, beta);
}

}  // namespace leeway
