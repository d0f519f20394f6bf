// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/choose/advise.h"

#include <algorithm>
#include <chrono>

#include "leeway/base/environment.h"
#include "leeway/leeway.hpp"

namespace leeway {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

// Halves the longest axis until the box has few enough values.
Box middle_box(const Shape& shape, u64 most) {
  std::vector<u64> extents(shape.extents().begin(), shape.extents().end());
  while (Shape(std::span<const u64>(extents)).size() > most) {
    u64& longest = *std::ranges::max_element(extents);
    longest = (longest + 1) / 2;
  }
  Box box{{}, Shape(std::span<const u64>(extents))};
  for (size_t axis = 0; axis < shape.rank(); ++axis)
    box.first[axis] = (shape[axis] - extents[axis]) / 2;
  return box;
}

View middle_part(const View& array, u64 most) { return array.part(middle_box(array.shape, most)); }

Bound absolute_limits(const View& array, const CompressOptions& options) {
  return absolute_limits(options, [&] { return value_range(array, options); });
}

Bound absolute_limits(const CompressOptions& options,
                      const std::function<std::optional<ValidRange>()>& find_range) {
  const DefaultFloatingPoint environment;
  if (!options.bound.has(BoundKind::rel)) return options.bound;
  const Range range = find_range().value_or(ValidRange{});
  Bound bound;
  for (const Limit& limit : options.bound.limits()) {
    if (limit.kind != BoundKind::rel)
      bound.add(limit.kind, limit.value);
    else if (range.max > range.min)
      bound.add(BoundKind::abs, relative_bound(limit.value, range));
    else
      bound.add(BoundKind::lossless, 0);
  }
  return bound;
}

std::vector<Advice> advise(const View& array, const CompressOptions& options,
                           std::vector<std::string> recipes, u64 sample) {
  const DefaultFloatingPoint environment;
  if (recipes.empty()) recipes = presets();
  if (array.shape.size() == 0) fail_argument("the array is empty");
  CompressOptions trial = options;
  trial.bound = absolute_limits(array, options);
  const View part = middle_part(array, std::max<u64>(sample, 1));
  const double bytes = double(part.shape.size()) * double(size_of(part.dtype));
  DecompressOptions reading;
  reading.execution = options.execution;
  std::vector<Advice> result;
  for (const std::string& recipe : recipes) {
    trial.recipe = recipe;
    Bytes stream;
    const auto start = std::chrono::steady_clock::now();
    const CompressReport report = compress(part, trial, [&](ByteView piece) {
      stream.insert(stream.end(), piece.begin(), piece.end());
    });
    const double compressing = seconds_since(start);
    const auto again = std::chrono::steady_clock::now();
    decompress(stream, reading);
    const double decompressing = seconds_since(again);
    result.push_back({recipe, bytes / double(stream.size()), bytes / 1e6 / compressing,
                      bytes / 1e6 / decompressing, report.statement.max_error});
  }
  return result;
}

std::vector<std::string> presets() { return {"fast", "balanced", "small", "smallest"}; }

}  // namespace leeway
