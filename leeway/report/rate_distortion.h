// SPDX-License-Identifier: BSD-3-Clause
// Rate and distortion: what bounds and presets would make of a field, tried on a part of it.
#pragma once

#include <string>
#include <vector>

#include "leeway/base/export.h"
#include "leeway/quality/pair.h"

namespace leeway::report {

struct RatePoint {
  std::string preset;
  double bound = 0;  // absolute
  double bits = 0;   // per value
  double psnr = 0;   // by the range of the part
  // log2(standard deviation / RMSE) - bits: how many bits of precision a value has more than bits
  // were paid for it.
  double accuracy_gain = 0;
};

// Five bounds around `bound`, each a quarter of the one before, with every preset.
std::vector<RatePoint> rate_distortion(const Pair& pair, double bound,
                                                     const Execution& execution);

}  // namespace leeway::report
