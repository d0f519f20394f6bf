// SPDX-License-Identifier: BSD-3-Clause
// Linear: uniform quantization of the prediction error, checked value by value.
//
//   q = round((x - p) / step)        x' = p + q * step        |x - x'| <= bound, or x is kept
//   exactly
//
// For floating types the step is a number of eight significant bits just below 2 * bound: q * step
// is then exact in float up to |q| = 2^16, and the part of the bound that the short step gives away
// covers the rounding of x' (docs/GUARANTEES.md). For integers the step is the odd number 2 *
// floor(bound) + 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "leeway/base/distance.h"
#include "leeway/quantize/linear_integers.h"
#include "leeway/quantize/linear_kernels.h"
#include "leeway/quantize/linear_params.h"
#include "leeway/quantize/planes.h"
#include "leeway/stage/stage.h"

namespace leeway {

// Adding it leaves an integer in the low bits.
template <class F>
inline constexpr F kRoundingMagic = std::is_same_v<F, double> ? F(0x1.8p52) : F(0x1.8p23);

// The nearest integer to t, ties to even; for |t| < 2^51 (double) or 2^22 (float). Never -0.
template <class F>
constexpr F round_to_even(F t) {
  return (t + kRoundingMagic<F>)-kRoundingMagic<F>;
}

// The largest F below `bound`: if fl(|x - x'|) <= tight, then |x - x'| <= bound exactly, however
// the subtraction was rounded, because rounding is monotone.
template <class F>
F tight(double bound) {
  F t = F(bound);
  if (double(t) > bound) t = std::nextafter(t, F(0));
  return std::nextafter(t, F(0));
}

// Values done by the scalar definition before the kernel is tried again.
inline constexpr size_t kScalarStretch = 16, kRecoverStretch = 64;

template <Floating T>
struct LinearGrid<T> {
  double step, inverse, limit;  // limit: of the error
  double most;                  // codes are smaller
  // The same for float arithmetic; 0 if they do not fit.
  float short_step = 0, short_inverse = 0, short_limit = 0, short_most = 0;
  bool has_second;  // whether f64 may find codes for floats
  T low = T(-std::numeric_limits<float>::infinity()),
    high = T(std::numeric_limits<float>::infinity());
  bool is_within = false;  // whether these are a range
  double quantum = 0;      // what values without a code are cut to multiples of; 0: they are kept

  // Codes up to here times an eight-bit step are exact in float.
  static constexpr float kShortCode = 65536;
  static constexpr double kMaxCode = sizeof(T) == 8 ? 0x1p50 : 0x1p30;

  explicit LinearGrid(double bound, const LinearParams& params = {})
      : step(params.step == StepRule::eight_bits ? leeway::short_step(bound) : binary_step(bound)),
        inverse(1 / step),
        limit(tight<double>(bound)),
        most(params.limit() > 0 ? std::min(params.limit() / 2 - 0.5, kMaxCode) : kMaxCode),
        has_second(params.second != 0),
        quantum(params.beyond == Beyond::cut ? binary_step(bound) / 2 : 0) {
    if (step > 0x1p-100 && step < 0x1p100) {
      short_step = float(step);
      short_inverse = float(inverse);
      short_limit = tight<float>(bound);
      short_most = float(std::min<double>(kShortCode, std::ceil(most) - 1));
    }
  }

  // Floats in float arithmetic, where q * step is exact.
  T recover(Predicted<T> p, Code<T> q) const {
    if constexpr (std::is_same_v<T, float>)
      if (short_step > 0 && std::abs(i64(q)) <= i64(kShortCode))
        return clamped(p + float(q) * short_step, low, high);
    return clamped(T(double(p) + double(q) * step), low, high);
  }
  // Keeps what is recovered in a range.
  void stay_within(T least, T largest) { low = least, high = largest, is_within = true; }
  bool has_range() const { return is_within; }

  bool quantize(T& x, Predicted<T> p, Code<T>& q) const {
    if constexpr (std::is_same_v<T, float>) {
      const float t = (x - p) * short_inverse;
      if (short_step > 0 && std::abs(t) <= short_most) {
        const float n = round_to_even(t), y = clamped(p + n * short_step, low, high);
        if (std::abs(x - y) <= short_limit) {
          q = i32(n);
          x = y;
          return true;
        }
      }
      if (!has_second) return false;
    }
    const double t = (double(x) - double(p)) * inverse;
    if (!(std::abs(t) < most)) return false;  // NaN and infinities, too
    const auto code = Code<T>(round_to_even(t));
    const T y = recover(p, code);
    if (!(std::abs(double(y) - double(x)) <= limit)) return false;
    q = code;
    x = y;
    return true;
  }

