// SPDX-License-Identifier: BSD-3-Clause
// Region: a part of an array as users write it.
#pragma once

#include "tools/cli.h"

namespace leeway::cli {

// "0:10,:,250": a range, everything, or one index for each axis; missing axes are whole.
struct Region {
  Box box;
  Shape shown;  // without the axes of which one index was asked for
};
Region parse_region(const std::string& text, const Shape& shape);
RegionBound parse_region_bound(const std::string& text, const Shape& shape);  // "0:10,:=1e-6"

}  // namespace leeway::cli
