// SPDX-License-Identifier: BSD-3-Clause
// Together: variables on one grid, compressed so that what is calculated from them keeps its own
// bounds. Bounds value by value are derived (derive.h), the streams are decoded, every promise is
// checked on what they decode to (keep.h), and bounds become smaller where one is broken.
#pragma once

#include <string>
#include <vector>

#include "leeway/base/export.h"
#include "leeway/derived/keep.h"
#include "leeway/engine/engine.h"

namespace leeway::derived {

// One variable. Its bound is abs, rel or pointwise, or none at all if promises speak of it.
struct Member {
  std::string name;
  View view;
  CompressOptions options;
};

struct Together {
  std::vector<Bytes> streams;  // each states all promises that speak of its variable
  std::vector<CompressReport> reports;
  std::vector<Kept> promises;
  unsigned passes = 0;  // how often the variables were coded
};

// The whole of all variables, their decoded values and bounds are in memory. Throws Error if a
// promise makes no sense or speaks of a variable that is missing.
Together compress_together(const std::vector<Member>& members,
                                         const std::vector<std::string>& promises,
                                         const Execution& execution);

// What decoded arrays are to be checked against.
struct Decoded {
  std::string name;
  View original, decoded;
  std::vector<u64> fills;
};
// Checks promises by the absolute bounds that are stated. Those that speak of variables that are
// missing are left out; their texts are added to `missing`.
std::vector<Kept> check_together(const std::vector<Decoded>& members,
                                               const std::vector<StatedPromise>& promises,
                                               const Execution& execution,
                                               std::vector<std::string>& missing);

}  // namespace leeway::derived
