// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stage/bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "leeway/base/distance.h"
#include "leeway/base/environment.h"
#include "leeway/base/error.h"
#include "leeway/stage/params.h"

namespace leeway {
namespace {

constexpr std::string_view kNames[] = {"abs",      "rel",   "psnr", "l2",
                                       "lossless", "ratio", "rate", "pointwise"};

}  // namespace

std::string_view name_of(BoundKind kind) { return kNames[size_t(kind) - 1]; }
bool is_bound_kind(u8 id) { return id >= 1 && id <= std::size(kNames); }

BoundKind parse_bound_kind(std::string_view name) {
  std::string known;
  for (u8 id = 1; is_bound_kind(id); ++id) {
    if (name_of(BoundKind(id)) == name) return BoundKind(id);
    known += (known.empty() ? "" : ", ") + std::string(name_of(BoundKind(id)));
  }
  fail_argument("there is no bound '" + std::string(name) + "'; there are " + known);
}

void Range::join(const Range& other) {
  min = std::min(min, other.min), max = std::max(max, other.max);
  low = std::min(low, other.low), high = std::max(high, other.high);
}

double Range::size() const {
  if (high > low) return rounded_down(high - low);
  return std::min(max - min, std::numeric_limits<double>::max());
}

double relative_bound(double rel, const Range& range) {
  const DefaultFloatingPoint environment;
  const bool is_beyond = !std::isfinite(range.max - range.min);  // larger than any double
  double e = is_beyond ? 2 * rel * (range.max / 2 - range.min / 2) : rel * range.size();
  for (int i = 0; i < 3; ++i) e = std::nextafter(e, 0.0);
  return std::isfinite(e) ? e : std::numeric_limits<double>::max();
}

double shortened(double bound) {
  const DefaultFloatingPoint environment;
  int exponent;
  const double fraction = std::frexp(bound, &exponent);
  return std::ldexp(std::floor(fraction * 0x1p20), exponent - 20);
}

Bound& Bound::add(BoundKind kind, double value) {
  const DefaultFloatingPoint environment;
  if (kind != BoundKind::lossless && !(value > 0 && std::isfinite(value)))
    throw Error(Errc::invalid_argument, "the bound " + std::string(name_of(kind)) +
                                            " must be a positive number, not " +
                                            detail::number_text(value));
  limits_.push_back({kind, value});
  return *this;
}

bool Bound::has(BoundKind kind) const {
  return std::ranges::any_of(limits_, [&](const Limit& limit) { return limit.kind == kind; });
}

std::string to_string(const Bound& bound) {
  std::string text;
  for (const Limit& limit : bound.limits()) {
    text += (text.empty() ? "" : ",") + std::string(name_of(limit.kind));
    if (limit.kind != BoundKind::lossless) text += "=" + detail::number_text(limit.value);
  }
  return text;
}

}  // namespace leeway
