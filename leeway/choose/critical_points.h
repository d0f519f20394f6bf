// SPDX-License-Identifier: BSD-3-Clause
// Critical points: places where a vector field vanishes. Grid cells are cut into simplices (two
// triangles, or six tetrahedra, along the diagonal); under linear interpolation a simplex holds a
// critical point if the origin lies inside the simplex that the vectors at its corners form.
//
// A vector field has two components on a grid of two axes or three on one of three; the components
// are its first axis or its last.
#pragma once

#include <vector>

#include "leeway/engine/engine.h"

namespace leeway {

// Throws Error unless the array can be a vector field.
void check_vector_field(const View& field);

// Bounds for every value, in row-major order and none above `most`, under which no simplex wins or
// loses a critical point (docs/notes/papers.md, "cpSZ").
std::vector<float> critical_point_bounds(const View& field, double most,
                                         const Execution& execution);

struct CriticalPoints {
  u64 before = 0, after = 0;
  u64 lost = 0, gained = 0;  // number of simplices that lost or won a critical point
};
CriticalPoints compare_critical_points(const View& original, const View& other);

}  // namespace leeway
