// SPDX-License-Identifier: BSD-3-Clause
// Fills: the fill values that a caller declares, and the range of all other values.
#pragma once

#include <vector>

#include "leeway/engine/engine.h"
#include "leeway/engine/summary.h"

namespace leeway {

// Returns them as bit patterns of the array's type. Throws if the type does not have one of them.
std::vector<u64> declared_fills(const CompressOptions& options, DType dtype);

// The range of an array whose values have this summary; value_range() of an array in one piece.
std::optional<ValidRange> range_of_summary(const Summary& all, DType dtype,
                                           const CompressOptions& options);

}  // namespace leeway
