// SPDX-License-Identifier: BSD-3-Clause
// What the axes of a variable are, as the coordinates of its file tell.
#pragma once

#include <vector>

#include "leeway/report/facts.h"
#include "tools/h5.h"

namespace leeway::cli::h5 {

// One for each axis; without a name where the file tells nothing of it.
std::vector<report::Axis> axes_of(const Variable& variable);

}  // namespace leeway::cli::h5
