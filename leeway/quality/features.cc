// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quality/features.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "leeway/quality/structure.h"

namespace leeway {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
}  // namespace

FeatureCounts::FeatureCounts(const Tile& tile, const FeatureAim& aim, bool is_deep)
    : levels_(aim.levels.size()) {
  count_values(tile, aim);
  if (!is_deep) return;
  if (aim.profile != Profile::image) count_contours(tile, aim);
  if (aim.profile == Profile::cosmology) count_peaks(tile, aim);
  if (aim.profile == Profile::turbulence) add_increments(tile);
}

void FeatureCounts::count_values(const Tile& tile, const FeatureAim& aim) {
  for (size_t i = 0; i < tile.x.size(); ++i) changed_ += tile.valid[i] && tile.e[i] != 0;
  for (size_t k = 0; k < aim.levels.size(); ++k) {
    const double at = aim.levels[k];
    Level& level = levels_[k];
    u64 above_x = 0, above_y = 0, changed = 0;
    for (size_t i = 0; i < tile.x.size(); ++i) {
      if (!tile.valid[i]) continue;
      const bool x = tile.x[i] > at, y = tile.y[i] > at;
      above_x += x, above_y += y, changed += x != y;
      if (aim.profile == Profile::cosmology)
        level.sum_above.add(x ? tile.x[i] : 0, y ? tile.y[i] : 0);
      if (aim.profile == Profile::image) level.at.add(tile.x[i] == at, tile.y[i] == at);
    }
    level.above.add(double(above_x), double(above_y));
    level.changed_side += double(changed);
  }
}

// A contour passes between neighbours that lie on different sides of its level.
void FeatureCounts::count_contours(const Tile& tile, const FeatureAim& aim) {
  for (size_t k = 0; k < aim.levels.size(); ++k) {
    const double at = aim.levels[k];
    u64 before = 0, after = 0;
    const auto look = [&](size_t i, size_t j) {
      if (!(tile.valid[i] && tile.valid[j])) return;
      before += (tile.x[i] > at) != (tile.x[j] > at);
      after += (tile.y[i] > at) != (tile.y[j] > at);
    };
    for (size_t row = 0; row < tile.rows; ++row)
      for (size_t i = row * tile.columns; i < (row + 1) * tile.columns; ++i) {
        if (i + 1 < (row + 1) * tile.columns) look(i, i + 1);
        if (row + 1 < tile.rows) look(i, i + tile.columns);
      }
    levels_[k].contour.add(double(before), double(after));
  }
}

void FeatureCounts::count_peaks(const Tile& tile, const FeatureAim& aim) {
  for_each_inner(tile.valid, tile.rows, tile.columns, [&](size_t i) {
    const bool x = is_peak(&tile.x[i], tile.rows, tile.columns),
               y = is_peak(&tile.y[i], tile.rows, tile.columns);
    if (!x && !y) return;
    for (size_t k = 0; k < aim.levels.size(); ++k)
      levels_[k].peaks.add(x && tile.x[i] > aim.levels[k], y && tile.y[i] > aim.levels[k]);
  });
}

void FeatureCounts::add_increments(const Tile& tile) {
  for (size_t d = 0; d < std::size(kDistances); ++d) {
    Increments& in = increments_[d];
    for (size_t row = 0; row < tile.rows; ++row)
      for (size_t c = 0; c + kDistances[d] < tile.columns; ++c) {
        const size_t i = row * tile.columns + c, j = i + kDistances[d];
        if (!(tile.valid[i] && tile.valid[j])) continue;
        const double a = tile.x[j] - tile.x[i], b = tile.y[j] - tile.y[i];
        double x = 1, y = 1;
        for (Both& power : in.powers) power.add(x *= a, y *= b);
        ++in.count;
      }
  }
}

