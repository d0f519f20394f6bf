// SPDX-License-Identifier: BSD-3-Clause
// Equal error: whether the transform makes a smaller stream than a preset does where squared errors
// have a limit.
#pragma once

#include <string>

#include "leeway/engine/engine.h"

namespace leeway {

// The recipe for a preset under a limit on squared errors (psnr, l2), by a trial on a part of the
// array at the error that the whole may have; options.recipe in all other cases.
std::string recipe_at_equal_error(const View& array, const CompressOptions& options);

}  // namespace leeway
