// SPDX-License-Identifier: BSD-3-Clause
// Sight: where the recipe depends on the values (auto, or a preset under psnr or l2), one rank sees
// of an array on many ranks what one process would see of the whole, and chooses for all.
#pragma once

#include "leeway/parallel/held_chunks.h"

namespace leeway::parallel {

// The recipe that one process would take for the whole array. Collective. Throws if a choice needs
// the whole array.
std::string recipe_for_all(const Team& team, DType dtype, const Shape& shape,
                           std::span<const Held> held, std::span<const Block> blocks,
                           const CompressOptions& options);

}  // namespace leeway::parallel
