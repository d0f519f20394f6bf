// SPDX-License-Identifier: BSD-3-Clause
// The loop of prediction and quantization with and without waves, for tests and benchmarks.
#pragma once

#include <algorithm>
#include <vector>

#include "leeway/core/distance.h"
#include "leeway/predict/wavefront.h"
#include "leeway/quantize/linear.h"

namespace leeway::test {

template <class T>
struct Loop {
  LinearGrid<T> grid;
  bool uses_waves, decodes_now = false;
  std::vector<Code<T>> codes{};  // in the order of the walk
  size_t done = 0;               // of them
  double max_error = 0;
  size_t without_code = 0, waves = 0;

  void point(T& value, Predicted<T> p) {
    if (decodes_now) {
      value = grid.recover(p, codes[done++]);
      return;
    }
    const T x = value;
    Code<T> code = 0;
    if (!grid.quantize(value, p, code)) ++without_code;
    max_error = std::max(max_error, error_between(x, value));
    put(code);
  }
  void keep(T&, Predicted<T> = {}) { decodes_now ? void(++done) : put(0); }
  bool wave(const Wave<T>& rows) {
    if (!uses_waves) return false;
    std::vector<Code<T>> found(rows.size());
    const size_t border = rows.has_border, length = rows.length + border;
    for (size_t r = 0; decodes_now && r < rows.rows; ++r)
      std::copy_n(codes.data() + done + r * length + border, rows.length,
                  found.data() + r * rows.length);
    if (!(decodes_now ? recover_wave(grid, rows, found.data())
                      : quantize_wave(grid, rows, found.data(), max_error)))
      return false;
    ++waves;
    for (size_t r = 0; r < rows.rows; ++r) {
      if (border) keep(rows.border(r));
      for (size_t j = 0; j < rows.length; ++j)
        decodes_now ? void(++done) : put(found[r * rows.length + j]);
    }
    return true;
  }

 private:
  void put(Code<T> code) {
    if (codes.size() == done)
      codes.push_back(code);
    else
      codes[done] = code;
    ++done;
  }
};

}  // namespace leeway::test
