// SPDX-License-Identifier: BSD-3-Clause
// What the conventions for netCDF files (CF, UGRID) mark as a description of other variables:
// coordinates, cell bounds, meshes, flags. Nothing of that may be altered unless it is named.
#pragma once

#include <map>
#include <string>

#include "tools/h5.h"

namespace leeway::cli::h5 {

// The paths of the variables that describe others, each with the reason.
std::map<std::string, std::string> descriptions(const File& file);

}  // namespace leeway::cli::h5
