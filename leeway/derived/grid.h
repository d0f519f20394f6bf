// SPDX-License-Identifier: BSD-3-Clause
// Grid: the values of several variables at the same points, as doubles, and how all points are
// visited on several threads with the same result for any number of them.
#pragma once

#include <functional>
#include <vector>

#include "leeway/base/field.h"
#include "leeway/derived/expression.h"
#include "leeway/engine/engine.h"

namespace leeway::derived {

// One array a variable, in row-major order. Of values: NaN where they are special.
struct Grid {
  Shape shape;
  std::vector<std::vector<double>> of;
};

// Throws for integers of 64 bits, which no double holds.
std::vector<double> values_of(const View& view, const std::vector<u64>& fills);

// Calls f for boxes that make up the grid. If `reach` is not 0, boxes that are worked on at the
// same time lie so far apart that steps of that length from them do not meet.
void for_each_box(const Shape& shape, size_t reach, const Execution& execution,
                  const std::function<void(const Box&, u64 ordinal)>& f);
u64 boxes_of(const Shape& shape, size_t reach);
// The longest way from a point to a value that it takes.
size_t reach_of(const Expression& expression);

// Calls f(index) for every index of a box.
template <class F>
void for_each_point(const Box& box, F&& f) {
  for_each_outer(box.shape, 0, [&](const Index& inside) {
    Index point = box.first;
    for (size_t axis = 0; axis < box.shape.rank(); ++axis) point[axis] += inside[axis];
    f(std::as_const(point));
  });
}

// The values that an expression takes at a point; says whether all are ordinary ones.
inline bool take(const Expression& expression, const Expression::Place& place, const Grid& grid,
                 double* values) {
  bool is_ordinary = true;
  for (size_t s = 0; s < expression.slots().size(); ++s) {
    values[s] = grid.of[expression.slots()[s].variable][size_t(place.offset[s])];
    is_ordinary &= !std::isnan(values[s]);
  }
  return is_ordinary;
}

}  // namespace leeway::derived
