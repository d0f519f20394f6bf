// SPDX-License-Identifier: BSD-3-Clause
// Compare: how far one array is from another, in the measures scientists ask for.
#pragma once

#include <vector>

#include "leeway/base/field.h"

namespace leeway {

// Over the values that are finite in both arrays and no fill values, unless said otherwise. The
// first array is the original; its range is that of its finite values. Differences of integers are
// exact, and the largest error is rounded up: it exceeds a bound exactly if an error does.
struct Comparison {
  u64 values = 0, compared = 0;
  // Special values that did not come back bit for bit, and other values that became special.
  u64 special_mismatches = 0;
  double min = 0, max = 0;   // of the original
  double max_abs = 0;        // max |x - y|
  double max_rel = 0;        // max_abs / (max - min)
  double max_pointwise = 0;  // max |x - y| / |x|, where x != 0
  double mean_error = 0;     // of x - y: bias
  double rmse = 0;           // sqrt(mean (x - y)^2)
  double nrmse = 0;          // rmse / (max - min)
  double psnr = 0;           // 20 log10((max - min) / rmse); infinite without error
  double l2 = 0;             // sqrt(sum (x - y)^2)
  double pearson = 0;        // correlation coefficient; 1 if both are constant
  double ssim = 0;           // mean structural similarity, 7x7 windows over the last two axes
};

// The arrays must have the same type and shape. `fills` are bit patterns to be treated as special.
// SSIM takes longer than all the rest; without it the field stays 0.
Comparison compare(const View& original, const View& other, const std::vector<u64>& fills = {},
                   bool with_ssim = true);

// The number of values whose error is larger than their bound in `bounds` (f32 or f64).
u64 count_beyond(const View& original, const View& other, const View& bounds,
                 const std::vector<u64>& fills = {});

}  // namespace leeway
