// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/report/similar.h"

#include <cmath>

#include "leeway/base/environment.h"
#include "leeway/choose/advise.h"
#include "leeway/leeway.hpp"
#include "leeway/quality/data_ssim.h"
#include "leeway/report/text.h"

namespace leeway::report {
namespace {

constexpr std::string_view kBefore = "dssim(", kBetween = ")>=";

// The smallest absolute bound of the options, or infinity.
double smallest_bound(const View& array, const CompressOptions& options) {
  double smallest = std::numeric_limits<double>::infinity();
  if (options.bound.limits().empty()) return smallest;
  const Bound absolute = absolute_limits(array, options);
  for (const Limit& limit : absolute.limits()) {
    if (limit.kind != BoundKind::abs)
      fail_argument("data SSIM goes together with bounds abs and rel only");
    smallest = std::min(smallest, limit.value);
  }
  return smallest;
}

}  // namespace

std::optional<double> dssim_promised(std::string_view text) {
  const size_t end = text.find(kBetween);
  if (!text.starts_with(kBefore) || end == text.npos) return {};
  return std::stod(std::string(text.substr(end + kBetween.size())));
}

double worst_dssim(const View& original, const View& decoded, const std::vector<u64>& fills,
                   const Execution& execution) {
  const DefaultFloatingPoint environment;
  const Pair pair = pair_of(original, decoded, fills);
  Execution quiet;
  quiet.threads = execution.threads, quiet.executor = execution.executor;
  double worst = std::numeric_limits<double>::quiet_NaN();
  TileWalk(pair, quiet)
      .run<double>([](const Tile& t) { return data_ssim(t.x, t.y, t.valid, t.rows, t.columns); },
                   [&](u64, double& found) { worst = std::fmin(worst, found); });
  return worst;
}

Similar compress_similar(const View& array, CompressOptions options, double least,
                         const std::string& name) {
  if (!(least > 0 && least < 1)) fail_argument("a data SSIM to be kept is between 0 and 1");
  if (options.has_regions() || options.earlier)
    fail_argument("data SSIM does not go together with bounds of regions or by value");
  const std::optional<ValidRange> range = value_range(array, options);
  if (range) options.fill_bits = range->fills, options.fills.clear();
  options.detect_fills = false, options.brief = false;
  const double cap = smallest_bound(array, options);
  const Execution& execution = options.execution;
  const std::string wanted = "dssim>=" + exact_number(least);
  const auto guess =
      bound_for(array, options.fill_bits, {parse_requirements(wanted)}, options.recipe, execution);
  if (!guess && (!range || !(range->size() > 0)))
    fail_argument("the array has one value only: there is no data SSIM to be kept");
  double bound = std::min(cap, guess ? guess->bound.limits()[0].value : range->size() * 1e-9);
  constexpr int kTries = 40;
  DecompressOptions reading;
  reading.execution.threads = execution.threads, reading.execution.executor = execution.executor;
  for (int k = 0; k < kTries; ++k, bound /= 1.25) {
    Similar made;
    options.bound = Bound::abs(bound);
    made.report = compress(array, options, [&](ByteView part) {
      made.stream.insert(made.stream.end(), part.begin(), part.end());
    });
    const Array decoded = decompress(made.stream, reading);
    made.dssim = worst_dssim(array, View(decoded.data(), decoded.dtype(), decoded.shape()),
                             options.fill_bits, execution);
    if (std::isnan(made.dssim))
      fail_argument("the array has no map of 11 x 11 values: data SSIM is not defined for it");
    if (!(made.dssim >= least)) continue;
    const double gap = std::max(0.0, 1 - made.dssim);
    made.stream =
        with_promises(made.stream, name,
                      {{std::string(kBefore) + name + std::string(kBetween) + exact_number(least),
                        std::max(gap, 1 - least), gap}});
    made.report.output_bytes = made.stream.size();
    return made;
  }
  throw Error(Errc::invalid_argument, "no bound keeps a data SSIM of " + exact_number(least));
}

}  // namespace leeway::report