  // What is kept of a value that has no code: SZ-1.4's "binary analysis" keeps the leading bits
  // that the bound asks for.
  T without_code(T x) const {
    const double scaled = double(x) / quantum;
    if (is_within || !(quantum > 0) || !(std::abs(scaled) < 0x1p53)) return x;
    return T(std::trunc(scaled) * quantum);
  }

  // Values at the front that all have a code, and their recovery; says how many were done.
  size_t quantize_run(T* x, const Predicted<T>* p, size_t n, Code<T>* q,
                      double& max_error) const requires std::floating_point<T> {
    return kernel::quantize_run(*this, x, p, n, q, max_error);
  }
  size_t recover_run(T* x, const Predicted<T>* p, size_t n,
                     const Code<T>* q) const requires std::floating_point<T> {
    return kernel::recover_run(*this, x, p, n, q);
  }

  // C: Code<T>, or i16 for narrow codes.
  template <class C>
  bool quantize_plane(const Plane<const std::byte>& plane, T* values, C* codes,
                      double& max_error) const {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
      return plane.holds_rows_of<T>() &&
             kernel::quantize_plane(*this, plane, values, codes, max_error);
    else
      return false;
  }

  double quantize(std::span<T> values, std::span<Code<T>> codes, Patches<T>& exact,
                  size_t first = 0, Code<T> before = 0) const {
    double max_error = 0;
    for (size_t i = 0; i < values.size();) {
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
        i += kernel::quantize(*this, values.data() + i, values.size() - i, codes.data() + i,
                              max_error);
      for (const size_t stop = std::min(values.size(), i + kScalarStretch); i < stop; ++i) {
        const T x = values[i];
        if (quantize(values[i], Predicted<T>(0), codes[i])) {
          max_error = std::max(max_error, rounded_error(x, values[i]));
        } else {
          values[i] = without_code(x);
          max_error = std::max(max_error, rounded_error(x, values[i]));
          exact.add(first + i, values[i]);
          codes[i] = i > 0 ? codes[i - 1] : before;
        }
      }
    }
    return max_error;
  }

  void recover(std::span<const Code<T>> codes, std::span<T> values) const {
    recover_all(codes, values);
  }
  void recover(std::span<const i16> codes, std::span<T> values) const {
    recover_all(codes, values);
  }

 private:
  template <class C>
  void recover_all(std::span<const C> codes, std::span<T> values) const {
    for (size_t i = 0; i < codes.size();) {
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
        i += kernel::recover(*this, codes.data() + i, codes.size() - i, values.data() + i);
      for (const size_t stop = std::min(codes.size(), i + kRecoverStretch); i < stop; ++i)
        values[i] = recover(Predicted<T>(0), Code<T>(codes[i]));
    }
  }
};

// The grid as SIMD sees it: numbers of T, and how far codes may go; others are for the scalar
// definition. A step of 0: all are.
template <class T>
struct GridInType {
  T step, inverse, limit, most, low, high;
  static constexpr Code<T> kHighest =
      Code<T>(sizeof(T) == 4 ? i64(LinearGrid<T>::kShortCode) : i64(LinearGrid<T>::kMaxCode));

  explicit GridInType(const LinearGrid<T>& grid) : low(grid.low), high(grid.high) {
    if constexpr (sizeof(T) == 4) {
      step = grid.short_step, inverse = grid.short_inverse;
      limit = grid.short_limit, most = grid.short_most;
    } else {
      step = grid.step, inverse = grid.inverse;
      limit = grid.limit, most = std::min(grid.most - 0.5, grid.kMaxCode / 2);
    }
  }
};

struct Linear {
  static constexpr std::string_view kName = "linear";
  static constexpr std::string_view kAbout =
      "uniform quantization, every value checked against the bound";
  static constexpr Kind kKind = Kind::quantizer;
  static constexpr Traits kTraits{};
  LinearParams params;

  template <class T>
  LinearGrid<T> at(double bound) const {
    return LinearGrid<T>(bound, params);
  }

  // With beyond=planes, codes from the radius on are planes of bits.
  bool sets_apart() const { return params.radius() > 0; }
  template <class I>
  bool is_apart(I code) const {
    return code >= I(params.radius()) || code <= -I(params.radius());
  }
  template <class I>
  I mark() const {
    return I(params.radius());
  }
  template <class I>
  void write_apart(std::span<const I> codes, Writer& notes) const {
    write_planes(codes, mark<I>(), notes);
  }
  template <class I>
  std::vector<I> read_apart(Reader& notes, size_t most) const {
    return read_planes(notes, mark<I>(), most);
  }
};

}  // namespace leeway
