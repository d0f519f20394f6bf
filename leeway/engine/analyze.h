// SPDX-License-Identifier: BSD-3-Clause
// Analyze: the range of an array's valid values, and the fill values hidden among them.
//
// A fill value is the lowest or highest finite value, occurs at least twice, and is a customary
// one: 1e20, -9999, the netCDF default, ... If the bound depends on the range, it must also be
// further from all other values than those are from each other; then any value 1e9 times as large
// as all others is a fill value, too. With an absolute bound, decoded data must show the same fill
// values: the decision must not depend on other values, and quantization must not give the value
// by chance. Integers and 16-bit floats are too coarse for that; of them only enormous values
// (1e20, ...) are fill values.
#pragma once

#include <functional>
#include <vector>

#include "leeway/array.h"
#include "leeway/base/field.h"
#include "leeway/base/parallel.h"
#include "leeway/engine/summary.h"
#include "leeway/stage/bound.h"

namespace leeway {

struct Analysis {
  std::vector<u64> fills;    // declared ones first, then those found; bit patterns, zero-extended
  Range range;               // of finite values that are no fill values; 0 if there are none
  bool any_valid = false;    // whether there are such values
  bool any_special = false;  // NaN, infinities or fill values
};

enum class Detect { nothing, customary, isolated };

// Declared fill values are bit patterns.
Summary summarize(const View& view, const std::vector<u64>& declared, unsigned threads,
                  const Executor& executor, const std::function<void()>& pause);
// The same for these values after others, on the calling thread.
Summary summarize(const View& view, const Summary& before);
Analysis conclude(const Summary& all, DType dtype, std::vector<u64> declared, Detect detect);
// Both.
Analysis analyze(const View& view, std::vector<u64> declared, Detect detect, unsigned threads,
                 const Executor& executor, const std::function<void()>& pause);

// The values that analyze() decides from: the few lowest and highest, each at most twice.
Array lowest_and_highest(const View& view, std::vector<u64> declared, unsigned threads,
                         const Executor& executor, const std::function<void()>& pause);

}  // namespace leeway
