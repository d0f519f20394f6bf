// SPDX-License-Identifier: BSD-3-Clause
// Interval: all real numbers from lo to hi. What an operation returns contains every result that
// the operation has for numbers of its operands: each end is rounded outward by one unit in the
// last place after an operation that IEEE 754 rounds correctly, and by more after log and exp,
// which are calculated here so that every host finds the same bits.
//
// An end that cannot be found, because the operation is not defined somewhere, is infinite.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "leeway/base/types.h"

namespace leeway::derived {

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

// The next larger double; NaN and +infinity become +infinity.
constexpr double above(double v) {
  if (!(v < kInfinite)) return kInfinite;
  if (v == 0) return std::numeric_limits<double>::denorm_min();
  const auto bits = std::bit_cast<i64>(v);
  return std::bit_cast<double>(v > 0 ? bits + 1 : bits - 1);
}
// The next smaller double; NaN becomes -infinity.
constexpr double below(double v) { return -above(-v); }

struct Interval {
  double lo, hi;

  static constexpr Interval all() { return {-kInfinite, kInfinite}; }
  static constexpr Interval at(double v) { return {v, v}; }
  constexpr bool is_bounded() const { return lo > -kInfinite && hi < kInfinite; }
  constexpr bool has(double v) const { return lo <= v && v <= hi; }
  // The largest |v|.
  constexpr double size() const { return std::max(-lo, hi); }
};

// The ends as an operation rounded them to nearest, moved outward.
constexpr Interval outward(double lo, double hi) { return {below(lo), above(hi)}; }

constexpr Interval operator-(Interval a) { return {-a.hi, -a.lo}; }
constexpr Interval operator+(Interval a, Interval b) { return outward(a.lo + b.lo, a.hi + b.hi); }
constexpr Interval operator-(Interval a, Interval b) { return outward(a.lo - b.hi, a.hi - b.lo); }

// 0 times anything is 0, since the ends of an interval are no numbers of it if they are infinite.
constexpr double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }
constexpr Interval operator*(Interval a, Interval b) {
  const double p[] = {product(a.lo, b.lo), product(a.lo, b.hi), product(a.hi, b.lo),
                      product(a.hi, b.hi)};
  return outward(std::min({p[0], p[1], p[2], p[3]}), std::max({p[0], p[1], p[2], p[3]}));
}
constexpr Interval operator/(Interval a, Interval b) {
  if (b.has(0) || !a.is_bounded() || !b.is_bounded()) return Interval::all();
  const double q[] = {a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi};
  return outward(std::min({q[0], q[1], q[2], q[3]}), std::max({q[0], q[1], q[2], q[3]}));
}

constexpr Interval abs(Interval a) {
  if (a.lo >= 0) return a;
  if (a.hi <= 0) return -a;
  return {0, a.size()};
}
constexpr Interval min(Interval a, Interval b) {
  return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
}
constexpr Interval max(Interval a, Interval b) {
  return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
}

// a^n, n >= 1; even powers know that they are not negative.
inline Interval power(Interval a, int n) {
  if (n % 2 == 0) a = abs(a);
  Interval result = a;
  for (int k = 1; k < n; ++k) result = result * a;
  if (n % 2 == 0) result.lo = std::max(result.lo, 0.0);
  return result;
}

inline Interval sqrt(Interval a) {
  if (!(a.lo >= 0)) return Interval::all();
  const double lo = std::sqrt(a.lo);
  return {lo > 0 ? below(lo) : 0, a.hi > 0 ? above(std::sqrt(a.hi)) : 0};
}

// Natural logarithm of a number from 0 up and exponential, to a few units in the last place
// (2^-48 of the result; interval_test.cc compares them with long double).
double logarithm(double v);
double exponential(double v);
Interval log(Interval a);
Interval exp(Interval a);

}  // namespace leeway::derived
