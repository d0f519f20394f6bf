// SPDX-License-Identifier: BSD-3-Clause
// Profile: what a report counts for the scientists of a field.
#pragma once

#include <string>
#include <string_view>

#include "leeway/base/export.h"
#include "leeway/quality/features.h"
#include "leeway/report/facts.h"

namespace leeway::report {

Profile parse_profile(std::string_view name);  // throws with the names of all
std::string profile_names();                   // "generic, climate, ..."

// With thresholds that are customary for the profile and the unit of the variable if none are
// given; where there are none, quantiles of a part of the original.
FeatureAim feature_aim(Profile profile, const std::vector<double>& levels,
                                     const Facts& facts, const Pair& pair);

}  // namespace leeway::report
