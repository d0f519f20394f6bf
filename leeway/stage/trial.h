// SPDX-License-Identifier: BSD-3-Clause
// Trial: a predictor that chooses its settings tries them on samples of an array.
#pragma once

#include <array>

#include "leeway/base/shape.h"

namespace leeway {

// Part of an array: extents, first index, and distance of neighbours along every axis.
struct Sample {
  Shape shape;
  Index first{};
  std::array<u64, kMaxRank> step{};
};

// How a predictor with certain settings did on a sample.
struct Trial {
  u64 cost = 0;   // about how many bits the codes take, times 2^16
  u64 coded = 0;  // values whose code is not 0
  u64 values = 0;
  double squares = 0;     // the sum of squared errors, in units of the squared bound of the chunk
  bool unchanged = true;  // whether all values came back bit for bit
  bool lossless = false;  // whether no settings could change a value
};

}  // namespace leeway
