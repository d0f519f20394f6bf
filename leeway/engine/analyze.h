// SPDX-License-Identifier: BSD-3-Clause
// Analyze: the range of an array's valid values, and the fill values hidden among them.
//
// A fill value is found if it is the lowest or highest finite value, occurs at least twice, lies further
// from all other values than those lie from each other, and is either a customary one (1e20, -9999, the
// netCDF default, ...) or at least 1e9 times as large as they are. With an absolute bound the others are
// taken as quantized: decoded data, compressed again, must lead to the same finding.
#pragma once

#include <vector>

#include "leeway/core/field.h"
#include "leeway/core/parallel.h"

namespace leeway {

struct Analysis {
  std::vector<u64> fills;   // declared ones first, then those found; bit patterns, zero-extended
  double min = 0, max = 0;  // of the finite values that are no fill values; both 0 if there are none
  bool any_special = false;  // NaN, infinities or fill values
};

// Declared fill values are bit patterns; none are looked for unless `detect`. `abs_bound` is 0 if not known.
Analysis analyze(const View& view, std::vector<u64> declared, bool detect, double abs_bound, unsigned threads,
                 const Executor& executor);

}  // namespace leeway
