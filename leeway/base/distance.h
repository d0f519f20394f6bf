// SPDX-License-Identifier: BSD-3-Clause
// Distance: how far apart two values are, without overflow, and never smaller than it really is.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "leeway/base/types.h"

namespace leeway {

template <std::integral T>
constexpr u64 distance(T a, T b) {
  return a > b ? u64(a) - u64(b) : u64(b) - u64(a);
}

// As a double, rounded up.
inline double rounded_up(u64 distance) {
  if (distance <= u64(1) << 53) return double(distance);
  const auto nearest = double(distance);
  const bool is_below = nearest < 0x1p64 && u64(nearest) < distance;
  return is_below ? std::nextafter(nearest, std::numeric_limits<double>::infinity()) : nearest;
}
inline double rounded_down(u64 distance) {
  const auto nearest = double(distance);
  return nearest >= 0x1p64 || u64(nearest) > distance ? std::nextafter(nearest, 0.0) : nearest;
}

// |a - b| in double, rounded up: it exceeds another double exactly if |a - b| does.
template <class T>
double error_between(T a, T b) {
  if constexpr (is_floating<T>) {
    const double x = double(a), y = -double(b), sum = x + y, error = std::abs(sum);
    // The exact rounding error of the addition [Knuth, TAOCP 2, 4.2.2].
    const double of_y = sum - x, lost = (x - (sum - of_y)) + (y - of_y);
    const bool is_below = lost != 0 && (lost < 0) == (sum < 0);
    return is_below ? std::nextafter(error, std::numeric_limits<double>::infinity()) : error;
  } else {
    return rounded_up(distance(a, b));
  }
}

// |a - b| as SIMD code computes it, in the type of the values: off by at most half a unit in the
// last place.
template <class T>
double rounded_error(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return double(std::abs(a - b));
  else
    return error_between(a, b);
}

// The error to state if this is the largest rounded error: at least the largest true error, and at
// most the bound that all errors were checked against.
template <class T>
double stated_error(double largest, double bound) {
  if constexpr (std::is_floating_point_v<T>)
    if (largest > 0 && largest <= bound * (1 + 0x1p-20))
      return std::min(bound,
                      double(std::nextafter(T(largest), std::numeric_limits<T>::infinity())));
  return largest;
}

}  // namespace leeway
