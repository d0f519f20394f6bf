// SPDX-License-Identifier: BSD-3-Clause
// Logscale: narrower steps where the prediction is good (logscale.md).
//
// The same largest error as `linear`, but smaller ones near the prediction: a better
// signal-to-noise ratio for more bits. Distances between levels double from step / 2^levels up to
// the step; with three levels: 0, 1/8, 3/8, 7/8, 15/8, 23/8, ... steps from the prediction.
#pragma once

#include <algorithm>
#include <cmath>

#include "leeway/quantize/linear.h"
#include "leeway/quantize/one_by_one.h"
#include "leeway/stage/stage.h"

namespace leeway {

template <class T>
class LogscaleGrid {
 public:
  LogscaleGrid(double bound, int levels)
      : levels_(levels),
        finest_(std::ldexp(1.0, -levels)),
        step_(short_step(bound)),
        inverse_(1 / step_),
        limit_(tight<double>(bound)) {}

  T recover(Predicted<T> p, Code<T> q) const {
    const double size = level(std::abs(double(q))) * step_;
    return T(double(p) + (q < 0 ? -size : size));
  }
  bool quantize(T& x, Predicted<T> p, Code<T>& q) const {
    const double d = double(x) - double(p), t = std::abs(d) * inverse_;
    if (!(t < kMost)) return false;  // NaN and infinities, too
    const double code = code_of(t);
    const auto found = Code<T>(d < 0 ? -code : code);
    const T y = recover(p, found);
    if (!(std::abs(double(y) - double(x)) <= limit_)) return false;
    q = found;
    x = y;
    return true;
  }
  double quantize(std::span<T> values, std::span<Code<T>> codes, Patches<T>& exact,
                  size_t first = 0, Code<T> before = 0) const {
    return quantize_one_by_one(*this, values, codes, exact, first, before);
  }
  void recover(std::span<const Code<T>> codes, std::span<T> values) const {
    recover_one_by_one(*this, codes, values);
  }

 private:
  // The level nearest to a distance of t steps.
  double code_of(double t) const {
    // Halfway between levels k - 1 and k: (3 * 2^(k - 1) - 2) / 2 of the finest distance.
    double halfway = 0.5 * finest_, growth = 1.5 * finest_;
    for (int k = 0; k < levels_; ++k, halfway += growth, growth *= 2)
      if (t < halfway) return k;
    return levels_ + round_to_even(t - (1 - finest_));
  }
  double level(double code) const {
    if (code > levels_) return code - levels_ + (1 - finest_);
    return (std::ldexp(1.0, int(code)) - 1) * finest_;
  }

  static constexpr double kMost = sizeof(T) == 8 ? 0x1p50 : 0x1p30;
  int levels_;
  double finest_, step_, inverse_, limit_;
};

struct Logscale {
  static constexpr std::string_view kName = "logscale";
  static constexpr std::string_view kAbout = "narrower steps near the prediction, for less noise";
  static constexpr Kind kKind = Kind::quantizer;
  static constexpr Traits kTraits{.floating_only = true};
  struct Params {
    i32 levels = 3;
    void fields(auto&& field) {
      field("levels", levels, 1, 16, "how often the distance between levels doubles");
    }
  } params;

  template <class T>
  LogscaleGrid<T> at(double bound) const {
    return LogscaleGrid<T>(bound, params.levels);
  }
};

}  // namespace leeway
