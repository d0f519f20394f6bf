// SPDX-License-Identifier: BSD-3-Clause
// Advise: ratio and speed of recipes for an array, measured on a part of it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "leeway/engine/engine.h"

namespace leeway {

struct Advice {
  std::string recipe;
  double ratio = 0;
  double compress_mb_s = 0, decompress_mb_s = 0;  // with the threads of the options
  double max_error = 0;
};

// Returns one entry for each recipe, in the same order; tries all presets if `recipes` is empty.
// The part is cut from the middle and has at most `sample` values; its bound is that of the whole
// array.
std::vector<Advice> advise(const View& array, const CompressOptions& options,
                           std::vector<std::string> recipes = {}, u64 sample = u64(1) << 22);

// A box in the middle of an array, of at most so many values.
Box middle_box(const Shape& shape, u64 most);
View middle_part(const View& array, u64 most);

// The limits of the options, in which those relative to the range have become absolute.
Bound absolute_limits(const View& array, const CompressOptions& options);
Bound absolute_limits(const CompressOptions& options,
                      const std::function<std::optional<ValidRange>()>& range);

// The names of all presets, the fastest first.
std::vector<std::string> presets();

}  // namespace leeway
