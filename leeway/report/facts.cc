// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/report/facts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "leeway/report/text.h"

namespace leeway::report {
namespace {

bool is_latitude(const Axis& axis) {
  constexpr std::array kUnits = {"degrees_north", "degree_north", "degree_N",
                                 "degrees_N",     "degreeN",      "degreesN"};
  const bool is_named = axis.name == "lat" || axis.name == "latitude" || axis.name == "nav_lat";
  return std::ranges::find(kUnits, axis.units) != kUnits.end() || is_named;
}

}  // namespace

std::string place_text(const Facts& facts, const Shape& shape, const Index& index) {
  std::string out = "[", known;
  for (size_t k = 0; k < shape.rank(); ++k) out += (k ? ", " : "") + std::to_string(index[k]);
  for (size_t k = 0; k < std::min(shape.rank(), facts.axes.size()); ++k) {
    const Axis& axis = facts.axes[k];
    if (index[k] >= axis.values.size()) continue;
    known += (known.empty() ? "" : ", ") + axis.name + " " + number(axis.values[index[k]], 7);
    // Units of longitude and of time ("hours since ...") are told by the name already.
    if (!axis.units.empty() && axis.units.find(' ') == axis.units.npos &&
        !axis.units.starts_with("degree") && axis.units != "1")
      known += " " + axis.units;
  }
  return out + "]" + (known.empty() ? "" : " (" + known + ")");
}

AreaWeights area_weights(const Facts& facts) {
  const auto found = std::ranges::find_if(facts.axes, is_latitude);
  AreaWeights weights;
  if (found == facts.axes.end()) return weights;
  weights.axis = size_t(found - facts.axes.begin());
  for (const double degrees : found->values) {
    if (!(std::abs(degrees) <= 90.001)) return {};
    weights.values.push_back(std::max(0.0, std::cos(degrees * (std::numbers::pi / 180))));
  }
  return weights;
}

}  // namespace leeway::report
