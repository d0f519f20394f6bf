// SPDX-License-Identifier: BSD-3-Clause
// Squared error: the bound with which an array keeps limits on the sum of squared errors.
#pragma once

#include "leeway/engine/job.h"

namespace leeway {

// Returns the largest absolute bound up to `cap`, of those tried, that keeps every psnr and l2
// limit, found by measuring; 0 if only no loss does.
double bound_for_squared_error(const Job& job, double cap);

}  // namespace leeway
