// SPDX-License-Identifier: BSD-3-Clause
// Fills: the fill values that a caller declares.
#pragma once

#include <vector>

#include "leeway/engine/engine.h"

namespace leeway {

// Returns them as bit patterns of the array's type. Throws if the type does not have one of them.
std::vector<u64> declared_fills(const CompressOptions& options, DType dtype);

}  // namespace leeway
