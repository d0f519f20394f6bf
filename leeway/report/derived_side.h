// SPDX-License-Identifier: BSD-3-Clause
// A quantity of several arrays as a side of a pair: a report looks at wind speed, vorticity or
// whatever an expression says as it looks at a variable.
#pragma once

#include <string>
#include <vector>

#include "leeway/base/export.h"
#include "leeway/quality/pair.h"

namespace leeway::report {

// The variables that a quantity takes, by their number, in the order in which it names them. Throws
// where the text makes no sense or names others.
std::vector<size_t> variables_in(const std::string& quantity,
                                               const std::vector<std::string>& names);

// Of these variables, which have one shape. Its values are f64, NaN where the quantity is not
// defined or a value that it takes is special.
PairSide derived_side(const std::string& quantity, std::vector<PairSide> variables,
                                    const Shape& shape, unsigned threads);

// Quantities that are customary for components of a vector: vorticity and divergence of "u" and
// "v", "ua" and "va", "u10" and "v10", "uo" and "vo"; with braces around other names.
std::vector<std::string> customary_quantities(const std::vector<std::string>& names);

}  // namespace leeway::report
