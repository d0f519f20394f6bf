// SPDX-License-Identifier: BSD-3-Clause
// Keep: whether decoded values keep a promise, and smaller bounds where they do not.
#pragma once

#include "leeway/base/export.h"
#include "leeway/derived/grid.h"
#include "leeway/derived/promise.h"

namespace leeway::derived {

struct Kept {
  std::string text;
  double bound = 0;    // absolute
  double reached = 0;  // the largest error, not below the true one; infinite: something that was
                       // not defined or had to stay has changed
  u64 compared = 0, beyond = 0;  // points, means or sums
  Index worst{};                 // of a quantity at points: where that is
  bool holds() const { return beyond == 0; }
};

// Compares the original with what was decoded. Interval arithmetic covers the rounding of the
// calculation itself, so what holds here holds for real numbers. With `bounds`, those of the values
// that break the promise become smaller.
LEEWAY_EXPORT Kept check(const Promise& promise, double bound, const Grid& original,
                         const Grid& decoded, const Execution& execution, Grid* bounds = nullptr);

}  // namespace leeway::derived
