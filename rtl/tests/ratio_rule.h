// SPDX-License-Identifier: BSD-3-Clause
// Ratio rule: what lwy_ratio does, in the host's words.
#pragma once

#include <algorithm>
#include <cmath>

#include "leeway/base/types.h"

namespace leeway::rtl {

// In units of 1/64: logarithms of steps to base 2, and bits a value.
struct RatioRule {
  i32 log, least, most, target;
  i64 sum = 0;

  static i32 target_of(double ratio) { return i32(32 / ratio * 64); }
  static i32 log_of(double step) { return i32(std::floor(std::log2(step) * 64)); }

  double step() const {
    const i32 whole = log >> 6, part = log & 63;
    return std::ldexp(std::round(std::exp2(part / 64.0) * 128), whole - 7);
  }
  // The bound whose step that is.
  double bound() const { return step() / 2 * (1 + 0x1p-8); }

  void next(u64 bytes, u64 values, bool is_bad) {
    constexpr i64 kMost = 512, kMostSum = 1024;
    const i64 change = i64(bytes * 8 * 64 / values) - target;
    const i64 cut = is_bad ? kMost : std::clamp(change, -kMost, kMost);
    sum = std::clamp(sum + cut, -kMostSum, kMostSum);
    log = i32(std::clamp<i64>(log + cut + (sum >> 3), least, most));
  }
};

}  // namespace leeway::rtl
