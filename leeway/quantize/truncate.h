// SPDX-License-Identifier: BSD-3-Clause
// Truncate: values with fewer bits. Low bits are rounded away, as many as the bound allows for each
// value, or all but a given number, as in SZ3's pipeline for speed (truncate.md).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "leeway/base/export.h"
#include "leeway/quantize/one_by_one.h"
#include "leeway/stage/stage.h"

namespace leeway {

template <class T>
class TruncateGrid;

namespace kernel {

// What quantize() of the grid does for values at the front that all have a code; returns how many.
// `from` may be `x`; `ahead` is what will be wanted next.
LEEWAY_EXPORT size_t truncate(const TruncateGrid<float>& grid, const float* from,
                              const float* ahead, float* x, size_t n, i32* q, double& max_error);
LEEWAY_EXPORT size_t truncate(const TruncateGrid<double>& grid, const double* from,
                              const double* ahead, double* x, size_t n, i64* q, double& max_error);
LEEWAY_EXPORT size_t untruncate(const TruncateGrid<float>& grid, const i32* q, size_t n, float* x);
LEEWAY_EXPORT size_t untruncate(const TruncateGrid<double>& grid, const i64* q, size_t n,
                                double* x);

}  // namespace kernel

template <class T>
class TruncateGrid {
 public:
  TruncateGrid(double bound, int bits)
      : bound_(bound), bits_(bits), octaves_(bound > 0 ? std::ilogb(2 * bound) : -5000) {
    if constexpr (is_floating<T>)
      if (octaves_ > -kBiasOf<P>) {
        octaves_ = std::min(octaves_, kBiasOf<P> - 60);
        magic_ = P(std::ldexp(1.5, octaves_ + mantissa_bits<P>));
        coarse_ = P(std::ldexp(1.0, octaves_ + mantissa_bits<T> - 1));
      }
  }

  bool quantize(T& x, Predicted<T>, Code<T>& q) const { return quantize(x, q); }
  T recover(Predicted<T>, Code<T> q) const { return recover(q); }

  double quantize(std::span<T> values, std::span<Code<T>> codes, Patches<T>& exact,
                  size_t first = 0, Code<T> before = 0) const {
    double max_error = 0;
    for (size_t i = 0; i < values.size();) {
      if constexpr (std::is_floating_point_v<T>)
        i += kernel::truncate(*this, values.data() + i, values.data() + i, values.data() + i,
                              values.size() - i, codes.data() + i, max_error);
      const size_t n = std::min(values.size() - i, kStretch);
      max_error =
          std::max(max_error, quantize_one_by_one(*this, values.subspan(i, n), codes.subspan(i, n),
                                                  exact, first + i, i > 0 ? codes[i - 1] : before));
      i += n;
    }
    return max_error;
  }
  bool quantize_plane(const Plane<const std::byte>& plane, T* values, Code<T>* codes,
                      double& max_error) const requires std::is_floating_point_v<T> {
    if (!plane.template holds_rows_of<T>()) return false;
    const std::byte *row = plane.data, *ahead = plane.next ? plane.next : plane.data;
    for (size_t r = 0; r < plane.rows; ++r, row += plane.row_step, ahead += plane.row_step) {
      size_t i = kernel::truncate(*this, reinterpret_cast<const T*>(row),
                                  reinterpret_cast<const T*>(ahead), values, plane.length, codes,
                                  max_error);
      if (i + kStretch < plane.length) return false;
      for (; i < plane.length; ++i) {
        values[i] = reinterpret_cast<const T*>(row)[i];
        const T x = values[i];
        if (!quantize(values[i], codes[i])) return false;
        max_error = std::max(max_error, rounded_error(x, values[i]));
      }
      values += plane.length;
      codes += plane.length;
    }
    return true;
  }
  void recover(std::span<const Code<T>> codes, std::span<T> values) const {
    size_t i = 0;
    if constexpr (std::is_floating_point_v<T>)
      i = kernel::untruncate(*this, codes.data(), codes.size(), values.data());
    for (; i < codes.size(); ++i) values[i] = recover(codes[i]);
  }

