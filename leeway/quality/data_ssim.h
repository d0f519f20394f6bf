// SPDX-License-Identifier: BSD-3-Clause
// The data SSIM of climate science, as NCAR's ldcpy defines it (ssim_fp) [Baker et al. 2022]:
// structural similarity of the numbers of a map, not of a picture of it.
//
// Both maps are scaled by their common minimum and maximum to 0 ... 1 and rounded to 256 levels.
// Means, variances and covariance are weighted by a Gaussian of 1.5 grid points in windows of
// 11 x 11; special values are left out of them. Constants are 1e-8. The mean is over all windows
// that lie inside the map and whose middle is not special.
#pragma once

#include <span>

#include "leeway/base/types.h"

namespace leeway {

// NaN if no window of 11 x 11 values fits, or all values are special.
double data_ssim(std::span<const double> x, std::span<const double> y, std::span<const u8> valid,
                 size_t rows, size_t columns);

}  // namespace leeway
