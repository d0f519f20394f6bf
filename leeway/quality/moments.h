// SPDX-License-Identifier: BSD-3-Clause
// Moments: means, spreads and correlation of two series and of their difference, gathered part by
// part. Parts are merged in a fixed order, so that the result does not depend on threads.
#pragma once

#include <span>

#include "leeway/base/types.h"

namespace leeway {

// A sum that keeps what rounding loses [Neumaier 1974].
class CompensatedSum {
 public:
  void add(double value) {
    const double sum = sum_ + value;
    const bool is_larger = (sum_ < 0 ? -sum_ : sum_) >= (value < 0 ? -value : value);
    lost_ += is_larger ? (sum_ - sum) + value : (value - sum) + sum_;
    sum_ = sum;
  }
  double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0, lost_ = 0;
};

// Of pairs x, y with the difference e = x - y, which is given, since y would not show it exactly.
class PairMoments {
 public:
  // Rows of `length` values; those that are not valid are left out.
  static PairMoments of(std::span<const double> x, std::span<const double> e,
                        std::span<const u8> valid, size_t length);
  // Adds what another part has found [Chan, Golub, LeVeque 1983].
  void merge(const PairMoments& other);

  u64 count() const { return n_; }
  double mean_x() const { return mean_x_; }
  double mean_e() const { return mean_e_; }
  double mean_y() const { return mean_x_ - mean_e_; }
  double variance_x() const;  // of all values, not of a sample: divided by n
  double variance_y() const;
  double variance_e() const;
  double mean_square_x() const;
  double mean_square_e() const;
  double skewness_e() const;  // third and fourth standardized moment of the difference
  double kurtosis_e() const;  // 3 for a normal distribution, 1.8 for a uniform one
  // 1 - r. With a and b, the values less their means, and d = a - b:
  //   1 - r = (|d|^2 - (|a| - |b|)^2) / (2 |a| |b|),
  // which keeps its digits where r is close to 1. 0 if both are constant.
  double one_minus_correlation() const;
  double min_x() const { return min_x_; }
  double max_x() const { return max_x_; }
  double min_y() const { return min_y_; }
  double max_y() const { return max_y_; }

 private:
  u64 n_ = 0;
  double mean_x_ = 0, mean_e_ = 0;
  // Sums over products of distances from the means; s = x + y.
  double xx_ = 0, yy_ = 0, ee_ = 0, es_ = 0, eee_ = 0, eeee_ = 0;
  double min_x_ = 0, max_x_ = 0, min_y_ = 0, max_y_ = 0;
};

}  // namespace leeway