  double bound() const { return bound_; }
  // Bits that no code has.
  int dropped() const { return bits_ > 0 ? std::max(kWidth - bits_, 0) : 0; }
  // With bits=0, values become multiples of the largest power of two that is at most twice the
  // bound, by adding and subtracting magic(); unless their last bits are no smaller anyway, from
  // coarse() on.
  bool is_by_value() const { return bits_ == 0; }
  Predicted<T> magic() const requires is_floating<T> { return magic_; }
  Predicted<T> coarse() const requires is_floating<T> { return coarse_; }

  static constexpr int kWidth = 8 * int(sizeof(T));

 private:
  static constexpr size_t kStretch = 16;
  using P = std::conditional_t<is_floating<T>, Predicted<T>, float>;
  template <class F>
  static constexpr int kBiasOf = (1 << (8 * int(sizeof(F)) - 2 - mantissa_bits<F>)) - 1;

  bool quantize(T& x, Code<T>& q) const {
    const auto code = code_of(x);
    const T y = recover(code);
    // Rounded up beyond all numbers, bits would have become the sign: there is no other -0.
    if constexpr (is_floating<T>)
      if (bits_of(y) == kSign) return false;
    if (!(error_between(x, y) <= bound_)) return false;
    x = y;
    q = code;
    return true;
  }
  Code<T> code_of(T x) const requires is_floating<T> {
    if (is_by_value() && std::abs(P(x)) < coarse_) x = T((P(x) + magic_) - magic_);
    const int low = dropped();
    const u64 half = low > 0 ? u64(1) << (low - 1) : 0, size = (u64(magnitude(x)) + half) >> low;
    return is_negative(x) ? -Code<T>(size) : Code<T>(size);
  }
  Code<T> code_of(T x) const requires std::integral<T> {
    using Signed = std::make_signed_t<T>;
    const auto order = i64(Signed(x));
    const int low = is_by_value() ? std::clamp(octaves_, 0, kWidth - 2) : dropped();
    const i64 half = low > 0 ? i64(1) << (low - 1) : 0;
    const bool fits = order <= std::numeric_limits<Signed>::max() - half;
    return Code<T>((fits ? (order + half) >> low << low : order) >> dropped());
  }
  T recover(Code<T> q) const {
    if constexpr (is_floating<T>) {
      const Bits<Code<T>> size = q < 0 ? 0 - Bits<Code<T>>(q) : Bits<Code<T>>(q);
      return std::bit_cast<T>(Bits<T>((size << dropped()) | (q < 0 ? kSign : 0)));
    } else {
      return T(Bits<Code<T>>(q) << dropped());
    }
  }

  static constexpr Bits<T> kSign = Bits<T>(Bits<T>(1) << (kWidth - 1));
  static Bits<T> magnitude(T x) { return Bits<T>(bits_of(x) & Bits<T>(~kSign)); }
  static bool is_negative(T x) { return bits_of(x) & kSign; }

  double bound_;
  int bits_, octaves_;
  P magic_ = 0, coarse_ = 0;
};

struct Truncate {
  static constexpr std::string_view kName = "truncate";
  static constexpr std::string_view kAbout = "values with fewer bits, rounded";
  static constexpr Kind kKind = Kind::quantizer;
  static constexpr Traits kTraits{.ignores_prediction = true};
  struct Params {
    i32 bits = 0;
    void fields(auto&& field) {
      field("bits", bits, 0, 64,
            "bits kept of every value, sign and exponent included; 0: as many as the bound needs");
    }
  } params;

  template <class T>
  TruncateGrid<T> at(double bound) const {
    return {bound, params.bits};
  }
};

}  // namespace leeway
