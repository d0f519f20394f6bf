// SPDX-License-Identifier: BSD-3-Clause
// Resolve: from the bound as it was asked for to an absolute one.
#pragma once

#include "leeway/engine/job.h"

namespace leeway {

// Finds the fill values of the array, its range and the bound of its chunks, and states them in
// the header.
void resolve(Job& job);
// The same if fill values and range are found on the way (first_look.h).
void resolve_without_looking(Job& job);

}  // namespace leeway
