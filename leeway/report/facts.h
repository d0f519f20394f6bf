// SPDX-License-Identifier: BSD-3-Clause
// Facts: what is known about a variable besides its values.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "leeway/base/export.h"
#include "leeway/base/shape.h"

namespace leeway::report {

// An axis of an array and its coordinates.
struct Axis {
  std::string name, units;
  std::vector<double> values;  // empty: not known
};

struct Facts {
  std::string name, units, long_name, standard_name;
  std::string bound_asked;  // "rel=0.001"; empty: not known
  double bound = 0;         // absolute, in the unit of the variable; 0: not known
  std::string recipe;
  u64 original_bytes = 0, compressed_bytes = 0;  // 0: not known
  std::vector<Axis> axes;                        // one for each axis, or none
  std::vector<std::pair<std::string, std::string>> provenance;
};

// "[3, 20, 7]", and the coordinates of the place where they are known: "(lev 500 hPa, lat 12.5)".
std::string place_text(const Facts& facts, const Shape& shape, const Index& index);

// How much of the area of a regular grid each index of an axis stands for: the cosine of the
// latitude.
struct AreaWeights {
  size_t axis = 0;
  std::vector<double> values;  // empty: no axis is a latitude
};
AreaWeights area_weights(const Facts& facts);

}  // namespace leeway::report
