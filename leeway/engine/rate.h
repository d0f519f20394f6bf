// SPDX-License-Identifier: BSD-3-Clause
// Rate: finds the bound at which a stream has the size that was asked for.
//
// A bound twice as large saves about one bit a value (CEAZ, section on fixed ratio; the paper
// prints it the other way round), less where few bits are left. That law gives the first step of a
// search on sample chunks; measured sizes give the rest. While the stream is written, the size
// so far corrects the bound of the remaining chunks, round by round. Threads change nothing.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "leeway/base/types.h"

namespace leeway {

class RateControl {
 public:
  struct Problem {
    std::vector<double> values;  // number of values in each chunk
    double bytes = 0;            // size asked for, of all frames together
    double range = 0;            // of the values
    double cap = 0;              // no chunk may have a larger bound
    // Returns the size of the frame of each of these chunks at a bound (0: no loss), in bytes.
    std::function<std::vector<u64>(std::span<const u64> ordinals, double bound)> sizes;
  };

  // Searches for the bound.
  explicit RateControl(Problem problem);

  // No chunk will have a larger bound than this; 0: no loss.
  double highest() const { return highest_; }
  // The bound for chunks from `first` on, if the frames before have `bytes_before` bytes.
  double bound_from(u64 first, u64 bytes_before) const;
  // The number of chunks in a round, which have one bound; all, if the search knows all sizes.
  u64 round() const { return round_; }

 private:
  u64 chunks() const { return problem_.values.size(); }
  double values_from(u64 first) const;
  struct Sampled {
    std::vector<u64> bytes;
    double log_excess = 0;  // log2 of the size over the size asked for
  };
  Sampled measure(double log_bound, std::span<const u64> ordinals) const;
  double search(std::span<const u64> ordinals, double start, double tolerance);

  Problem problem_;
  std::vector<u64> ordinals_;      // chunks in the sample
  std::vector<u64> sample_bytes_;  // at bound_
  double bound_ = 0, highest_ = 0;
  double slope_ = -0.5;  // d(log2 size) / d(log2 bound) near bound_
  u64 round_ = 0;
};

}  // namespace leeway
