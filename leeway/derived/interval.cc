// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/derived/interval.h"

namespace leeway::derived {
namespace {

constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kLog = 0x1p-48;  // more than the relative error of both functions

double lower(double v) { return below(v - kLog * std::abs(v)); }
double upper(double v) { return above(v + kLog * std::abs(v)); }

}  // namespace

// v = m 2^e, sqrt(1/2) <= m < sqrt(2); log m = 2 (s + s^3 / 3 + s^5 / 5 + ...), s = (m - 1) / (m +
// 1), |s| < 0.172.
double logarithm(double v) {
  if (!(v > 0)) return -kInfinite;
  if (v == kInfinite) return kInfinite;
  int e;
  double m = std::frexp(v, &e);
  if (m < 0x1.6a09e667f3bcdp-1) m *= 2, --e;
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double sum = 0;
  for (int k = 23; k >= 3; k -= 2) sum = (sum + 1.0 / k) * s2;
  return e * kLn2High + (2 * s + (2 * s * sum + e * kLn2Low));
}

// e^v = 2^k e^r, |r| <= ln 2 / 2.
double exponential(double v) {
  if (v > 710) return kInfinite;
  if (v < -746) return 0;
  const double k = std::nearbyint(v / kLn2High);
  const double r = (v - k * kLn2High) - k * kLn2Low;
  double sum = 1;
  for (int n = 16; n >= 1; --n) sum = 1 + sum * r / n;
  return std::ldexp(sum, int(k));
}

Interval log(Interval a) {
  if (!(a.lo > 0)) return {-kInfinite, a.hi > 0 ? upper(logarithm(a.hi)) : kInfinite};
  return {lower(logarithm(a.lo)), upper(logarithm(a.hi))};
}

Interval exp(Interval a) {
  const double lo = lower(exponential(a.lo)), hi = upper(exponential(a.hi));
  return {std::max(lo, 0.0), hi};
}

}  // namespace leeway::derived
