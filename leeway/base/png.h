// SPDX-License-Identifier: BSD-3-Clause
// PNG: a picture with a palette, written as a file.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "leeway/base/types.h"

namespace leeway {

using Rgb = std::array<u8, 3>;

// `pixels`: numbers of colors, row by row; at most 256 colors.
std::vector<u8> png(u32 width, u32 height, std::span<const u8> pixels,
                    std::span<const Rgb> palette);

}  // namespace leeway
