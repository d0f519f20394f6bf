// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quality/distribution.h"

#include <algorithm>
#include <cmath>

#include "leeway/quality/moments.h"

namespace leeway {
namespace {

constexpr size_t kBins = 101, kErrorQuantiles = 51;

// The largest distance between the distribution functions of two sorted series of equal length.
double largest_distance(std::span<const double> x, std::span<const double> y) {
  size_t i = 0, j = 0, largest = 0;
  while (i < x.size() && j < y.size()) {
    const double next = std::min(x[i], y[j]);
    while (i < x.size() && x[i] == next) ++i;
    while (j < y.size() && y[j] == next) ++j;
    largest = std::max(largest, i > j ? i - j : j - i);
  }
  return double(largest) / double(x.size());
}

// Kolmogorov's distribution: the probability of a value larger than t.
double kolmogorov(double t) {
  if (t <= 0.2) return 1;
  double sum = 0;
  for (int k = 1; k <= 100; ++k) {
    const double term = std::exp(-2.0 * k * k * t * t);
    sum += k % 2 ? term : -term;
    if (term < 1e-18 * std::abs(sum)) break;
  }
  return std::clamp(2 * sum, 0.0, 1.0);
}

}  // namespace

double quantile(std::span<const double> sorted, double part) {
  const double place = part * double(sorted.size() - 1);
  const auto below = size_t(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (place - double(below)) * (sorted[below + 1] - sorted[below]);
}

Distribution distribution_of(std::vector<double>& x, std::vector<double>& y, std::vector<double>& e,
                             double limit) {
  Distribution d;
  d.count = x.size();
  d.limit = limit;
  d.histogram.resize(kBins);
  if (x.empty()) return d;
  std::ranges::sort(x);
  std::ranges::sort(y);
  std::ranges::sort(e);
  for (size_t i = 0; i < kQuantiles.size(); ++i)
    d.original[i] = quantile(x, kQuantiles[i]), d.decoded[i] = quantile(y, kQuantiles[i]);
  for (size_t i = 0; i < kErrorQuantiles; ++i)
    d.error_quantiles.push_back(quantile(e, (double(i) + 0.5) / double(kErrorQuantiles)));
  d.ks_distance = largest_distance(x, y);
  d.ks_probability = kolmogorov(d.ks_distance * std::sqrt(double(x.size()) / 2));
  CompensatedSum apart;
  for (size_t i = 0; i < x.size(); ++i) apart.add(std::abs(x[i] - y[i]));
  d.wasserstein = apart.value() / double(x.size());
  for (const double error : e) {
    const double place = limit > 0 ? (error / limit + 1) / 2 * double(kBins) : double(kBins) / 2;
    ++d.histogram[size_t(std::clamp(place, 0.0, double(kBins - 1)))];
  }
  return d;
}

}  // namespace leeway
