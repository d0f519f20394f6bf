// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/preprocess/log.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "leeway/base/bits.h"

namespace leeway {
namespace {

template <class T>
constexpr double kLeastNormal = std::is_same_v<T, f16> ? 0x1p-14
                                : sizeof(T) == 8       ? 0x1p-1022
                                                       : 0x1p-126;

// Whether a value is 0, or so small that it, or what it decodes to, might not be normal.
template <class T>
bool is_apart(T value) {
  return !(std::abs(double(value)) >= 4 * kLeastNormal<T>);
}

// Writes one bit for each value, as runs or as plain bits, whichever is shorter.
enum class Plane : u8 { zeros = 0, runs = 1, bits = 2 };

void write_plane(const std::vector<u8>& plane, Writer& out) {
  Writer runs;
  bool current = false, any = false;
  for (size_t i = 0; i < plane.size();) {
    size_t end = i;
    while (end < plane.size() && plane[end] == current) ++end;
    any = any || (current && end > i);
    runs.put_varint(end - i);
    current = !current;
    i = end;
    if (runs.size() > plane.size() / 8 + 1) break;
  }
  if (!any && runs.size() <= plane.size() / 8 + 1) return out.put(Plane::zeros);
  if (runs.size() < plane.size() / 8 + 1) {
    out.put(Plane::runs);
    return out.put_bytes(runs.bytes());
  }
  out.put(Plane::bits);
  BitWriter bits;
  for (const u8 bit : plane) bits.put(bit, 1);
  out.put_bytes(bits.take().bytes());
}

std::vector<u8> read_plane(Reader& in, size_t size) {
  std::vector<u8> plane(size);
  switch (Plane(in.get<u8>())) {
    case Plane::zeros:
      return plane;
    case Plane::runs: {
      bool current = false;
      for (size_t i = 0; i < size; current = !current) {
        const auto run = size_t(in.get_varint(size - i, "run too long"));
        if (run == 0 && i > 0) fail_corrupt("empty run");
        std::fill_n(plane.begin() + std::ptrdiff_t(i), run, current);
        i += run;
      }
      return plane;
    }
    case Plane::bits: {
      BitReader bits(in.take((size + 7) / 8));
      for (u8& bit : plane) bit = u8(bits.get(1));
      bits.expect_end();
      return plane;
    }
  }
  fail_corrupt("unknown kind of plane");
}

}  // namespace

// With m in [sqrt(1/2), sqrt(2)) and s = (m - 1) / (m + 1): log2(m) = 2 / ln 2 (s + s^3/3 + ...).
double log2_of_number(double x) {
  const u64 bits = std::bit_cast<u64>(x);
  auto exponent = i64(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffff) | 0x3ff0000000000000);
  const bool above = m > 0x1.6a09e667f3bcdp0;
  m = above ? 0.5 * m : m;
  exponent += above;
  const double s = (m - 1) / (m + 1), z = s * s;
  double sum = 0;
  for (int k = 21; k >= 1; k -= 2) sum = sum * z + 1.0 / k;
  return double(exponent) + s * sum * 0x1.71547652b82fep1;
}

// 2^n e^t with |t| <= ln 2 / 2; 2^n in two steps, for it may be beyond the range of normal numbers.
double power_of_two(double y) {
  static constexpr auto kInverseFactorials = [] {
    std::array<double, 15> c{};
    double factorial = 1;
    for (size_t k = 0; k < c.size(); factorial *= double(++k)) c[k] = 1 / factorial;
    return c;
  }();
  const double n = (y + 0x1.8p52) - 0x1.8p52, t = (y - n) * 0x1.62e42fefa39efp-1;
  double sum = kInverseFactorials[14];
  for (size_t k = 14; k-- > 0;) sum = sum * t + kInverseFactorials[k];
  const auto power = [](i64 e) { return std::bit_cast<double>(u64(e + 1023) << 52); };
  const i64 whole = i64(n), half = whole / 2;
  return sum * power(half) * power(whole - half);
}

template <class T>
requires is_floating<T>
void Log::forward(Field<T> field, std::vector<u8>& special, Writer& side) const {
  std::vector<u8> negative(field.size()), apart(field.size()), other;
  std::vector<T> kept;
  for (size_t i = 0; i < field.size(); ++i) {
    T& value = field.data[i];
    const double x = double(value), size = std::abs(x);
    apart[i] = is_apart(value);
    negative[i] = x < 0 && !apart[i];
    if (apart[i]) {
      other.push_back(bits_of(value) != 0);
      if (other.back()) kept.push_back(value);
    }
    value = T(log2_of_number(apart[i] ? 1.0 : size));
  }
  T before{};
  for (size_t i = 0; i < field.size(); ++i) {
    if (apart[i]) field.data[i] = before;
    before = field.data[i];
  }
  if (!kept.empty() || !other.empty()) {
    special.resize(field.size());
    for (size_t i = 0; i < field.size(); ++i) special[i] |= apart[i];
  }
  write_plane(negative, side);
  write_plane(apart, side);
  write_plane(other, side);
  side.put_array(std::span<const T>(kept));
}

template <class T>
requires is_floating<T>
void Log::backward(Field<T> field, Reader& side) const {
  const std::vector<u8> negative = read_plane(side, field.size()),
                        apart = read_plane(side, field.size());
  for (size_t i = 0; i < field.size(); ++i) {
    // In a damaged stream this may be any number.
    const double y = double(field.data[i]);
    const bool is_power = std::abs(y) < 1100;
    const double power = is_power ? power_of_two(is_power ? y : 0.0) : 0.0;
    field.data[i] = T(negative[i] ? -power : power);
  }
  const std::vector<u8> other = read_plane(side, size_t(std::ranges::count(apart, 1)));
  size_t number = 0;
  for (size_t i = 0; i < field.size(); ++i)
    if (apart[i]) field.data[i] = other[number++] ? side.get<T>() : T();
}

template <class T>
double Log::inner_bound(double bound) const {
  // The logarithm is rounded to T; for |y| up to 64, this is the largest rounding error.
  const double rounding = std::ldexp(1.0, 6 - mantissa_bits<T>);
  const double inner = log2_of_number(1 + std::min(bound, 1e6)) * (1 - 0x1p-20) - rounding;
  return inner > rounding ? inner : 0;
}

template <class T>
bool Log::holds(T original, T decoded, double bound) const {
  if (bits_of(original) == bits_of(decoded)) return true;
  if (is_apart(original) != is_apart(decoded)) return false;
  // Far from both ends of the exponents, so that no bits are lost there.
  const double scale = std::abs(double(original)) < 1 ? 0x1p200 : 0x1p-200,
               x = double(original) * scale, error = std::abs(x - double(decoded) * scale);
  return std::isfinite(error) && error <= bound * std::abs(x) * (1 - 0x1p-50);
}

#define LEEWAY_LOG(T)                                                       \
  template void Log::forward<T>(Field<T>, std::vector<u8>&, Writer&) const; \
  template void Log::backward<T>(Field<T>, Reader&) const;                  \
  template double Log::inner_bound<T>(double) const;                        \
  template bool Log::holds<T>(T, T, double) const
LEEWAY_LOG(float);
LEEWAY_LOG(double);
LEEWAY_LOG(f16);
LEEWAY_LOG(bf16);
#undef LEEWAY_LOG

}  // namespace leeway
