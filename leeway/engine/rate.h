// SPDX-License-Identifier: BSD-3-Clause
// Rate: the bound at which a stream gets the size that was asked for.
//
// A bound twice as large saves about one bit a value (CEAZ, section on fixed ratio; the paper
// prints it the other way round), less where few bits are left. That law gives the first step of a
// search on sample chunks; measured sizes give the rest. Later, what was written so far corrects
// the bound of what remains, round by round. Everything depends on the array alone, not on threads.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "leeway/base/types.h"

namespace leeway {

class RateControl {
 public:
  struct Problem {
    std::vector<double> values;  // of each chunk
    double bytes = 0;            // that all frames shall have together
    double range = 0;            // of the values
    double cap = 0;              // no chunk may have a larger bound
    // How many bytes the frames of some chunks have at a bound (0: no loss), each.
    std::function<std::vector<u64>(std::span<const u64> ordinals, double bound)> sizes;
  };

  // Searches; keeps `problem`.
  explicit RateControl(Problem problem);

  // No chunk will have a larger bound than this; 0: no loss.
  double highest() const { return highest_; }
  // For chunks from `first` on, when those before have taken so many bytes.
  double bound_from(u64 first, u64 bytes_before) const;
  // Chunks of one round have the same bound; there is one round if all sizes are known.
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
  std::vector<u64> ordinals_;      // the sample
  std::vector<u64> sample_bytes_;  // at bound_
  double bound_ = 0, highest_ = 0;
  double slope_ = -0.5;  // of log2 size over log2 bound, near bound_
  u64 round_ = 0;
};

}  // namespace leeway
