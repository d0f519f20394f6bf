// SPDX-License-Identifier: BSD-3-Clause
// Wavelet: a lifting transform in the place of the predictor, for limits on squared errors
// (wavelet.md).
//
// Means and differences of interpolating wavelets [Deslauriers and Dubuc, 1989; Sweldens, 1996]:
// with steps by the norms of what coefficients stand for, all errors weigh the same. What a bound
// on single values asks for beyond that is repaired value by value (join/transform_first.h).
#pragma once

#include "leeway/base/export.h"
#include "leeway/predict/wavelet/bands.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Wavelet {
  static constexpr std::string_view kName = "wavelet";
  static constexpr std::string_view kAbout =
      "a lifting transform, for limits on squared errors; single values are repaired";
  static constexpr Kind kKind = Kind::predictor;
  static constexpr Traits kTraits{.chunk_values = 3 << 21, .transforms = true};
  struct Params {
    i32 filter = -1;
    i32 order = -1;
    i32 trade = 8;
    i32 reach = 0;
    void fields(auto&& field) {
      field("filter", filter, -1, 1,
            "0: polynomials of degree 5, 1: of degree 7, -1: chosen by a sample");
      field("order", order, -1, 2,
            "0: all axes halved together, 1: the first one by itself, 2: each by itself, -1: "
            "chosen by a sample");
      field("trade", trade, 0, 50, "what a bit is worth, in squared steps times 100");
      field("reach", reach, 0, 160,
            "the step in parts of ten of the bound, where only single errors are limited; 0: by "
            "trial");
    }
  } params;

  // What suits a sample also suits the array that it is from.
  struct Choice {
    u8 filter = 0;
    wavelet::Order order = wavelet::Order::dyadic;
    i32 more = 0;  // halvings of the first axis beyond the usual; -9: none at all
  };
  template <class C>
  LEEWAY_EXPORT Choice choose(Field<const C> sample, double step) const;
  LEEWAY_EXPORT static wavelet::Plan plan_for(const Choice& choice, const Shape& shape);

  // Replaces values by what decode() will give; says false if the step is too small for them.
  template <class C>
  LEEWAY_EXPORT bool encode(Field<C> values, const wavelet::Plan& plan, double step, AnySink& codes,
                            Writer& notes) const;
  template <class C>
  LEEWAY_EXPORT void decode(Field<C> values, const wavelet::Plan& plan, double step,
                            AnySource& codes, Reader& notes) const;
};

}  // namespace leeway
