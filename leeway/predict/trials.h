// SPDX-License-Identifier: BSD-3-Clause
// Trials: how a predictor that goes from coarse to fine finds its settings.
#pragma once

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

// How bounds of levels may shrink from fine to coarse (tightening_at()).
struct Tightness {
  double alpha, beta;
};
inline constexpr Tightness kTightness[] = {{1, 1}, {1.25, 2}, {1.5, 3}};

// About `values` values from the middle of an array; short axes are kept whole. With more than
// three axes, the two fastest stay at least 32 long. In smaller slices interpolation has no chance,
// and a trial would always reject freezing the slow axes.
LEEWAY_EXPORT Sample middle_sample(const Shape& shape, u64 values);

}  // namespace leeway
