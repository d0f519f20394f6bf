// SPDX-License-Identifier: BSD-3-Clause
// Promise: what must be true of a quantity that is calculated from decoded values, or of these
// values beside their own bounds. As text:
//
//   sqrt(u^2+v^2)=abs:0.1        at every point of the grid
//   mean(t)=abs:1e-3             of all values; sum(t) likewise
//   mean(t,axis=0)=abs:1e-3      of every slice of axis 0
//   mean(t,block=8)=abs:1e-3     of every block of 8 values along each of the last two axes
//   mean(t,region=0:10,:,5)=...  of a region
//   gradient(t)=rel:1e-2         of the range that the quantity has
//   zeros(t)                     zeros stay zeros
//   sign(t)                      what is below, at or above 0 stays so
//   t>=0, t<=100                 no value passes the limit, unless it did so before: then it is
//   kept
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/derived/expression.h"
#include "leeway/stage/bound.h"

namespace leeway::derived {

enum class Rule : u8 { quantity, zeros, sign, lowest, highest };
// Which points a mean or sum is of.
enum class Over : u8 { point, whole, slices, blocks, region };

struct Promise {
  std::string text;  // as it was written, without spaces
  Rule rule = Rule::quantity;
  size_t variable = 0;  // of all rules but `quantity`
  double limit = 0;     // lowest, highest
  std::optional<Expression> quantity;
  Over over = Over::point;
  bool is_mean = false;  // or a sum
  size_t axis = 0;       // of slices
  u64 block = 0;
  std::string region_text;
  Box region;
  BoundKind kind = BoundKind::abs;
  double value = 0;

  // To be called before it is used: numbers of axes and regions are checked.
  void settle(const Shape& shape);
  // How many means or sums there are; and to which a point belongs, if to any.
  u64 groups() const;
  std::optional<u64> group_of(const Index& point) const;

 private:
  Shape shape_;
};

// Adds the names of variables to `names` if `may_add`. Throws Error if the text makes no sense.
Promise parse_promise(std::string_view text, std::vector<std::string>& names, bool may_add);

}  // namespace leeway::derived
