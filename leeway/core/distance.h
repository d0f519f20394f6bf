// SPDX-License-Identifier: BSD-3-Clause
// Distance: how far apart two values are, without overflow.
#pragma once

#include <cmath>

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

}  // namespace leeway
