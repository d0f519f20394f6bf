// SPDX-License-Identifier: BSD-3-Clause
// Precision: how precise numbers are already, and how much of them is noise.
#pragma once

#include <vector>

#include "leeway/engine/engine.h"

namespace leeway {

struct Precision {
  u64 values = 0;                            // looked at, none of them special
  u64 distinct = 0;                          // among them
  double min = 0, max = 0, median_size = 0;  // of |x|
  // All values are multiples of it, from some value on; 0: no step is found. A bound below half of
  // it buys nothing.
  double step = 0;
  unsigned decimals = 0;  // the step is 10^-decimals, if has_decimals
  bool has_decimals = false;
  int mantissa_bits = 0;            // of the type
  int used_bits = 0;                // of the mantissa; the rest is 0 in all values
  int informative_bits = 0;         // that hold 99 % of the information neighbours share
  bool is_float_in_double = false;  // every f64 is an f32
  double noise = 0;                 // standard deviation of what is not smooth; 0: none is found
  // Sign-definite and spread over more than three orders of magnitude: a bound relative to each
  // value suits better than an absolute one.
  bool wants_pointwise = false;
};

Precision precision_of(const View& array, const std::vector<u64>& fills);

}  // namespace leeway
