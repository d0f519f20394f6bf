// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/region_bounds.h"

#include <algorithm>
#include <limits>

#include "leeway/engine/region.h"

namespace leeway {
namespace {

void check(const RegionBound& region, const Shape& shape) {
  if (!(region.bound >= 0 && region.bound <= std::numeric_limits<double>::max()))
    fail_argument("the bound of a region is a number from 0 (no loss) up");
  if (region.box.shape.rank() != shape.rank())
    fail_argument("a region does not have as many axes as the array " + to_string(shape));
  if (!contains(shape, region.box))
    fail_argument("a region is outside the array " + to_string(shape));
}

}  // namespace

void check_bounds(const View& bounds, const Shape& shape) {
  if (!(bounds.shape == shape) || (bounds.dtype != DType::f32 && bounds.dtype != DType::f64))
    fail_argument("bounds value by value are f32 or f64 numbers, as many as the array has values");
}

std::vector<double> bounds_of(const View& view) {
  std::vector<double> bounds(size_t(view.shape.size()));
  if (view.dtype == DType::f64) {
    gather(view, bounds.data());
  } else {
    std::vector<float> narrow(bounds.size());
    gather(view, narrow.data());
    std::ranges::copy(narrow, bounds.begin());
  }
  if (!std::ranges::all_of(bounds, [](double bound) { return bound >= 0; }))
    fail_argument("a bound value by value is negative or not a number");
  return bounds;
}

std::vector<RegionBound> stated_regions(const CompressOptions& options, const Header& header,
                                        bool is_by_value) {
  std::vector<RegionBound> regions = options.regions;
  for (const RegionBound& region : regions) check(region, header.shape);
  const View& bounds = options.bounds;
  if (!bounds.data) return regions;
  check_bounds(bounds, header.shape);
  double largest = 0;
  for (u64 i = 0; i < header.grid().size(); ++i) {
    const Box box = header.chunk_box(i);
    const std::vector<double> found = bounds_of(bounds.part(box));
    const auto [low, high] = std::ranges::minmax(found);
    if (!is_by_value && low <= std::numeric_limits<double>::max()) regions.push_back({box, low});
    largest = std::max(largest, high);
  }
  if (is_by_value)
    regions.push_back({{{}, header.shape}, std::min(largest, std::numeric_limits<double>::max())});
  return regions;
}

std::vector<double> bounds_in(const CompressOptions& options, const Box& chunk, double bound) {
  std::vector<double> bounds(size_t(chunk.shape.size()), bound);
  if (options.bounds.data)
    std::ranges::transform(bounds_of(options.bounds.part(chunk)), bounds.begin(),
                           [&](double e) { return std::min(bound, usable_bound(e)); });
  const auto whole = mutable_view_of(bounds.data(), chunk.shape);
  for (const RegionBound& region : options.regions)
    if (const auto parts = overlap(chunk, region.box.first, region.box.shape))
      for_each_row(whole.part(parts->first), [&](std::byte* row, size_t count, std::ptrdiff_t) {
        for (double& e : std::span(reinterpret_cast<double*>(row), count))
          e = std::min(e, usable_bound(region.bound));
      });
  return bounds;
}

}  // namespace leeway
