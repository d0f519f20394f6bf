// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/core/bound.h"

#include <algorithm>
#include <cmath>

#include "leeway/core/error.h"
#include "leeway/core/params.h"

namespace leeway {
namespace {

constexpr std::string_view kNames[] = {"abs", "rel", "psnr", "l2", "lossless"};

}  // namespace

std::string_view name_of(BoundKind kind) { return kNames[size_t(kind) - 1]; }
bool is_bound_kind(u8 id) { return id >= 1 && id <= std::size(kNames); }

Bound& Bound::add(BoundKind kind, double value) {
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
