// SPDX-License-Identifier: BSD-3-Clause
// The loop of prediction and quantization with and without waves, for tests and benchmarks.
#pragma once

#include <algorithm>
#include <vector>

#include "leeway/base/distance.h"
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
    max_error = std::max(max_error, rounded_error(x, value));
    put(code);
  }
  void exact(T&, Predicted<T> = {}) { decodes_now ? void(++done) : put(0); }
  bool wave(const Wave<T>& rows) {
    if (!uses_waves) return false;
    codes.resize(std::max(codes.size(), done + rows.size_with_border()));
    if (!rows.has_border) {
      if (!run(rows, codes.data() + done)) return false;
      done += rows.size();
    } else {
      std::vector<Code<T>> found(rows.size());
      for (size_t r = 0; r < rows.rows; ++r)
        std::copy_n(row_codes(rows, r), rows.length, found.data() + r * rows.length);
      if (!run(rows, found.data())) return false;
      for (size_t r = 0; r < rows.rows; ++r)
        std::copy_n(found.data() + r * rows.length, rows.length, row_codes(rows, r));
      done += rows.size_with_border();
    }
    ++waves;
    return true;
  }

 private:
  bool run(const Wave<T>& rows, Code<T>* found) {
    return decodes_now ? recover_wave(grid, rows, found)
                       : quantize_wave(grid, rows, found, max_error);
  }
  // Of a row behind its border, whose own code is 0.
  Code<T>* row_codes(const Wave<T>& rows, size_t row) {
    return codes.data() + done + row * (rows.length + 1) + 1;
  }
  void put(Code<T> code) {
    if (codes.size() == done)
      codes.push_back(code);
    else
      codes[done] = code;
    ++done;
  }
};

}  // namespace leeway::test
