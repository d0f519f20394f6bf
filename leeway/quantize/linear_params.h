// SPDX-License-Identifier: BSD-3-Clause
// LinearParams: the parameters of `linear`, the step that follows from a bound, and a range.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "leeway/base/error.h"
#include "leeway/base/types.h"

namespace leeway {

// What lies outside of a range becomes its nearest end. A NaN stays.
template <class T>
constexpr T clamped(T value, T low, T high) {
  return value < low ? low : high < value ? high : value;
}

// The largest m * 2^k, 128 <= m <= 255, that is at most 2 * bound * (1 - 2^-9).
inline double short_step(double bound) {
  int exponent;
  const double fraction = std::frexp(bound * (2 - 0x1p-8), &exponent);
  return std::ldexp(std::floor(fraction * 256), exponent - 8);
}

// The largest power of two that is at most 2 * bound, as waveSZ has it.
inline double binary_step(double bound) {
  int exponent;
  std::frexp(bound, &exponent);  // bound = fraction * 2^exponent, 1/2 <= fraction < 1
  return std::ldexp(1.0, exponent);
}

enum class StepRule : u8 { eight_bits, power_of_two };
constexpr std::array<std::string_view, 2> param_words(StepRule) { return {"short", "pow2"}; }

// What becomes of values whose codes are beyond the bins.
enum class Beyond : u8 { exact, planes, cut };
constexpr std::array<std::string_view, 3> param_words(Beyond) { return {"exact", "planes", "cut"}; }

struct LinearParams {
  StepRule step = StepRule::eight_bits;
  i32 bins = 0;
  Beyond beyond = Beyond::exact;
  i32 second = 1;
  i32 range = 0;
  void fields(auto&& field) {
    field("step", step, StepRule::eight_bits, StepRule::power_of_two,
          "short: just below twice the bound; pow2: the power of two at or below it");
    field("bins", bins, 0, 1 << 30, "how many codes there are; 0: all");
    field("beyond", beyond, Beyond::exact, Beyond::cut,
          "other values are kept exactly; or their codes are stored apart, plane of bits by plane; "
          "or "
          "the bits of floating values that the bound does not need are cut off");
    field(
        "second", second, 0, 1,
        "1: where the arithmetic of f32 finds no code, that of f64 is tried; 0: as hardware does");
    field("range", range, 0, 1,
          "1: decoded values of a chunk stay between its least and its largest value");
  }
  void check() const {
    if (beyond == Beyond::planes && bins == 0)
      fail_argument("stage 'linear': beyond=planes needs a number of bins");
  }
  // Of the codes; 0: no limit.
  i32 limit() const { return beyond == Beyond::planes ? 0 : bins; }
  // Codes from here on are set apart (planes.h); 0: none is.
  i32 radius() const { return beyond == Beyond::planes ? std::max(bins / 2, 1) : 0; }
};

}  // namespace leeway
