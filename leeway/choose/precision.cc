// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/choose/precision.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "leeway/base/environment.h"
#include "leeway/choose/advise.h"
#include "leeway/codec/mask.h"

namespace leeway {
namespace {

constexpr u64 kSample = u64(1) << 20;

// The part that is looked at, in its shape; NaN where values are special.
struct Looked {
  Shape shape;
  std::vector<double> values;
};

Looked look(const View& array, const std::vector<u64>& fills) {
  const View part = array.part(middle_box(array.shape, kSample));
  Looked looked{part.shape, {}};
  visit_dtype(array.dtype, [&]<class T>(std::type_identity<T>) {
    const Mask mask{.fills = fills};
    for_each_outer(part.shape, 0, [&](const Index& index) {
      T value;
      std::memcpy(&value, part.at(index), sizeof value);
      looked.values.push_back(mask.is_special(value) ? std::numeric_limits<double>::quiet_NaN()
                                                     : double(value));
    });
  });
  return looked;
}

double spacing(double size, DType dtype) {
  const int bits = visit_dtype(dtype, []<class T>(std::type_identity<T>) {
    if constexpr (is_floating<T>)
      return mantissa_bits<T>;
    else
      return 52;
  });
  return size > 0 ? std::ldexp(1.0, std::ilogb(size) - bits) : 0;
}

// A common divisor of the gaps between sorted distinct values, up to their rounding.
double step_of(const std::vector<double>& distinct, DType dtype) {
  if (distinct.size() < 3) return 0;
  const double rounding =
      2 * spacing(std::max(std::abs(distinct.front()), std::abs(distinct.back())), dtype);
  std::vector<double> gaps;
  for (size_t i = 1; i < distinct.size(); ++i) gaps.push_back(distinct[i] - distinct[i - 1]);
  std::ranges::sort(gaps);
  double step = gaps.front();
  for (const double gap : gaps) {
    // Euclid's algorithm, with remainders that are rounding: that of the gap, and of the step as
    // often as the gap has it.
    double a = gap, b = step;
    while (b > 0) {
      if (b < 8 * rounding) return 0;
      const double times = std::round(a / b), rest = std::abs(a - times * b);
      a = b, b = rest > 2 * rounding * (2 + times) ? rest : 0;
    }
    step = std::min(step, a);
  }
  // Longer and longer distances make the step more precise, and must be multiples of it.
  const double first = distinct.front();
  for (const double value : distinct) {
    const double distance = value - first, times = std::round(distance / step);
    if (times == 0) continue;
    const double off = std::abs(distance - times * step);
    if (off > std::max(4 * rounding, 0.05 * step)) return 0;
    step = distance / times;
  }
  return step >= 8 * rounding ? step : 0;
}

void find_decimals(Precision& p) {
  for (unsigned decimals = 0; decimals <= 12 && p.step > 0; ++decimals) {
    const double unit = std::pow(10.0, -double(decimals));
    if (std::abs(p.step / unit - 1) > 1e-4) continue;
    p.has_decimals = true, p.decimals = decimals, p.step = unit;
    return;
  }
}

int used_bits(const std::vector<double>& values, DType dtype) {
  const int bits = dtype == DType::f64   ? 52
                   : dtype == DType::f32 ? 23
                   : dtype == DType::f16 ? 10
                                         : 7;
  int used = 0;
  for (const double v : values)
    if (!std::isnan(v) && v != 0)
      used =
          std::max(used, 52 - std::min(52, std::countr_zero(std::bit_cast<u64>(v) | u64(1) << 52)));
  return std::min(used, bits);
}

// Mantissa bits that together share 99 % of what neighbours along the fastest axis tell about each
// other, bit by bit [Kloewer et al. 2021]; what a random bit might share is taken away.
int informative_bits(const Looked& looked, DType dtype) {
  const int bits = dtype == DType::f64   ? 52
                   : dtype == DType::f32 ? 23
                   : dtype == DType::f16 ? 10
                                         : 7;
  std::array<std::array<u64, 4>, 64> counts{};
  const size_t length = looked.shape.rank() ? size_t(looked.shape[looked.shape.rank() - 1]) : 1;
  u64 pairs = 0;
  for (size_t i = 0; i + 1 < looked.values.size(); ++i) {
    if ((i + 1) % length == 0 || std::isnan(looked.values[i]) || std::isnan(looked.values[i + 1]))
      continue;
    const u64 a = std::bit_cast<u64>(looked.values[i]),
              b = std::bit_cast<u64>(looked.values[i + 1]);
    ++pairs;
    for (int bit = 0; bit < bits; ++bit)
      ++counts[size_t(bit)][(a >> (51 - bit) & 1) * 2 + (b >> (51 - bit) & 1)];
  }
  if (pairs < 100) return bits;
  std::vector<double> information;
  double total = 0;
  for (int bit = 0; bit < bits; ++bit) {
    const auto& c = counts[size_t(bit)];
    const double n = double(pairs);
    double shared = 0;
    for (size_t k = 0; k < 4; ++k) {
      const double joint = double(c[k]) / n, left = double(c[k & 2] + c[(k & 2) | 1]) / n,
                   right = double(c[k & 1] + c[2 | (k & 1)]) / n;
      if (joint > 0) shared += joint * std::log2(joint / (left * right));
    }
    // The upper end of what chance gives: chi-squared of one degree, 99 %.
    shared = shared > 6.63 / (2 * n * std::log(2.0)) ? shared : 0;
    information.push_back(shared);
    total += shared;
  }
  double sum = 0;
  for (int bit = 0; bit < bits; ++bit)
    if ((sum += information[size_t(bit)]) >= 0.99 * total) return bit + 1;
  return bits;
}

// From fourth differences, in which smooth parts vanish: their median size over that of white noise
// of size 1, sqrt(70), by the axis where it is least.
double noise_of(const Looked& looked) {
  double least = std::numeric_limits<double>::infinity();
  size_t stride = 1;
  for (size_t axis = looked.shape.rank(); axis-- > 0; stride *= size_t(looked.shape[axis])) {
    const size_t n = size_t(looked.shape[axis]);
    if (n < 8) continue;
    std::vector<double> sizes;
    for (size_t i = 0; i < looked.values.size(); ++i) {
      if (i / stride % n + 4 >= n) continue;
      const double* v = looked.values.data() + i;
      const double d = v[0] - 4 * v[stride] + 6 * v[2 * stride] - 4 * v[3 * stride] + v[4 * stride];
      if (!std::isnan(d)) sizes.push_back(std::abs(d));
    }
    if (sizes.size() < 100) continue;
    const auto middle = sizes.begin() + std::ptrdiff_t(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    least = std::min(least, 1.4826 * *middle / std::sqrt(70.0));
  }
  return std::isinf(least) ? 0 : least;
}

}  // namespace

Precision precision_of(const View& array, const std::vector<u64>& fills) {
  const DefaultFloatingPoint environment;
  const Looked looked = look(array, fills);
  std::vector<double> sorted;
  for (const double v : looked.values)
    if (!std::isnan(v)) sorted.push_back(v);
  Precision p;
  p.values = sorted.size();
  if (sorted.empty()) return p;
  std::ranges::sort(sorted);
  p.min = sorted.front(), p.max = sorted.back();
  const bool is_integer = visit_dtype(
      array.dtype, []<class T>(std::type_identity<T>) { return std::is_integral_v<T>; });
  std::vector<double> sizes;
  for (const double v : sorted)
    if (v != 0) sizes.push_back(std::abs(v));
  std::ranges::sort(sizes);
  if (!sizes.empty()) {
    p.median_size = sizes[sizes.size() / 2];
    const double low = sizes[sizes.size() / 1000],
                 high = sizes[sizes.size() - 1 - sizes.size() / 1000];
    p.wants_pointwise = !is_integer && (p.min >= 0 || p.max <= 0) && high / low > 1e3;
  }
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  p.distinct = sorted.size();
  DType grid = array.dtype;
  if (!is_integer) {
    p.is_float_in_double = grid == DType::f64 && std::ranges::all_of(sorted, [](double v) {
                             return double(float(v)) == v;
                           });
    if (p.is_float_in_double) grid = DType::f32;
    p.mantissa_bits = array.dtype == DType::f64   ? 52
                      : array.dtype == DType::f32 ? 23
                      : array.dtype == DType::f16 ? 10
                                                  : 7;
    p.used_bits = used_bits(sorted, array.dtype);
    p.informative_bits = informative_bits(looked, array.dtype);
  }
  p.step = step_of(sorted, grid);
  if (!is_integer) find_decimals(p);
  p.noise = noise_of(looked);
  // Rounding to a step looks like noise of step / sqrt(12).
  if (p.step > 0 && p.noise < 0.5 * p.step) p.noise = 0;
  return p;
}

}  // namespace leeway
