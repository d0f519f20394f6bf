// SPDX-License-Identifier: BSD-3-Clause
// Aim: what a variable is coded as, when others that a promise speaks of are coded already. Their
// errors are known then, so this one may make up for them: it is coded towards a target beside the
// original, from which the quantity comes out right although all errors together would spoil it.
//
//   |q(others decoded, y) - q(originals)| <= bound  for all y with |y - target| <= b
//
// Every variable but the last stays within kShare of the bound, with later ones at their originals;
// so the last one always finds a target as long as the quantity is about linear. Without targets,
// each of two equal terms would have to keep 1 / sqrt(2) of the bound or less, whatever happens to
// the other; with them, each has nearly all of it.
#pragma once

#include "leeway/derived/grid.h"
#include "leeway/derived/promise.h"

namespace leeway::derived {

// A promise of a quantity at points, without neighbours.
struct Local {
  const Promise* promise;
  double bound;  // absolute; less than promised for all variables but the last
};
inline constexpr double kShare = 0.99;

struct Aim {
  std::vector<double> targets, bounds;
};

class Aiming {
 public:
  // `given`: decoded values of variables that are coded, originals of all others.
  Aiming(std::vector<Local> locals, size_t variable, DType dtype, const Grid& originals,
         const Grid& given, const Execution& execution)
      : locals_(std::move(locals)),
        variable_(variable),
        dtype_(dtype),
        originals_(originals),
        given_(given),
        execution_(execution) {}

  // The largest bounds that the slopes of all promises allow, at most `room`.
  std::vector<double> wishes(const std::vector<double>& room) const;
  // Targets for these bounds, which become smaller where there is none. No target lies so far off
  // that the error could be larger than `room`.
  Aim aim(std::vector<double> bounds, const std::vector<double>& room) const;

 private:
  bool find(const Index& point, double x, double room, double b, double& target) const;

  std::vector<Local> locals_;
  size_t variable_;
  DType dtype_;
  const Grid &originals_, &given_;
  const Execution& execution_;
};

}  // namespace leeway::derived
