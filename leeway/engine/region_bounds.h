// SPDX-License-Identifier: BSD-3-Clause
// Region bounds: where errors must be smaller than elsewhere, in boxes or value by value.
#pragma once

#include <vector>

#include "leeway/engine/engine.h"

namespace leeway {

// Throws unless these can be bounds value by value for an array of this shape.
void check_bounds(const View& bounds, const Shape& shape);
std::vector<double> bounds_of(const View& view);

// What the header says of them, checked. A codec that knows one bound at a time gives all values of
// a chunk the smallest of theirs, so that there is a region for every chunk; with bounds value by
// value, the array is one region, under the largest.
std::vector<RegionBound> stated_regions(const CompressOptions& options, const Header& header,
                                        bool is_by_value);

// The bound of every value in a chunk, none above `bound`.
std::vector<double> bounds_in(const CompressOptions& options, const Box& chunk, double bound);

}  // namespace leeway
