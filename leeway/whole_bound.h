// SPDX-License-Identifier: BSD-3-Clause
// WholeBound: a bound on an array that a host hands over in parts, each without the others. A limit
// that refers to all values is turned into limits for each part that together ensure it.
#pragma once

#include "leeway/engine/engine.h"
#include "leeway/stage/bound.h"

namespace leeway {

struct WholeBound {
  Bound bound;        // of errors; a size cannot be asked for
  double range = 0;   // max - min of all values; 0: not known. rel and psnr need it
  double values = 0;  // how many there are; 0: not known. l2 needs it
};

// The limits for every part.
struct PartBound {
  Bound each;      // abs, pointwise or lossless: of every value
  double rms = 0;  // largest root mean square error; 0: any

  bool is_lossless() const { return each.has(BoundKind::lossless); }
  void apply_to(CompressOptions& options) const {
    options.bound = each;
    options.rms = rms;
  }
  friend bool operator==(const PartBound& a, const PartBound& b) {
    return a.each.limits() == b.each.limits() && a.rms == b.rms;
  }
};

// Throws if the range or the number of values is needed but not known.
PartBound part_bound(const WholeBound& whole);

}  // namespace leeway
