// SPDX-License-Identifier: BSD-3-Clause
// Distance: how far apart two values are, without overflow.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "leeway/core/types.h"

namespace leeway {

template <std::integral T>
constexpr u64 distance(T a, T b) {
  return a > b ? u64(a) - u64(b) : u64(b) - u64(a);
}

// |a - b| in double; exact for distances of integers below 2^53, and for floats.
template <class T>
double error_between(T a, T b) {
  if constexpr (is_floating<T>)
    return std::abs(double(a) - double(b));
  else
    return double(distance(a, b));
}

// The same as SIMD takes it, in the type: rounded, so never more than half a unit of the last place
// off.
template <class T>
double rounded_error(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return double(std::abs(a - b));
  else
    return error_between(a, b);
}

// What to state if this is the largest rounded error: not less than the largest error, and not more
// than the bound that all were checked against.
template <class T>
double stated_error(double largest, double bound) {
  if constexpr (std::is_floating_point_v<T>)
    if (largest > 0 && largest <= bound * (1 + 0x1p-20))
      return std::min(bound,
                      double(std::nextafter(T(largest), std::numeric_limits<T>::infinity())));
  return largest;
}

}  // namespace leeway
