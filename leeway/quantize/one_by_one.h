// SPDX-License-Identifier: BSD-3-Clause
// One by one: the array forms of a grid that has no faster ones.
#pragma once

#include <algorithm>

#include "leeway/base/distance.h"
#include "leeway/stage/stage.h"

namespace leeway {

template <class T, class Grid>
double quantize_one_by_one(const Grid& grid, std::span<T> values, std::span<Code<T>> codes,
                           Patches<T>& exact, size_t first, Code<T> before) {
  double max_error = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const T x = values[i];
    if (grid.quantize(values[i], Predicted<T>(0), codes[i])) {
      max_error = std::max(max_error, rounded_error(x, values[i]));
    } else {
      exact.add(first + i, x);
      codes[i] = before;
    }
    before = codes[i];
  }
  return max_error;
}

template <class T, class Grid>
void recover_one_by_one(const Grid& grid, std::span<const Code<T>> codes, std::span<T> values) {
  for (size_t i = 0; i < codes.size(); ++i) values[i] = grid.recover(Predicted<T>(0), codes[i]);
}

}  // namespace leeway
