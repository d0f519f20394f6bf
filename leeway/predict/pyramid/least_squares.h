// SPDX-License-Identifier: BSD-3-Clause
// Least squares: weights of a sum of taps, learned from values that both sides know already
// (pyramid.md, "Learning").
//
// A value is first guessed as p0; taps t_k are other known values near it. The prediction is
// p0 + sum c_k (t_k - p0), where the c_k minimise the weighted squares of the errors made so far.
// Everything is done in a fixed order of IEEE operations: encoder and decoder agree on every host.
#pragma once

#include <array>
#include <vector>

#include "leeway/base/types.h"

namespace leeway {

inline constexpr size_t kMostTaps = 64;

// Eight values from `first` on: their taps, first guess, prediction, what they were, and the error
// that was to be expected, in steps.
template <class C>
struct Samples {
  const C* const* taps;
  const C *guess, *predicted, *values;
  const float* expected;
  size_t first;
  C inverse_step;
};

template <class C>
class LeastSquares {
 public:
  static constexpr size_t kSampleGroup = 8;  // samples are taken side by side
  static constexpr size_t kBatch = 128;      // samples added up together
  static constexpr size_t kSolveEvery = 512;

  explicit LeastSquares(size_t taps);

  size_t taps() const { return taps_; }
  bool is_ready() const { return ready_; }
  // Whether it has seen as much as it remembers.
  bool is_full() const;
  const std::array<C, kMostTaps>& weights() const { return weights_; }
  // Starts from what another one of as many taps has learned.
  void inherit(const LeastSquares& other);
  // There will be no more samples.
  void settle();
  void sample(const Samples<C>& samples);
  // out = p0 + sum c_k (t_k - p0). May read and write a vector behind the end of the rows.
  void apply(const C* const* taps, const C* guess, size_t count, C* out) const;

 private:
  void add_batch();
  void solve();

  size_t taps_;
  size_t waiting_ = 0;  // samples in the batch
  size_t since_ = 0;    // samples since the last solution
  double known_ = 0;    // samples that the sums stand for
  bool ready_ = false;
  std::array<C, kMostTaps> weights_{};
  C guess_weight_ = 1;
  // Rows: the taps less the guess, then the value less the guess; and the taps with weights. Some
  // more for the vector code.
  std::vector<std::array<C, kBatch>> plain_, weighted_;
  std::vector<double> sums_;  // (taps + 1) columns for each tap
};

}  // namespace leeway
