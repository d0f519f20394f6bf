// SPDX-License-Identifier: BSD-3-Clause
// Blocks: whether an array consists of the blocks that electron repulsion integrals come in, and of
// which shape they are.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "leeway/engine/engine.h"

namespace leeway {

struct BlockShape {
  size_t rows, columns;
};

// Rows of a block are nearly multiples of each other, so that values a row apart are alike and
// those a little more or less apart are not. The number of rows is the one that makes the blocks
// smallest at the step between decoded values, which is asked for only if there are blocks at all.
std::optional<BlockShape> integral_blocks(const View& array, const std::function<double()>& step);

// The recipe for this array: the presets `balanced`, `small` and `smallest` with `cross` as one
// more alternative where there are such blocks; `eri`, and `cross` without parameters, with the
// shape of the blocks.
std::string recipe_for_blocks(const std::string& recipe, const View& array,
                              const CompressOptions& options);

}  // namespace leeway
