// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/report/rate_distortion.h"

#include <cmath>

#include "leeway/choose/advise.h"
#include "leeway/leeway.hpp"
#include "leeway/quality/assess.h"

namespace leeway::report {

std::vector<RatePoint> rate_distortion(const Pair& pair, double bound, const Execution& execution) {
  constexpr u64 kSample = u64(1) << 17;
  std::vector<RatePoint> points;
  if (!(bound > 0) || pair.shape.size() == 0) return points;
  const Box box = middle_box(pair.shape, kSample);
  const Part part = pair.original.read(box);
  CompressOptions options;
  options.fill_bits = pair.original.fills;
  options.execution.threads = execution.threads;
  for (const std::string& preset : presets()) {
    options.recipe = preset;
    for (const double factor : {16.0, 4.0, 1.0, 0.25, 0.0625}) {
      options.bound = Bound::abs(bound * factor);
      const Bytes stream = compress(part.view, options);
      const Array decoded = decompress(stream);
      const View view(decoded.data(), decoded.dtype(), decoded.shape());
      AssessOptions quick;
      const PairMoments m =
          moments_of(pair_of(part.view, view, pair.original.fills), quick.execution);
      RatePoint point{preset, bound * factor};
      point.bits = 8 * double(stream.size()) / double(box.shape.size());
      const double rmse = std::sqrt(m.mean_square_e());
      if (!(rmse > 0) || !(m.variance_x() > 0)) continue;
      point.psnr = 20 * std::log10((m.max_x() - m.min_x()) / rmse);
      point.accuracy_gain = std::log2(std::sqrt(m.variance_x()) / rmse) - point.bits;
      points.push_back(point);
    }
  }
  return points;
}

}  // namespace leeway::report
