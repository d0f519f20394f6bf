// SPDX-License-Identifier: BSD-3-Clause
// Structure: whether errors follow a pattern, and what they do to differences between neighbours.
#pragma once

#include <array>
#include <span>

#include "leeway/quality/moments.h"

namespace leeway {

inline constexpr size_t kLags = 10;

// The correlation of errors with those 1 to 10 grid points further along an axis.
class Autocorrelation {
 public:
  // Adds lines of n values, `stride` apart from each other along the axis.
  void add(std::span<const double> e, std::span<const u8> valid, size_t n, size_t stride);
  void merge(const Autocorrelation& other);
  // Of lag 1 to 10, around the mean of all errors, over their variance; NaN where no pairs are.
  std::array<double, kLags> values(double mean, double variance) const;

 private:
  struct Lag {
    u64 n = 0;
    double first = 0, second = 0, product = 0;
  };
  std::array<Lag, kLags> lags_;
};

// Differences to the next value along rows and columns of a map.
struct Differences {
  PairMoments gradient;                       // of their root sum of squares, original and decoded
  u64 pairs = 0;                              // of neighbours that differ in the original
  u64 flipped = 0, flattened = 0;             // where the sign has changed, or nothing is left
  u64 extrema_before = 0, extrema_after = 0;  // values larger or smaller than all 8 (or 2) around

  static Differences of(std::span<const double> x, std::span<const double> y,
                        std::span<const u8> valid, size_t rows, size_t columns);
  void merge(const Differences& other);
};

}  // namespace leeway
