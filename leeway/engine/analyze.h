// SPDX-License-Identifier: BSD-3-Clause
// Analyze: the range of an array's valid values, and the fill values hidden among them.
//
// A fill value is the lowest or highest finite value, occurs at least twice, and is a customary
// one: 1e20, -9999, the netCDF default, ... Where the bound depends on the range it must also lie
// further from all other values than those lie from each other; then a value 1e9 times as large as
// all others will do, too. An absolute bound needs no such care, but the finding must be the same
// in decoded data: it must not depend on the other values, and the value must be one that
// quantization does not give by chance. Integers and 16-bit floats are too coarse for that; with
// them only enormous values (1e20, ...) count.
#pragma once

#include <functional>
#include <vector>

#include "leeway/array.h"
#include "leeway/base/field.h"
#include "leeway/base/parallel.h"
#include "leeway/stage/bound.h"

namespace leeway {

struct Analysis {
  std::vector<u64> fills;    // declared ones first, then those found; bit patterns, zero-extended
  Range range;               // of the finite values that are no fill values; 0 if there are none
  bool any_valid = false;    // whether there are such values
  bool any_special = false;  // NaN, infinities or fill values
};

enum class Detect { nothing, customary, isolated };

// Declared fill values are bit patterns.
Analysis analyze(const View& view, std::vector<u64> declared, Detect detect, unsigned threads,
                 const Executor& executor, const std::function<void()>& pause);

// The values that analyze() concludes from: the few lowest and highest, each at most twice.
Array lowest_and_highest(const View& view, std::vector<u64> declared, unsigned threads,
                         const Executor& executor, const std::function<void()>& pause);

}  // namespace leeway
