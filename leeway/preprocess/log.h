// SPDX-License-Identifier: BSD-3-Clause
// Log: values as signs and logarithms. An absolute bound on logarithms is one relative to each
// value: the bound `pointwise` [Liang et al., CLUSTER 2018].
//
// Zeros and values too small to have a full mantissa are kept apart and are special to the stages
// after it; they are replaced by the logarithm before them, so that prediction sees no step.
// Logarithms and powers are our own, so that every host has the same bits.
#pragma once

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

// log2(x) of a positive normal number, and 2^y for |y| < 1100, by sums, products and one quotient
// of doubles in a fixed order; off by a few units in the last place.
LEEWAY_EXPORT double log2_of_number(double x);
LEEWAY_EXPORT double power_of_two(double y);

struct Log {
  static constexpr std::string_view kName = "log";
  static constexpr std::string_view kAbout =
      "signs and logarithms, for bounds relative to each value";
  static constexpr Kind kKind = Kind::preprocessor;
  static constexpr Traits kTraits{.floating_only = true};
  NoParams params;

  template <class T>
  requires is_floating<T> LEEWAY_EXPORT void forward(Field<T> field, std::vector<u8>& special,
                                                     Writer& side) const;
  template <class T>
  requires is_floating<T> LEEWAY_EXPORT void backward(Field<T> field, Reader& side) const;

  // The bound for logarithms with which values keep theirs; 0: logarithms must be exact.
  template <class T>
  LEEWAY_EXPORT double inner_bound(double bound) const;
  // |original - decoded| <= bound * |original|, and zeros and tiny values stay what they are.
  template <class T>
  LEEWAY_EXPORT bool holds(T original, T decoded, double bound) const;
};

}  // namespace leeway
