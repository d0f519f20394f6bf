// SPDX-License-Identifier: BSD-3-Clause
// Features: what scientists of different fields count in their data, before and after.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "leeway/quality/pair.h"

namespace leeway {

enum class Profile : u8 { generic, climate, turbulence, cosmology, particles, image };

// What is counted. Levels are thresholds, and contours are drawn at them.
struct FeatureAim {
  Profile profile = Profile::generic;
  std::vector<double> levels;
};

struct Feature {
  std::string what;
  double level = 0;  // NaN: it has none
  double original = 0, decoded = 0;
};

// Distances between particles whose coordinates are x, y, z on the last axis, in equal bins.
struct PairDistances {
  double largest = 0;  // of the last bin
  std::vector<u64> original, decoded;
};
PairDistances pair_distances(const Tile& tile);

// Of a part of the array.
class FeatureCounts {
 public:
  FeatureCounts() = default;
  // Contours, peaks and differences are counted only where `is_deep`.
  FeatureCounts(const Tile& tile, const FeatureAim& aim, bool is_deep);
  void merge(const FeatureCounts& other);
  std::vector<Feature> features(const FeatureAim& aim) const;

 private:
  struct Both {
    double x = 0, y = 0;
    void add(double before, double after) { x += before, y += after; }
    void merge(const Both& other) { x += other.x, y += other.y; }
  };
  struct Level {
    Both above, sum_above, at, contour, peaks;
    double changed_side = 0;
  };
  static constexpr size_t kDistances[] = {1, 2, 4, 8};
  struct Increments {  // sums of powers of differences
    double count = 0;
    std::array<Both, 4> powers;
  };
  void count_values(const Tile& tile, const FeatureAim& aim);
  void count_contours(const Tile& tile, const FeatureAim& aim);
  void count_peaks(const Tile& tile, const FeatureAim& aim);
  void add_increments(const Tile& tile);
  void list_increments(std::vector<Feature>& list) const;

  std::vector<Level> levels_;
  std::array<Increments, std::size(kDistances)> increments_;
  double changed_ = 0;
};

}  // namespace leeway
