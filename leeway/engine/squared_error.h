// SPDX-License-Identifier: BSD-3-Clause
// Squared error: the bound with which an array keeps limits on the sum of squared errors.
#pragma once

#include "leeway/engine/job.h"

namespace leeway {

// Returns the largest absolute bound up to `cap`, of those tried, that keeps every psnr and l2
// limit, found by measuring; 0 if only no loss does. Leaves in the job at which bound settings were
// tried and, if the codec takes steps, the step: then the bound is the largest error met.
double bound_for_squared_error(Job& job, double cap);

}  // namespace leeway
