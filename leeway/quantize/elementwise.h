// SPDX-License-Identifier: BSD-3-Clause
// Elementwise: linear quantization with a bound for every value, from an array or regions that the
// caller gives (elementwise.md). Values with the same bound form a class and share a grid.
#pragma once

#include "leeway/quantize/linear.h"

namespace leeway {

struct Elementwise {
  static constexpr std::string_view kName = "elementwise";
  static constexpr std::string_view kAbout =
      "uniform quantization with a bound for every value (--bounds, --region-bound)";
  static constexpr Kind kKind = Kind::quantizer;
  static constexpr Traits kTraits{.by_value = true};
  using Grids = Linear;
  NoParams params;

  template <class T>
  LinearGrid<T> at(double bound) const {
    return LinearGrid<T>(bound);
  }
};

}  // namespace leeway
