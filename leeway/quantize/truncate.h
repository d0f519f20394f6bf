// SPDX-License-Identifier: BSD-3-Clause
// Truncate: values with fewer bits. Low bits are rounded away, as many as the bound allows for each
// value, or all but a given number, as in SZ3's pipeline for speed (truncate.md).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "leeway/core/stage.h"
#include "leeway/quantize/exact.h"
#include "leeway/quantize/one_by_one.h"

namespace leeway {

template <class T>
class TruncateGrid {
 public:
  TruncateGrid(double bound, int bits)
      : bound_(bound), bits_(bits), octaves_(bound > 0 ? std::ilogb(2 * bound) : -5000) {}

  bool quantize(T& x, Predicted<T>, Code<T>& q) const { return quantize(x, q); }
  T recover(Predicted<T>, Code<T> q) const { return recover(q); }
  double quantize(std::span<T> values, std::span<Code<T>> codes, Patches<T>& exact,
                  size_t first = 0) const {
    return quantize_one_by_one(*this, values, codes, exact, first);
  }
  void recover(std::span<const Code<T>> codes, std::span<T> values) const {
    recover_one_by_one(*this, codes, values);
  }

 private:
  using Order = typename ExactGrid<T>::Signed;
  static constexpr int kWidth = 8 * int(sizeof(T));
  int dropped() const { return bits_ > 0 ? std::max(kWidth - bits_, 0) : 0; }

  bool quantize(T& x, Code<T>& q) const {
    const int low = bits_ > 0 ? dropped() : droppable(x);
    const auto code = Code<T>(rounded(ExactGrid<T>::order_of(x), low) >> dropped());
    const T y = recover(code);
    if (!(error_between(x, y) <= bound_)) return false;
    x = y;
    q = code;
    return true;
  }
  T recover(Code<T> q) const {
    return ExactGrid<T>::value_of(Order(std::make_unsigned_t<Order>(q) << dropped()));
  }

  // To the nearest multiple of 2^low of the magnitude, away from 0 if there are two.
  static Order rounded(Order order, int low) {
    if (low == 0) return order;
    const bool mirrored = is_floating<T> && order < 0;
    auto size = i64(mirrored ? Order(-1 - order) : order);
    const i64 half = i64(1) << (low - 1);
    if (size > std::numeric_limits<Order>::max() - half) return order;
    size = (size + half) >> low << low;
    return Order(mirrored ? -1 - size : size);
  }

  // How many bits of this value the bound does not need: 2^n units of its last place are at most
  // twice the bound.
  int droppable(T x) const {
    if constexpr (is_floating<T>) {
      const int exponent = int(bits_of(x) >> kMantissa & kExponents);
      return std::clamp(octaves_ + kMantissa - (std::max(exponent, 1) - kBias), 0, kMantissa);
    } else {
      return std::clamp(octaves_, 0, kWidth - 2);
    }
  }
  static constexpr int kMantissa = std::is_same_v<T, f16>     ? 10
                                   : std::is_same_v<T, bf16>  ? 7
                                   : std::is_same_v<T, float> ? 23
                                                              : 52;
  static constexpr int kExponents = std::is_same_v<T, f16> ? 31 : sizeof(T) == 8 ? 2047 : 255;
  static constexpr int kBias = kExponents / 2;
  double bound_;
  int bits_, octaves_;
};

struct Truncate {
  static constexpr std::string_view kName = "truncate";
  static constexpr std::string_view kAbout = "values with fewer bits, rounded";
  static constexpr Kind kKind = Kind::quantizer;
  static constexpr bool kIgnoresPrediction = true;
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
