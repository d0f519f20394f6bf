// SPDX-License-Identifier: BSD-3-Clause
// Quantities of several variables as further pairs, so that a report looks at them, too.
#pragma once

#include <string>
#include <vector>

#include "tools/pair_files.h"

namespace leeway::cli {

// Those asked for; if there are none, what is customary for the components of a vector, as long as
// they are not large.
std::vector<OpenPair> derived_pairs(const std::vector<OpenPair>& pairs,
                                    const std::vector<std::string>& asked, unsigned threads);

}  // namespace leeway::cli
