// SPDX-License-Identifier: BSD-3-Clause
// Trials: how a predictor that goes from coarse to fine finds its settings.
#pragma once

#include <functional>

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

// Whether an array looks as if certain settings had made it: then they leave it as it is. Tried is
// what a walk codes first: the first value, which has the bound of the level `top`; the coarse
// levels of the first slice along frozen axes; then more and more slices. This ends with the whole
// array if it is small, or when enough values have a code that is not 0. `ask` tries the settings
// on a sample whose finest level is level `first_level` of the array.
LEEWAY_EXPORT bool looks_made(const Shape& shape, u32 frozen, size_t top,
                              const std::function<Trial(size_t first_level, const Sample&)>& ask);

template <class P, class Try>
bool looks_made_by(const P& settings, const Shape& shape, u32 frozen, const Try& trial) {
  const size_t top = settings.level_of_first(shape);
  return looks_made(shape, frozen, top, [&](size_t first_level, const Sample& sample) {
    P part = settings;
    part.first_level = first_level;
    return trial(part, sample);
  });
}

}  // namespace leeway
