// SPDX-License-Identifier: BSD-3-Clause
// Derive: bounds value by value under which a promise holds, whatever errors within them the
// decoded values have.
#pragma once

#include "leeway/derived/grid.h"
#include "leeway/derived/promise.h"

namespace leeway::derived {

// Makes bounds smaller where the promise needs it, at single points: quantities at every point,
// zeros, signs and limits. Of means and sums nothing can be said beforehand but too little: they
// are checked on decoded values (keep.h). `bound` is the absolute one of a quantity.
void derive(const Promise& promise, double bound, const Grid& values, Grid& bounds,
            const Execution& execution);

// Makes the bounds b[s] of the values x[s] so small that the expression stays within `bound` of
// what it is for x. Where it is not defined for x, the values are to stay as they are.
void shrink(const Expression& expression, const Expression::Place& place, const double* x,
            double bound, double* b);

// The difference between the largest and the smallest value of a quantity at any point; 0 if it has
// none. It is not larger than the true one.
double range_of(const Expression& expression, const Grid& values, const Execution& execution);

}  // namespace leeway::derived
