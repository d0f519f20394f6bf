// SPDX-License-Identifier: BSD-3-Clause
// LinearGrid of integers: included by linear.h.
//
// Decoded values are whole steps from their predictions. A step of 2 * floor(bound) + 1, or the
// power of two below that, reaches every value within the bound. Sums are modulo 2^64.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <limits>
#include <span>

#include "leeway/base/distance.h"
#include "leeway/quantize/linear_params.h"
#include "leeway/stage/patches.h"

namespace leeway {

template <class T>
struct LinearGrid;

template <std::integral T>
struct LinearGrid<T> {
  u64 half;  // floor(bound): codes are up to 2 * half + 1 apart
  i64 step;
  i64 most;  // the largest code
  T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();

  explicit LinearGrid(double bound, const LinearParams& params = {})
      : half(u64(std::min(std::floor(bound), 0x1p60))),
        step(
            i64(params.step == StepRule::eight_bits ? 2 * half + 1 : std::bit_floor(2 * half + 1))),
        most(std::numeric_limits<Code<T>>::max() / 2) {
    if (params.limit() > 0) most = std::min<i64>(most, std::max(params.limit() / 2 - 1, 0));
  }

  // Without loss and without a limit.
  bool is_identity() const { return half == 0 && most == std::numeric_limits<Code<T>>::max() / 2; }

  T recover(u64 p, Code<T> q) const {
    const u64 sum = p + u64(i64(q)) * u64(step);
    if constexpr (sizeof(T) == 8)
      return clamped(T(sum), low, high);
    else
      return T(clamped(i64(sum), i64(low), i64(high)));
  }
  // Keeps what is recovered in a range.
  void stay_within(T least, T largest) { low = least, high = largest; }

  bool quantize(T& x, u64 p, Code<T>& q) const {
    const i64 d = i64(u64(x) - p);
    if (d > i64(1) << 61 || d < -(i64(1) << 61)) return false;
    const i64 shifted = d + step / 2;
    const i64 code = shifted / step - (shifted % step < 0);  // floor
    if (code > most || code < -most) return false;
    const T y = recover(p, Code<T>(code));
    if (distance(x, y) > half) return false;
    q = Code<T>(code);
    x = y;
    return true;
  }

  double quantize(std::span<T> values, std::span<Code<T>> codes, Patches<T>& exact,
                  size_t first = 0, Code<T> before = 0) const {
    u64 max_error = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const T x = values[i];
      codes[i] = Code<T>(x);
      if (is_identity()) continue;  // the code is the value, modulo 2^32 or 2^64
      if (quantize(values[i], u64(0), codes[i])) {
        max_error = std::max(max_error, distance(x, values[i]));
      } else {
        exact.add(first + i, x);
        codes[i] = i > 0 ? codes[i - 1] : before;
      }
    }
    return rounded_up(max_error);
  }

  void recover(std::span<const Code<T>> codes, std::span<T> values) const {
    for (size_t i = 0; i < codes.size(); ++i)
      values[i] = is_identity() ? T(codes[i]) : recover(u64(0), codes[i]);
  }
};

}  // namespace leeway
