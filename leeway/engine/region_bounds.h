// SPDX-License-Identifier: BSD-3-Clause
// Region bounds: where errors must be smaller than elsewhere, in boxes or value by value.
#pragma once

#include <vector>

#include "leeway/engine/engine.h"

namespace leeway {

// Throws unless `bounds` can hold a bound for each value of an array of this shape.
void check_bounds(const View& bounds, const Shape& shape);
std::vector<double> bounds_of(const View& view);

// Checks the regions and bounds of the options and returns the regions that the header states. If
// the codec has one bound for a chunk, bounds value by value become a region for every chunk, with
// the smallest bound in it; otherwise the whole array is one region, with the largest bound.
std::vector<RegionBound> stated_regions(const CompressOptions& options, const Header& header,
                                        bool is_by_value);

// The bound of every value in a chunk; none is larger than `bound`.
std::vector<double> bounds_in(const CompressOptions& options, const Box& chunk, double bound);

}  // namespace leeway
