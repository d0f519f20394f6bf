// SPDX-License-Identifier: BSD-3-Clause
// Suggest: which bound suits a field, from what its numbers show and from what a bound would do to
// them, tried on a part of it; and the largest bound that meets requirements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "leeway/choose/precision.h"
#include "leeway/report/scores.h"

namespace leeway::report {

struct Suggestion {
  std::string by;  // "quality", "information", "noise"
  std::string why;
  Bound bound;  // abs or pointwise; lossless where nothing may be lost
  double ratio = 0, psnr = 0, dssim = 0, pearson_gap = 0;  // expected, from the part
};

struct Advised {
  Precision precision;
  std::vector<Suggestion> suggestions;
  size_t best = 0;  // of the suggestions
};

Advised suggest(const View& array, const std::vector<u64>& fills,
                              const std::string& recipe, const Execution& execution,
                              bool may_be_pointwise = true);

// What a user wants, as a requirement: "dssim=0.9995", "ratio=30", "spectrum=1%@0.5nyquist",
// "gradient=1%", or like --require: "psnr>=60".
Requirement parse_want(std::string_view text);
// The largest absolute bound for which all are met, checked on the whole array if it has at most
// 2^24 values, otherwise on a part; nothing if none is small enough.
std::optional<Suggestion> bound_for(const View& array, const std::vector<u64>& fills,
                                                  const std::vector<Requirement>& wants,
                                                  const std::string& recipe,
                                                  const Execution& execution);

}  // namespace leeway::report
