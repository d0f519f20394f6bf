// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/choose/equal_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "leeway/leeway.hpp"
#include "leeway/recipe/recipe.h"

namespace leeway {
namespace {

constexpr std::string_view kTransform = "wavelet+linear+rans";

// What a part of `values` values may do if the whole array keeps the bound everywhere alike.
Bound for_part(const Bound& bound, const Range& range, double values_of_whole, double values) {
  Bound result;
  double rms = std::numeric_limits<double>::max();
  for (const Limit& limit : bound.limits()) {
    if (limit.kind == BoundKind::abs) result.add(BoundKind::abs, limit.value);
    if (limit.kind == BoundKind::rel)
      result.add(BoundKind::abs, relative_bound(limit.value, range));
    if (limit.kind == BoundKind::l2) rms = std::min(rms, limit.value / std::sqrt(values_of_whole));
    if (limit.kind == BoundKind::psnr)
      rms = std::min(rms, range.size() * std::pow(10, -limit.value / 20));
  }
  // As bounds that are searched for: a host's pow() shall not matter.
  const double norm = shortened(rms * std::sqrt(values));
  return norm > 0 ? result.add(BoundKind::l2, norm) : Bound();
}

}  // namespace

bool is_tried_at_equal_error(const Shape& shape, const CompressOptions& options) {
  static constexpr std::string_view kPresets[] = {"balanced", "small", "smallest"};
  constexpr u64 kWorthATrial = 256;  // values
  return options.bound.needs_measurement() && !options.bound.wants_size() &&
         !options.bound.has(BoundKind::lossless) && !options.bound.has(BoundKind::pointwise) &&
         std::ranges::find(kPresets, options.recipe) != std::end(kPresets) && !options.earlier &&
         !options.keeps_all && !options.has_regions() && shape.size() >= kWorthATrial;
}

std::string recipe_at_equal_error(const Sight& array, const CompressOptions& options) {
  constexpr double kMostPsnr = 300;  // beyond, nothing is lost
  if (!is_tried_at_equal_error(array.shape, options)) return options.recipe;
  const auto range = array.range();
  if (!range || !(range->size() > 0)) return options.recipe;
  for (const Limit& limit : options.bound.limits())
    if (limit.kind == BoundKind::psnr && limit.value > kMostPsnr) return options.recipe;

  CompressOptions trial;
  trial.recipe = options.recipe;
  trial.fill_bits = range->fills;
  trial.detect_fills = false;
  trial.brief = true;
  trial.execution.threads = options.execution.threads;
  trial.bound = for_part(options.bound, *range, double(array.shape.size()),
                         double(array.middle.shape.size()));
  if (trial.bound.limits().empty()) return options.recipe;
  const auto bytes_by = [&](std::string_view recipe) {
    trial.recipe = recipe;
    u64 bytes = 0;
    compress(array.middle, trial, [&](ByteView piece) { bytes += piece.size(); });
    return bytes;
  };
  // By its stages: under its name the preset would be tried again.
  const std::string preset = to_string(parse_recipe(options.recipe));
  return bytes_by(kTransform) < bytes_by(preset) ? std::string(kTransform) : options.recipe;
}

}  // namespace leeway
