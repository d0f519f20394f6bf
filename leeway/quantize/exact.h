// SPDX-License-Identifier: BSD-3-Clause
// Exact: no loss. Maps values to integers of the same order, so that neighbours have near codes.
//
// A floating value read as a sign-magnitude integer, turned into two's complement: consecutive
// values get consecutive integers, -0 and +0 are neighbours, NaN payloads survive.
#pragma once

#include "leeway/stage/stage.h"

namespace leeway {

template <class T>
struct ExactGrid {
  using Signed = std::make_signed_t<Bits<T>>;

  static Signed order_of(T value) {
    const auto bits = Signed(bits_of(value));
    if constexpr (is_floating<T>)
      return flip(bits);
    else
      return bits;
  }
  static T value_of(Signed order) {
    if constexpr (is_floating<T>)
      return std::bit_cast<T>(Bits<T>(flip(order)));
    else
      return T(order);
  }

  bool quantize(T& x, Predicted<T> p, Code<T>& q) const {
    const auto code = Code<T>(Bits<Code<T>>(order_of(x)) - Bits<Code<T>>(order_of(nearest(p))));
    if (code == std::numeric_limits<Code<T>>::min()) return false;  // reserved
    q = code;
    return true;
  }
  T recover(Predicted<T> p, Code<T> q) const {
    return value_of(Signed(Bits<Code<T>>(q) + Bits<Code<T>>(order_of(nearest(p)))));
  }
  double quantize(std::span<T> values, std::span<Code<T>> codes, Patches<T>&, size_t = 0,
                  Code<T> = 0) const {
    for (size_t i = 0; i < values.size(); ++i) codes[i] = order_of(values[i]);
    return 0;
  }
  void recover(std::span<const Code<T>> codes, std::span<T> values) const {
    for (size_t i = 0; i < codes.size(); ++i) values[i] = value_of(Signed(codes[i]));
  }

 private:
  // Its own inverse: negative values are mirrored.
  static Signed flip(Signed bits) {
    return Signed(bits ^
                  (Signed(bits >> (8 * sizeof(T) - 1)) & std::numeric_limits<Signed>::max()));
  }
  // A prediction that is no number must not depend on the host's NaN.
  static T nearest(Predicted<T> p) { return p == p ? T(p) : T(Predicted<T>(0)); }
};

struct Exact {
  static constexpr std::string_view kName = "exact";
  static constexpr std::string_view kAbout = "no loss: values become integers in the same order";
  static constexpr Kind kKind = Kind::quantizer;
  static constexpr Traits kTraits{.lossless = true};
  NoParams params;

  template <class T>
  ExactGrid<T> at(double) const {
    return {};
  }
};

}  // namespace leeway
