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

// Whether the value is larger (with sign -1: smaller) than all 8 around it, or 2 on a line.
bool is_peak(const double* v, size_t rows, size_t columns, double sign = 1);
bool all_valid(const u8* v, size_t rows, size_t columns);

// Calls f(i) for every value of a map that is valid, as are all around it.
template <class F>
void for_each_inner(std::span<const u8> valid, size_t rows, size_t columns, F&& f) {
  const size_t margin = rows > 1 ? 1 : 0;
  for (size_t row = margin; row + margin < rows; ++row)
    for (size_t i = row * columns + 1; i + 1 < (row + 1) * columns; ++i)
      if (all_valid(&valid[i], rows, columns)) f(i);
}

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
