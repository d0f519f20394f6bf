// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stage/params.h"
#include "tools/region.h"

namespace leeway::cli {

Region parse_region(const std::string& text, const Shape& shape) {
  Region region;
  std::array<u64, kMaxRank> extents;
  std::vector<u64> shown;
  std::vector<std::string> parts = CLI::detail::split(text, ',');
  if (text.empty()) parts.clear();
  if (parts.size() > shape.rank())
    fail_argument(
        fmt::format("the region '{}' has more axes than the array {}", text, to_string(shape)));
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    const std::string part = axis < parts.size() ? parts[axis] : ":";
    const size_t colon = part.find(':');
    const auto index = [&](const std::string& digits, u64 fallback) {
      if (digits.empty() && colon != std::string::npos) return fallback;
      i64 value = 0;
      if (!detail::parse_number(std::string_view(digits), value))
        fail_argument("'" + part + "' is not a range; write it like 0:10, : or 250");
      if (value < 0) value += i64(shape[axis]);
      if (value < 0 || u64(value) > shape[axis])
        fail_argument(fmt::format("'{}' is outside axis {} of extent {}", part, axis, shape[axis]));
      return u64(value);
    };
    const u64 begin = index(part.substr(0, colon), 0);
    const u64 end =
        colon == std::string::npos ? begin + 1 : index(part.substr(colon + 1), shape[axis]);
    if (end <= begin || end > shape[axis])
      fail_argument(
          fmt::format("'{}' selects nothing of axis {} of extent {}", part, axis, shape[axis]));
    region.box.first[axis] = begin;
    extents[axis] = end - begin;
    if (colon != std::string::npos) shown.push_back(end - begin);
  }
  region.box.shape = Shape(std::span<const u64>(extents).first(shape.rank()));
  region.shown = Shape(std::span<const u64>(shown));
  return region;
}

RegionBound parse_region_bound(const std::string& text, const Shape& shape) {
  const size_t equals = text.rfind('=');
  double bound = 0;
  if (equals == std::string::npos ||
      !detail::parse_number(std::string_view(text).substr(equals + 1), bound) || !(bound >= 0))
    fail_argument("'" + text + "' is no region with a bound; write it like 0:10,:,:=1e-6");
  return {parse_region(text.substr(0, equals), shape).box, bound};
}

}  // namespace leeway::cli
