// SPDX-License-Identifier: BSD-3-Clause
// Grid: quantize/linear.h for one value of a lane, the same bit for bit (quantize/linear.md).
#pragma once

#include "leeway/gpu/layout.h"

namespace leeway::gpu {

template <class T>
struct BitsOf;
template <>
struct BitsOf<float> {
  using Type = u32;
};
template <>
struct BitsOf<double> {
  using Type = u64;
};
template <class T>
using Bits = typename BitsOf<T>::Type;

template <class T>
LEEWAY_DEVICE T magnitude(T v) {
  constexpr Bits<T> kSign = Bits<T>(1) << (8 * sizeof(T) - 1);
  return from_bits(Bits<T>(to_bits(v) & ~kSign));
}
// The next number towards 0, of a number above 0.
template <class T>
LEEWAY_DEVICE T below(T v) {
  return from_bits(Bits<T>(to_bits(v) - 1));
}
template <class T>
LEEWAY_DEVICE T above(T v) {
  return from_bits(Bits<T>(to_bits(v) + 1));
}
template <class T>
LEEWAY_DEVICE bool is_nonfinite(T v) {
  constexpr Bits<T> kExponent = sizeof(T) == 4 ? Bits<T>(0x7f800000u) : Bits<T>(0x7ffull << 52);
  return (to_bits(v) & kExponent) == kExponent;
}

LEEWAY_DEVICE float round_to_even(float t) { return sub(add(t, 12582912.0f), 12582912.0f); }
LEEWAY_DEVICE double round_to_even(double t) {
  return sub(add(t, 6755399441055744.0), 6755399441055744.0);
}

// All that follows from a bound above 0.
struct Grid {
  double bound, step, inverse, limit;
  float short_step = 0, short_inverse = 0, short_limit = 0, short_most = 0;  // 0: do not fit

  LEEWAY_DEVICE explicit Grid(double e) : bound(e) {
    // Eight significant bits of e * (2 - 2^-8).
    step = from_bits(to_bits(mul(e, 1.99609375)) & ~((u64(1) << 45) - 1));
    inverse = divide(1.0, step);
    limit = below(e);
    if (step > 0x1p-100 && step < 0x1p100) {
      short_step = to_float(step);
      short_inverse = to_float(inverse);
      float tight = to_float(e);
      if (double(tight) > e) tight = below(tight);
      short_limit = below(tight);
      short_most = 65536;
    }
  }
};

template <class T>
struct Quantized {
  bool has_code = false;
  bool is_narrow = false;  // found as codes of 16 bits are
  i64 code = 0;
  T value{}, error{};  // decoded
};

LEEWAY_DEVICE float recover(const Grid& grid, i64 code, float) {
  if (grid.short_step > 0 && code <= 65536 && code >= -65536)
    return mul(to_float(i32(code)), grid.short_step);
  return to_float(mul(to_double(code), grid.step));
}
LEEWAY_DEVICE double recover(const Grid& grid, i64 code, double) {
  return mul(to_double(code), grid.step);
}

LEEWAY_DEVICE Quantized<double> quantize(const Grid& grid, double x) {
  Quantized<double> q;
  const double t = mul(x, grid.inverse);
  if (!(magnitude(t) < 0x1p50)) return q;
  const double n = round_to_even(t), y = mul(n, grid.step), error = magnitude(sub(x, y));
  if (!(error <= grid.limit)) return q;
  return {true, magnitude(t) <= 32767, to_integer(n), y, error};
}
LEEWAY_DEVICE Quantized<float> quantize(const Grid& grid, float x) {
  const float t = mul(x, grid.short_inverse);
  if (magnitude(t) <= grid.short_most) {
    const float n = round_to_even(t), y = mul(n, grid.short_step), error = magnitude(sub(x, y));
    // Without a step in f32, only zeros pass.
    if (error <= grid.short_limit) return {true, magnitude(t) <= 32767, i64(n), y, error};
  }
  Quantized<float> q;
  const double wide = mul(double(x), grid.inverse);
  if (!(magnitude(wide) < 0x1p30)) return q;
  const i64 code = to_integer(round_to_even(wide));
  const float y = recover(grid, code, x);
  if (!(magnitude(sub(double(y), double(x))) <= grid.limit)) return q;
  return {true, false, code, y, magnitude(sub(x, y))};
}

}  // namespace leeway::gpu
