// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quality/data_ssim.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace leeway {
namespace {

constexpr size_t kWindow = 11, kHalf = kWindow / 2;
// Weighted sums of these are kept: x, y, xx, yy, xy, and the weights themselves.
constexpr size_t kSums = 6;

std::array<double, kWindow> weights() {
  std::array<double, kWindow> w;
  double sum = 0;
  for (size_t i = 0; i < kWindow; ++i) {
    const double distance = double(i) - double(kHalf);
    sum += w[i] = std::exp(-distance * distance / (2 * 1.5 * 1.5));
  }
  for (double& weight : w) weight /= sum;
  return w;
}

// One row after another: sums along rows are kept for the last 11 rows, then added up along
// columns.
class Windows {
 public:
  Windows(size_t columns) : inner_(columns - 2 * kHalf), values_(columns * kSums) {
    for (auto& row : ring_) row.resize(inner_ * kSums);
    sums_.resize(inner_ * kSums);
  }

  // The products of a row, scaled; what is not valid has no weight.
  double* of(size_t sum) { return values_.data() + sum * (inner_ + 2 * kHalf); }

  void add_row() {
    std::vector<double>& row = ring_[next_++ % kWindow];
    for (size_t s = 0; s < kSums; ++s) {
      const double* in = of(s);
      double* out = row.data() + s * inner_;
      for (size_t i = 0; i < inner_; ++i) out[i] = in[i + kHalf] * weights_[kHalf];
      for (size_t k = 0; k < kHalf; ++k)
        for (size_t i = 0; i < inner_; ++i)
          out[i] += (in[i + k] + in[i + kWindow - 1 - k]) * weights_[k];
    }
  }

  // Sums of the windows whose last row was added last; they have `kSums` parts of inner() values.
  const double* sums() {
    std::ranges::fill(sums_, 0.0);
    for (size_t k = 0; k < kWindow; ++k) {
      const std::vector<double>& row = ring_[(next_ + k) % kWindow];
      for (size_t i = 0; i < sums_.size(); ++i) sums_[i] += row[i] * weights_[k];
    }
    return sums_.data();
  }
  size_t inner() const { return inner_; }

 private:
  size_t inner_;
  std::array<double, kWindow> weights_ = weights();
  std::vector<double> values_, sums_;
  std::array<std::vector<double>, kWindow> ring_;
  size_t next_ = 0;
};

double similarity(double weight, double x, double y, double xx, double yy, double xy) {
  constexpr double kTiny = 1e-8;
  x /= weight, y /= weight;
  const double vx = xx / weight - x * x, vy = yy / weight - y * y, cov = xy / weight - x * y;
  return (2 * x * y + kTiny) / (x * x + y * y + kTiny) * ((2 * cov + kTiny) / (vx + vy + kTiny));
}

}  // namespace

double data_ssim(std::span<const double> x, std::span<const double> y, std::span<const u8> valid,
                 size_t rows, size_t columns) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (rows < kWindow || columns < kWindow) return kNone;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!valid[i]) continue;
    low = std::min({low, x[i], y[i]});
    high = std::max({high, x[i], y[i]});
  }
  if (!(low <= high)) return kNone;
  // A constant is divided by itself.
  const double range = high > low ? high - low : high != 0 ? high : 1, base = high > low ? low : 0;
  const auto scaled = [&](double value) {
    return std::nearbyint((value - base) / range * 255) / 255;
  };
  Windows windows(columns);
  double total = 0;
  u64 count = 0;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t i = 0; i < columns; ++i) {
      const size_t at = row * columns + i;
      const double a = valid[at] ? scaled(x[at]) : 0, b = valid[at] ? scaled(y[at]) : 0;
      const double parts[kSums] = {a, b, a * a, b * b, a * b, double(valid[at] != 0)};
      for (size_t s = 0; s < kSums; ++s) windows.of(s)[i] = parts[s];
    }
    windows.add_row();
    if (row + 1 < kWindow) continue;
    const double* s = windows.sums();
    const size_t n = windows.inner(), middle = (row - kHalf) * columns + kHalf;
    double of_row = 0;
    for (size_t i = 0; i < n; ++i) {
      if (!valid[middle + i]) continue;
      of_row += similarity(s[5 * n + i], s[i], s[n + i], s[2 * n + i], s[3 * n + i], s[4 * n + i]);
      ++count;
    }
    total += of_row;
  }
  return count ? total / double(count) : kNone;
}

}  // namespace leeway
