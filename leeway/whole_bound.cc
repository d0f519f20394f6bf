// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/whole_bound.h"

#include <algorithm>
#include <cmath>

#include "leeway/base/environment.h"
#include "leeway/base/error.h"

namespace leeway {
namespace {

double known(double number, const char* what) {
  if (!(number > 0 && std::isfinite(number)))
    fail_argument(std::string("only one chunk is seen at a time, so ") + what);
  return number;
}

double range_of(const WholeBound& whole) {
  return known(whole.range,
               "the range of all values must be told: give range= (maximum - minimum), or an "
               "absolute bound");
}

}  // namespace

PartBound part_bound(const WholeBound& whole) {
  const DefaultFloatingPoint environment;
  constexpr double kNone = std::numeric_limits<double>::infinity();
  double abs = kNone, rms = kNone;
  for (const Limit& limit : whole.bound.limits()) {
    if (limit.kind == BoundKind::lossless) return {Bound::lossless(), 0};
    if (limit.kind == BoundKind::pointwise) {
      if (whole.bound.limits().size() > 1) fail_argument("a pointwise bound stands alone");
      return {whole.bound, 0};
    }
    if (limit.kind == BoundKind::abs) abs = std::min(abs, limit.value);
    if (limit.kind == BoundKind::rel)
      abs = std::min(abs, relative_bound(limit.value, Range{0, range_of(whole)}));
    if (limit.kind == BoundKind::psnr)
      rms = std::min(rms, shortened(range_of(whole) * std::pow(10, -limit.value / 20)));
    if (limit.kind == BoundKind::l2)
      rms = std::min(rms, limit.value / std::sqrt(known(whole.values,
                                                        "the number of all values must be told for "
                                                        "l2: give values=")));
    if (limit.kind == BoundKind::ratio || limit.kind == BoundKind::rate)
      fail_argument("a size can only be asked for where the whole array is compressed at once");
  }
  if (whole.bound.limits().empty())
    fail_argument("a bound is needed: abs, rel, psnr, l2, pointwise or lossless");
  // The allowed error is too small for a double: nothing may be lost.
  if (!is_usable_bound(abs) || !is_usable_bound(rms)) return {Bound::lossless(), 0};
  PartBound part;
  if (abs < kNone) part.each.add(BoundKind::abs, abs);
  if (rms < kNone) part.rms = rms;
  return part;
}

}  // namespace leeway