void FeatureCounts::merge(const FeatureCounts& other) {
  if (levels_.empty()) levels_.resize(other.levels_.size());
  changed_ += other.changed_;
  for (size_t k = 0; k < other.levels_.size(); ++k) {
    const Level& from = other.levels_[k];
    Level& to = levels_[k];
    to.above.merge(from.above), to.sum_above.merge(from.sum_above), to.at.merge(from.at);
    to.contour.merge(from.contour), to.peaks.merge(from.peaks);
    to.changed_side += from.changed_side;
  }
  for (size_t d = 0; d < increments_.size(); ++d) {
    increments_[d].count += other.increments_[d].count;
    for (size_t k = 0; k < increments_[d].powers.size(); ++k)
      increments_[d].powers[k].merge(other.increments_[d].powers[k]);
  }
}

void FeatureCounts::list_increments(std::vector<Feature>& list) const {
  for (size_t d = 0; d < increments_.size(); ++d) {
    const Increments& in = increments_[d];
    if (in.count == 0) continue;
    const std::string apart = " of differences over " + std::to_string(kDistances[d]) +
                              (kDistances[d] == 1 ? " grid point" : " grid points");
    const auto moment = [&](size_t power, double Both::*side) {
      return in.powers[power - 1].*side / in.count;
    };
    const auto add = [&](const char* what, auto&& of) {
      list.push_back({what + apart, kNone, of(&Both::x), of(&Both::y)});
    };
    add("Mean square", [&](double Both::*side) { return moment(2, side); });
    add("Skewness",
        [&](double Both::*side) { return moment(3, side) / std::pow(moment(2, side), 1.5); });
    add("Flatness",
        [&](double Both::*side) { return moment(4, side) / (moment(2, side) * moment(2, side)); });
  }
}

std::vector<Feature> FeatureCounts::features(const FeatureAim& aim) const {
  std::vector<Feature> list;
  for (size_t k = 0; k < levels_.size(); ++k) {
    const double at = aim.levels[k];
    const Level& level = levels_[k];
    const auto add = [&](const char* what, const Both& both) {
      list.push_back({what, at, both.x, both.y});
    };
    if (aim.profile == Profile::image) {
      add("Values equal to", level.at);
      continue;
    }
    add("Values above", level.above);
    list.push_back({"Values that changed sides of", at, 0, level.changed_side});
    if (aim.profile == Profile::cosmology) add("Sum of values above", level.sum_above);
    if (aim.profile == Profile::cosmology) add("Peaks above", level.peaks);
    add("Length of contours at", level.contour);
  }
  if (aim.profile == Profile::image) list.push_back({"Values that changed", kNone, 0, changed_});
  if (aim.profile == Profile::turbulence) list_increments(list);
  return list;
}

PairDistances pair_distances(const Tile& tile) {
  constexpr size_t kMost = 2000, kBins = 64;
  PairDistances result;
  if (tile.columns != 3) return result;
  std::vector<size_t> rows;  // of particles all of whose coordinates are ordinary
  for (size_t row = 0; row < tile.rows && rows.size() < kMost; ++row)
    if (tile.valid[3 * row] && tile.valid[3 * row + 1] && tile.valid[3 * row + 2])
      rows.push_back(3 * row);
  const auto distance = [](const std::vector<double>& v, size_t i, size_t j) {
    return std::hypot(v[i] - v[j], v[i + 1] - v[j + 1], v[i + 2] - v[j + 2]);
  };
  std::vector<double> all;
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < i; ++j) all.push_back(distance(tile.x, rows[i], rows[j]));
  if (all.empty()) return result;
  // The structure is at short distances: those that a fiftieth of all pairs have.
  const auto at = all.begin() + std::ptrdiff_t(all.size() / 50);
  std::ranges::nth_element(all, at);
  result.largest = *at;
  if (!(result.largest > 0)) return result;
  result.original.resize(kBins), result.decoded.resize(kBins);
  const auto add = [&](std::vector<u64>& bins, double r) {
    if (r < result.largest) ++bins[std::min(kBins - 1, size_t(r / result.largest * kBins))];
  };
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      add(result.original, distance(tile.x, rows[i], rows[j]));
      add(result.decoded, distance(tile.y, rows[i], rows[j]));
    }
  return result;
}

}  // namespace leeway
