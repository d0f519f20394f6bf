// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/header.h"

#include "leeway/engine/region_bounds.h"

namespace leeway {
namespace {

// Whether frames of an earlier stream are valid in the new one.
bool continues(const Header& now, const Header& earlier) {
  return now.dtype == earlier.dtype && now.shape == earlier.shape && now.chunk == earlier.chunk &&
         now.recipe == earlier.recipe && now.bound.limits() == earlier.bound.limits() &&
         now.bound.is_lasting() && now.regions.empty() && earlier.regions.empty();
}

// What holds for all rows of a growing stream must be known before they are.
void check_growing(const CompressOptions& options, const Shape& shape) {
  if (shape.rank() == 0 || shape[0] == 0)
    fail_argument("a growing stream begins with at least one row along its first axis");
  if (options.bound.needs_measurement() || options.bound.wants_size() || options.rms > 0)
    fail_argument(
        "a growing stream has a bound abs, rel, pointwise or lossless: others depend on "
        "all rows");
  if (options.has_regions() || options.earlier || options.keeps_all)
    fail_argument("a growing stream has one bound for all values");
}

}  // namespace

Header checked_header(const ChunkCodec& codec, const std::string& recipe, const View& view,
                      const CompressOptions& options) {
  if (options.bound.limits().empty() && !(options.rms > 0))
    fail_argument("a bound is needed: how much error may a value have?");
  const bool pointwise = options.bound.has(BoundKind::pointwise);
  if (pointwise && (options.bound.limits().size() > 1 || options.rms > 0))
    fail_argument("a pointwise bound stands alone");
  if (codec.is_pointwise() != pointwise && !options.bound.has(BoundKind::lossless))
    fail_argument(pointwise ? "a pointwise bound needs a recipe with the stage log"
                            : "the stage log needs a pointwise bound");
  if (options.growing) check_growing(options, view.shape);
  Header header;
  header.is_growing = options.growing;
  header.dtype = view.dtype;
  header.shape = view.shape;
  if (pointwise && options.has_regions())
    fail_argument("a pointwise bound stands alone, without bounds of regions");
  header.chunk = chunk_of(options, view.shape, codec);
  header.bound = options.bound;
  header.recipe = recipe;
  header.regions = stated_regions(options, header, codec.is_by_value());
  if (options.earlier && !continues(header, options.earlier->header()))
    fail_argument("the earlier stream is not one of this array, recipe and bound");
  if (options.fills.size() + options.fill_bits.size() > kMostFills - kMostFoundFills)
    fail_argument("at most " + std::to_string(kMostFills - kMostFoundFills) +
                  " fill values can be declared");
  if (regions_overlap_too_much(header))
    fail_argument("the regions with bounds of their own overlap too much");
  return header;
}

}  // namespace leeway
