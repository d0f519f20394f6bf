// SPDX-License-Identifier: BSD-3-Clause
// Regression: a polynomial through every block, as SZ2 has it; Lorenzo where there is none
// (composite.h).
#pragma once

#include "leeway/predict/composite.h"

namespace leeway {

struct Regression {
  static constexpr std::string_view kName = "regression";
  static constexpr std::string_view kAbout = "a plane or a quadric through every block";
  static constexpr Kind kKind = Kind::predictor;
  static constexpr Traits kTraits{
      .chunk_values = u64(1) << 20, .needs_step = true, .one_grid = true};
  struct Params {
    i32 degree = 1;
    i32 block = 0;
    void fields(auto&& field) {
      field("degree", degree, 1, 2, "1: planes, 2: quadrics");
      field("block", block, 0, 128,
            "edge of a block; 0: 128, 16, 6, 6 by the number of axes; larger ones are cut");
    }
  } params;

  template <class T, class Notes>
  void walk(Field<T> field, auto& coder, Notes& notes) const {
    walk_blocks({.lorenzo2 = false,
                 .degree1 = params.degree == 1,
                 .degree2 = params.degree == 2,
                 .compares = false,
                 .edge = params.block},
                field, coder, notes);
  }
};

}  // namespace leeway
