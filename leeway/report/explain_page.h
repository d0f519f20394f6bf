// SPDX-License-Identifier: BSD-3-Clause
// Explain page: what the stages of a recipe have made of an array, as one HTML file.
#pragma once

#include <string>
#include <vector>

#include "leeway/base/export.h"
#include "leeway/choose/explain.h"

namespace leeway::report {

// With more of it if the array is at hand.
std::string explain_page(const std::string& title, const Explanation& found,
                                       const View* array = nullptr,
                                       const std::vector<PredictorCost>& costs = {},
                                       const StageTimes& times = {});

}  // namespace leeway::report
