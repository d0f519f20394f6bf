// SPDX-License-Identifier: BSD-3-Clause
// Weights: how expectations are added up, learned by least squares from a sample and sent
// (wavelet.md, "Weights"). Bands of one level with differences along the same axes share them.
#pragma once

#include <array>
#include <map>
#include <utility>

#include "leeway/predict/wavelet/expectation.h"

namespace leeway::wavelet {

// One T for each set of bands.
template <class T>
class WeightSets {
 public:
  T& at(const Band& band) { return sets_[{band.level, band.high}]; }
  T of(const Band& band) const {
    const auto found = sets_.find({band.level, band.high});
    return found == sets_.end() ? T() : found->second;
  }
  const T* find(const Band& band) const { return find(band.level, band.high); }
  const T* find(size_t level, u32 high) const {
    const auto found = sets_.find({level, high});
    return found == sets_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::pair<size_t, u32>, T> sets_;
};

class BandWeights {
 public:
  // Whether weights pay for a set with so many coefficients that are not 0.
  static bool pays(size_t nonzero) { return nonzero >= 1200; }

  bool has(const Band& band) const { return sets_.find(band) != nullptr; }
  void set(const Band& band, const Weights& weights) { sets_.at(band) = weights; }
  // Those that were sent for the band, or for a coarser one along the same axes; else the usual
  // ones.
  const Weights& of(const Band& band) const;

  void write(const Bands& bands, Writer& out) const;
  static BandWeights read(const Bands& bands, Reader& in);

 private:
  WeightSets<Weights> sets_;
};

// Collects samples of one set of bands: sizes, and what was known about them.
class Learner {
 public:
  void add(const Features& features, const u8* sizes, size_t count);
  Weights solved() const;

 private:
  std::array<std::array<double, kKnown + 1>, kKnown> sums_{};
};

}  // namespace leeway::wavelet
