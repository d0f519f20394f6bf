// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/rate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "leeway/stage/bound.h"

namespace leeway {
namespace {

// A sample has at least this many values, and at least this part of the array.
constexpr double kLeastSampled = 0x1p21, kSampledPart = 1.0 / 16;
// Corrections keep the bound between these multiples of the one that the search has found.
constexpr double kMostAbove = 1.5, kMostBelow = 0.5;
// Bounds below range * 2^-kOctaves are not tried; the next smaller step is no loss.
constexpr double kOctaves = 62;

double bound_of(double log_bound) { return shortened(std::exp2(log_bound)); }

// Chooses chunks: one in each of `count` equal parts, at places that do not follow the grid's rows.
std::vector<u64> spread(u64 count, u64 chunks) {
  std::vector<u64> ordinals;
  for (u64 i = 0; i < count; ++i) {
    const double shift = double(i) * 0.6180339887498949;
    const double at = (double(i) + (shift - std::floor(shift))) * double(chunks) / double(count);
    ordinals.push_back(std::min(chunks - 1, u64(at)));
  }
  return ordinals;
}

}  // namespace

RateControl::RateControl(Problem problem) : problem_(std::move(problem)) {
  const double wanted = std::max(kLeastSampled, values_from(0) * kSampledPart);
  const u64 count = std::min(chunks(), u64(wanted / problem_.values[0]) + 1);
  if (2 * count < chunks()) {
    ordinals_ = spread(count, chunks());
    round_ = std::max<u64>(8, chunks() / 32);
  } else {
    ordinals_.resize(chunks());
    std::iota(ordinals_.begin(), ordinals_.end(), u64(0));
    round_ = chunks();
  }
  if (!(problem_.range > 0)) return;  // nothing to lose

  double log_bound = std::min(std::log2(problem_.range) - 10, std::log2(problem_.cap));
  if (ordinals_.size() >= 8) {  // a part of the sample is enough for a first guess
    std::vector<u64> few;
    for (size_t i = 0; i < ordinals_.size(); i += 4) few.push_back(ordinals_[i]);
    log_bound = search(few, log_bound, 0.05);
  }
  log_bound = search(ordinals_, log_bound, 0.004);
  bound_ = std::isfinite(log_bound) ? std::min(bound_of(log_bound), problem_.cap) : 0;
  highest_ = round_ < chunks() ? std::min(kMostAbove * bound_, problem_.cap) : bound_;
}

double RateControl::values_from(u64 first) const {
  return std::accumulate(problem_.values.begin() + std::ptrdiff_t(first), problem_.values.end(),
                         0.0);
}

RateControl::Sampled RateControl::measure(double log_bound, std::span<const u64> ordinals) const {
  Sampled sampled;
  sampled.bytes = problem_.sizes(ordinals, std::isfinite(log_bound) ? bound_of(log_bound) : 0);
  double bytes = 0, values = 0;
  for (const u64 n : sampled.bytes) bytes += double(n);
  for (const u64 i : ordinals) values += problem_.values[size_t(i)];
  sampled.log_excess = std::log2(bytes / values * values_from(0) / std::max(problem_.bytes, 1.0));
  return sampled;
}

// Returns log2 of a bound at which the sample has about the size asked for; -infinity if it is
// smaller even without loss.
double RateControl::search(std::span<const u64> ordinals, double start, double tolerance) {
  const double top = std::log2(problem_.cap), nothing = -std::numeric_limits<double>::infinity(),
               bottom = std::log2(problem_.range) - kOctaves;
  const double bits = 8 * problem_.bytes / values_from(0);
  double low = nothing, high = top;  // too many bytes at `low`, too few at `high`
  double low_excess = 0, high_excess = 0;
  double best = start, best_excess = std::numeric_limits<double>::infinity();
  double last = start, last_excess = 0;
  double x = std::isfinite(start) ? start : bottom + 8;
  for (int pass = 0; pass < 24; ++pass) {
    Sampled sampled = measure(x, ordinals);
    const double excess = sampled.log_excess;
    if (std::abs(excess) < best_excess) {
      best = x;
      best_excess = std::abs(excess);
      sample_bytes_ = std::move(sampled.bytes);
    }
    if (pass > 0 && std::isfinite(last) && std::isfinite(x) && std::abs(x - last) > 1e-3)
      slope_ = std::clamp((excess - last_excess) / (x - last), -2.0, -0.02);
    if (best_excess < tolerance) break;
    if (excess > 0) {
      if (x >= top) return top;  // the cap wins
      low = x, low_excess = excess;
    } else {
      if (!std::isfinite(x)) return nothing;
      high = x, high_excess = excess;
    }
    last = x, last_excess = excess;
    const bool has_low = std::isfinite(low), has_high = high_excess < 0;
    if (has_low && has_high) {
      if (high - low < 0x1p-10) break;
      const double part = low_excess / (low_excess - high_excess);
      x = low + (high - low) * std::clamp(part, 0.05, 0.95);
      if (pass % 4 == 3) x = (low + high) / 2;
    } else {
      // One bit less per value for each doubling; there are 2^excess times the bits asked for.
      const double law = bits * (std::exp2(std::min(excess, 6.0)) - 1);
      x += std::clamp(pass == 0 ? law : -1.2 * excess / slope_, -12.0, 12.0);
      x += excess > 0 ? 0.02 : -0.02;
      x = std::min(x, top);
      if (x < bottom) x = nothing;
    }
  }
  return best;
}

double RateControl::bound_from(u64 first, u64 bytes_before) const {
  if (bound_ == 0 || first == 0 || round_ == chunks()) return bound_;
  // The size expected of the rest: from the samples in it, or from all if there are none.
  double bytes = 0, values = 0;
  for (const u64 from : {first, u64(0)}) {
    for (size_t i = 0; i < ordinals_.size(); ++i) {
      if (ordinals_[i] < from) continue;
      bytes += double(sample_bytes_[i]);
      values += problem_.values[size_t(ordinals_[i])];
    }
    if (values > 0) break;
  }
  const double expected = bytes / values * values_from(first);
  const double left = std::max(problem_.bytes - double(bytes_before), expected / 16);
  const double log_bound = std::log2(bound_) + std::log2(left / expected) / slope_;
  return std::clamp(bound_of(log_bound), kMostBelow * bound_, highest_);
}

}  // namespace leeway
