// SPDX-License-Identifier: BSD-3-Clause
// Tune: searches the parameters of a recipe's stages for those that make an array smallest, one
// parameter after the other, until none gains any more.
#pragma once

#include <string>
#include <vector>

#include "leeway/base/export.h"
#include "leeway/engine/engine.h"

namespace leeway {

struct Tuned {
  struct Step {
    std::string recipe;
    u64 bytes;
  };
  std::vector<Step> steps;  // the recipe as given, then every better one
  size_t trials = 0;        // streams that were made
  u64 values = 0;           // of the part of the array that they were made of

  const Step& best() const { return steps.back(); }
};

struct TuneOptions {
  size_t most_trials = 200;
  u64 most_values = u64(1) << 20;
};

// Of options.recipe, within its bounds, which are resolved for the whole array. The result depends
// on the values alone, not on time.
Tuned tune(const View& array, const CompressOptions& options,
                         const TuneOptions& how = {});

}  // namespace leeway
