// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quality/structure.h"

#include <cmath>
#include <limits>
#include <vector>

namespace leeway {

void Autocorrelation::add(std::span<const double> e, std::span<const u8> valid, size_t n,
                          size_t stride) {
  const size_t block = n * stride;
  for (size_t lag = 1; lag <= kLags && lag < n; ++lag) {
    Lag& of = lags_[lag - 1];
    const size_t step = lag * stride;
    for (size_t start = 0; start < e.size(); start += block) {
      double first = 0, second = 0, product = 0;
      for (size_t i = start; i < start + block - step; ++i) {
        if (!(valid[i] && valid[i + step])) continue;
        ++of.n;
        first += e[i], second += e[i + step], product += e[i] * e[i + step];
      }
      of.first += first, of.second += second, of.product += product;
    }
  }
}

void Autocorrelation::merge(const Autocorrelation& other) {
  for (size_t i = 0; i < kLags; ++i) {
    lags_[i].n += other.lags_[i].n;
    lags_[i].first += other.lags_[i].first;
    lags_[i].second += other.lags_[i].second;
    lags_[i].product += other.lags_[i].product;
  }
}

std::array<double, kLags> Autocorrelation::values(double mean, double variance) const {
  std::array<double, kLags> result;
  for (size_t i = 0; i < kLags; ++i) {
    const Lag& lag = lags_[i];
    const double n = double(lag.n);
    result[i] =
        lag.n > 0 && variance > 0
            ? (lag.product - mean * (lag.first + lag.second) + n * mean * mean) / n / variance
            : std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

bool is_peak(const double* v, size_t rows, size_t columns, double sign) {
  const auto step = std::ptrdiff_t(columns);
  bool above = true;
  for (std::ptrdiff_t dy = rows > 1 ? -1 : 0; dy <= (rows > 1 ? 1 : 0); ++dy)
    for (std::ptrdiff_t dx = -1; dx <= 1; ++dx)
      above &= (dx == 0 && dy == 0) || sign * v[0] > sign * v[dy * step + dx];
  return above;
}

bool all_valid(const u8* v, size_t rows, size_t columns) {
  const auto step = std::ptrdiff_t(columns);
  bool all = true;
  for (std::ptrdiff_t dy = rows > 1 ? -1 : 0; dy <= (rows > 1 ? 1 : 0); ++dy)
    for (std::ptrdiff_t dx = -1; dx <= 1; ++dx) all &= v[dy * step + dx] != 0;
  return all;
}

Differences Differences::of(std::span<const double> x, std::span<const double> y,
                            std::span<const u8> valid, size_t rows, size_t columns) {
  Differences result;
  std::vector<double> before, change;
  const auto note = [&](double a, double b) {
    if (a == 0) return;
    ++result.pairs;
    result.flipped += (a < 0 && b > 0) || (a > 0 && b < 0);
    result.flattened += b == 0;
  };
  for (size_t row = 0; row < rows; ++row)
    for (size_t column = 0; column < columns; ++column) {
      const size_t i = row * columns + column;
      const bool right = column + 1 < columns && valid[i] && valid[i + 1];
      const bool down = row + 1 < rows && valid[i] && valid[i + columns];
      const double ax = right ? x[i + 1] - x[i] : 0, bx = right ? y[i + 1] - y[i] : 0;
      const double ay = down ? x[i + columns] - x[i] : 0, by = down ? y[i + columns] - y[i] : 0;
      if (right) note(ax, bx);
      if (down) note(ay, by);
      if (right && (down || rows == 1)) {
        const double a = std::sqrt(ax * ax + ay * ay), b = std::sqrt(bx * bx + by * by);
        before.push_back(a), change.push_back(a - b);
      }
    }
  for_each_inner(valid, rows, columns, [&](size_t i) {
    const auto is_extremum = [&](const double* v) {
      return is_peak(v, rows, columns, 1) || is_peak(v, rows, columns, -1);
    };
    result.extrema_before += is_extremum(&x[i]), result.extrema_after += is_extremum(&y[i]);
  });
  const std::vector<u8> all(before.size(), 1);
  if (!before.empty()) result.gradient = PairMoments::of(before, change, all, before.size());
  return result;
}

void Differences::merge(const Differences& other) {
  gradient.merge(other.gradient);
  pairs += other.pairs;
  flipped += other.flipped;
  flattened += other.flattened;
  extrema_before += other.extrema_before;
  extrema_after += other.extrema_after;
}

}  // namespace leeway
