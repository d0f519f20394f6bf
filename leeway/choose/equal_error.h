// SPDX-License-Identifier: BSD-3-Clause
// Equal error: whether the transform makes a smaller stream than a preset does where squared errors
// have a limit.
#pragma once

#include <string>

#include "leeway/choose/choose.h"

namespace leeway {

// Whether the options name a preset and limit squared errors, so that a trial is worth it.
bool is_tried_at_equal_error(const Shape& shape, const CompressOptions& options);

// The recipe for a preset under a limit on squared errors (psnr, l2), by a trial on a part of the
// array at the error that the whole may have; options.recipe in all other cases.
std::string recipe_at_equal_error(const Sight& array, const CompressOptions& options);

}  // namespace leeway
