// SPDX-License-Identifier: BSD-3-Clause
// Logscale: narrower steps where the prediction is good (logscale.md).
//
// The same largest error as `linear`, but smaller ones near the prediction: a better
// signal-to-noise ratio for more bits. Distances between levels double from step / 8 up to the
// step: 0, 1/8, 3/8, 7/8, 15/8, 23/8, ... steps from the prediction.
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
  explicit LogscaleGrid(double bound)
      : step_(short_step(bound)), inverse_(1 / step_), limit_(tight<double>(bound)) {}

  T recover(Predicted<T> p, Code<T> q) const {
    const double size = level(std::abs(double(q))) * step_;
    return T(double(p) + (q < 0 ? -size : size));
  }
  bool quantize(T& x, Predicted<T> p, Code<T>& q) const {
    const double d = double(x) - double(p), t = std::abs(d) * inverse_;
    if (!(t < kMost)) return false;  // NaN and infinities, too
    const double code = t < 0.0625  ? 0
                        : t < 0.25  ? 1
                        : t < 0.625 ? 2
                                    : 3 + round_to_even(t - 0.875);
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
  static double level(double code) {
    return code < 3 ? (code == 2 ? 0.375 : code * 0.125) : code - 2.125;
  }
  static constexpr double kMost = sizeof(T) == 8 ? 0x1p50 : 0x1p30;
  double step_, inverse_, limit_;
};

struct Logscale {
  static constexpr std::string_view kName = "logscale";
  static constexpr std::string_view kAbout = "narrower steps near the prediction, for less noise";
  static constexpr Kind kKind = Kind::quantizer;
  static constexpr Traits kTraits{.floating_only = true};
  NoParams params;

  template <class T>
  LogscaleGrid<T> at(double bound) const {
    return LogscaleGrid<T>(bound);
  }
};

}  // namespace leeway
