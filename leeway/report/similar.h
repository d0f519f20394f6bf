// SPDX-License-Identifier: BSD-3-Clause
// Similar: compressed as far as the data SSIM of the worst map allows.
#pragma once

#include "leeway/report/suggest.h"

namespace leeway::report {

struct Similar {
  Bytes stream;  // states the promise "dssim(NAME)>=LEAST"
  CompressReport report;
  double dssim = 0;  // of the whole array, measured
};

// The bound of the options, if there is one, holds as well. Throws Error if the array has no map of
// 11 x 11 values, of which data SSIM is defined, or if no bound is small enough.
Similar compress_similar(const View& array, CompressOptions options, double least,
                                       const std::string& name);

// The text of that promise, and what it asks for; nothing if the text is another promise.
std::optional<double> dssim_promised(std::string_view text);
// Of the worst map; NaN where it is not defined.
double worst_dssim(const View& original, const View& decoded,
                                 const std::vector<u64>& fills, const Execution& execution);

}  // namespace leeway::report
