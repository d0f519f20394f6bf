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
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "leeway/base/distance.h"
#include "leeway/base/export.h"
#include "leeway/quantize/planes.h"
#include "leeway/stage/stage.h"
#include "leeway/stage/wave.h"

namespace leeway {

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
enum class Beyond : u8 { exact, planes };
constexpr std::array<std::string_view, 2> param_words(Beyond) { return {"exact", "planes"}; }

struct LinearParams {
  StepRule step = StepRule::eight_bits;
  i32 bins = 0;
  Beyond beyond = Beyond::exact;
  i32 second = 1;
  void fields(auto&& field) {
    field("step", step, StepRule::eight_bits, StepRule::power_of_two,
          "short: just below twice the bound; pow2: the power of two at or below it");
    field("bins", bins, 0, 1 << 30, "how many codes there are; 0: all");
    field("beyond", beyond, Beyond::exact, Beyond::planes,
          "other values are kept exactly, or their codes stand apart, plane of bits by plane");
    field("second", second, 0, 1,
          "1: where the arithmetic of f32 finds no code, that of f64 is tried; 0: as hardware does");
  }
  void check() const {
    if (beyond == Beyond::planes && bins == 0)
      fail_argument("stage 'linear': beyond=planes needs a number of bins");
  }
  // Of the codes; 0: no limit.
  i32 limit() const { return beyond == Beyond::exact ? bins : 0; }
  // Codes from here on are set apart (planes.h); 0: none is.
  i32 radius() const { return beyond == Beyond::planes ? std::max(bins / 2, 1) : 0; }
};

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

template <class T>
struct LinearGrid;

namespace kernel {

// What the array forms of LinearGrid do for values [0, n) that all have a code; returns how many
// values at the front were done. The rest, if any, starts with a value for the scalar definition.
LEEWAY_EXPORT size_t quantize(const LinearGrid<float>& grid, float* x, size_t n, i32* q,
                              double& max_error);
LEEWAY_EXPORT size_t quantize(const LinearGrid<double>& grid, double* x, size_t n, i64* q,
                              double& max_error);
// All values of a plane of rows of T, to x and q; says whether each has a code, one of 16 bits if
// that is what q holds. If not, x and q mean nothing.
LEEWAY_EXPORT bool quantize_plane(const LinearGrid<float>& grid,
                                  const Plane<const std::byte>& plane, float* x, i32* q,
                                  double& max_error);
LEEWAY_EXPORT bool quantize_plane(const LinearGrid<double>& grid,
                                  const Plane<const std::byte>& plane, double* x, i64* q,
                                  double& max_error);
LEEWAY_EXPORT bool quantize_plane(const LinearGrid<float>& grid,
                                  const Plane<const std::byte>& plane, float* x, i16* q,
                                  double& max_error);
LEEWAY_EXPORT bool quantize_plane(const LinearGrid<double>& grid,
                                  const Plane<const std::byte>& plane, double* x, i16* q,
                                  double& max_error);
LEEWAY_EXPORT size_t recover(const LinearGrid<float>& grid, const i16* q, size_t n, float* x);
LEEWAY_EXPORT size_t recover(const LinearGrid<double>& grid, const i16* q, size_t n, double* x);
LEEWAY_EXPORT size_t recover(const LinearGrid<float>& grid, const i32* q, size_t n, float* x);
LEEWAY_EXPORT size_t recover(const LinearGrid<double>& grid, const i64* q, size_t n, double* x);
// The same with a prediction for every value.
LEEWAY_EXPORT size_t quantize_run(const LinearGrid<float>& grid, float* x, const float* p, size_t n,
                                  i32* q, double& max_error);
LEEWAY_EXPORT size_t quantize_run(const LinearGrid<double>& grid, double* x, const double* p,
                                  size_t n, i64* q, double& max_error);
LEEWAY_EXPORT size_t recover_run(const LinearGrid<float>& grid, float* x, const float* p, size_t n,
                                 const i32* q);
LEEWAY_EXPORT size_t recover_run(const LinearGrid<double>& grid, double* x, const double* p,
                                 size_t n, const i64* q);

}  // namespace kernel

// Values done by the scalar definition before the kernel is tried again.
inline constexpr size_t kScalarStretch = 16, kRecoverStretch = 64;

template <Floating T>
struct LinearGrid<T> {
  double step, inverse, limit;  // limit: of the error
  double most;                  // codes are smaller
  // The same for float arithmetic; 0 if they do not fit.
  float short_step = 0, short_inverse = 0, short_limit = 0, short_most = 0;
  bool has_second;  // whether f64 may find codes for floats

