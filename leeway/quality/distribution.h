// SPDX-License-Identifier: BSD-3-Clause
// Distribution: how values and errors are distributed, from all values or a sample of them.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "leeway/base/types.h"

namespace leeway {

inline constexpr std::array kQuantiles = {0.001, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999};

struct Distribution {
  u64 count = 0;
  std::array<double, kQuantiles.size()> original{}, decoded{};  // quantiles, linear between values
  double ks_distance = 0;      // largest distance between the two distribution functions
  double ks_probability = 1;   // of a larger one by chance, for large samples [Kolmogorov]
  double wasserstein = 0;      // mean distance between values of equal rank
  std::vector<u64> histogram;  // of errors, in equal bins from -limit to limit
  double limit = 0;
  std::vector<double> error_quantiles;  // at (i + 0.5) / n: against those of a uniform one
};

// Of pairs of values and their differences, which are put into another order. `limit` is the bound
// if it is known, otherwise the largest error.
Distribution distribution_of(std::vector<double>& x, std::vector<double>& y, std::vector<double>& e,
                             double limit);

// The value below which a part of sorted values lies, linear between neighbours.
double quantile(std::span<const double> sorted, double part);

}  // namespace leeway
