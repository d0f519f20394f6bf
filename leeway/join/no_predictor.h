// SPDX-License-Identifier: BSD-3-Clause
// No predictor: stands for the predictor that a recipe leaves out.
#pragma once

#include "leeway/stage/stage.h"

namespace leeway {

// The predictor that is not there: every value is predicted as 0.
struct NoPredictor {
  static constexpr std::string_view kName = "none";
  static constexpr std::string_view kAbout = "no prediction";
  static constexpr Kind kKind = Kind::predictor;
  static constexpr Traits kTraits{};
  NoParams params;
  void forward(auto, Writer&) const {}
  void backward(auto, Reader&) const {}
};

}  // namespace leeway