  // Codes up to here times an eight-bit step are exact in float.
  static constexpr float kShortCode = 65536;
  static constexpr double kMaxCode = sizeof(T) == 8 ? 0x1p50 : 0x1p30;

  explicit LinearGrid(double bound, const LinearParams& params = {})
      : step(params.step == StepRule::eight_bits ? leeway::short_step(bound) : binary_step(bound)),
        inverse(1 / step),
        limit(tight<double>(bound)),
        most(params.limit() > 0 ? std::min(params.limit() / 2 - 0.5, kMaxCode) : kMaxCode),
        has_second(params.second != 0) {
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
      if (short_step > 0 && std::abs(i64(q)) <= i64(kShortCode)) return p + float(q) * short_step;
    return T(double(p) + double(q) * step);
  }

  bool quantize(T& x, Predicted<T> p, Code<T>& q) const {
    if constexpr (std::is_same_v<T, float>) {
      const float t = (x - p) * short_inverse;
      if (short_step > 0 && std::abs(t) <= short_most) {
        const float n = round_to_even(t), y = p + n * short_step;
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
          exact.add(first + i, x);
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
  T step, inverse, limit, most;
  static constexpr Code<T> kHighest =
      Code<T>(sizeof(T) == 4 ? i64(LinearGrid<T>::kShortCode) : i64(LinearGrid<T>::kMaxCode));

  explicit GridInType(const LinearGrid<T>& grid) {
    if constexpr (sizeof(T) == 4) {
      step = grid.short_step, inverse = grid.short_inverse;
      limit = grid.short_limit, most = grid.short_most;
    } else {
      step = grid.step, inverse = grid.inverse;
      limit = grid.limit, most = std::min(grid.most - 0.5, grid.kMaxCode / 2);
    }
  }
};

template <std::integral T>
struct LinearGrid<T> {
  u64 half;  // floor(bound): codes are up to 2 * half + 1 apart
  i64 step;
  i64 most;  // the largest code

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
      return T(sum);
    else
      return T(std::clamp(i64(sum), i64(std::numeric_limits<T>::min()),
                          i64(std::numeric_limits<T>::max())));
  }

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

// All codes of the rows, and in their place what recover_wave() will put there. Says false and
// changes nothing if a value has no code.
LEEWAY_EXPORT bool quantize_wave(const LinearGrid<float>& grid, const Wave<float>& rows, i32* codes,
                                 double& max_error);
LEEWAY_EXPORT bool quantize_wave(const LinearGrid<double>& grid, const Wave<double>& rows,
                                 i64* codes, double& max_error);
// Says false and changes nothing if some codes are for the scalar definition.
LEEWAY_EXPORT bool recover_wave(const LinearGrid<float>& grid, const Wave<float>& rows,
                                const i32* codes);
LEEWAY_EXPORT bool recover_wave(const LinearGrid<double>& grid, const Wave<double>& rows,
                                const i64* codes);

// The same for blocks.
LEEWAY_EXPORT bool quantize_block(const LinearGrid<float>& grid, const BlockWave<float>& block,
                                  i32* codes, double& max_error);
LEEWAY_EXPORT bool quantize_block(const LinearGrid<double>& grid, const BlockWave<double>& block,
                                  i64* codes, double& max_error);
LEEWAY_EXPORT bool recover_block(const LinearGrid<float>& grid, const BlockWave<float>& block,
                                 const i32* codes);
LEEWAY_EXPORT bool recover_block(const LinearGrid<double>& grid, const BlockWave<double>& block,
                                 const i64* codes);

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
