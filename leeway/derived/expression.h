// SPDX-License-Identifier: BSD-3-Clause
// Expression: a quantity that is calculated from values of some variables, such as
// "sqrt(u^2+v^2)" or "vorticity(u, v)", for every point of their common grid; and what interval
// arithmetic says of it (docs/QUALITY.md lists the functions).
//
//   expression = term { ("+" | "-") term }        power   = primary [ "^" unary ]
//   term       = unary { ("*" | "/") unary }      primary = number | name | name "(" list ")" |
//   unary      = "-" unary | power                          "(" expression ")" | "{" any name "}"
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "leeway/base/shape.h"
#include "leeway/derived/interval.h"

namespace leeway::derived {

// A step to a neighbour along an axis; at the border of the array it stays where it is.
struct Step {
  size_t axis;
  int by;  // +1 or -1
  friend bool operator==(const Step&, const Step&) = default;
};
using Path = std::vector<Step>;

// A value that the expression takes: of this variable, where the path leads from the point.
struct Slot {
  size_t variable;
  Path path;
  friend bool operator==(const Slot&, const Slot&) = default;
};

enum class Op : u8 {
  constant,  // number
  slot,      // the value of slot a
  span,      // number times the distance between both neighbours along axis b, seen from path a
  add,
  subtract,
  multiply,
  divide,
  negate,
  power,  // a^b, b >= 1
  square_root,
  logarithm,
  exponential,
  absolute,
  smaller,
  larger,
};

struct Node {
  Op op;
  size_t a = 0, b = 0;  // nodes before this one, unless said otherwise
  double number = 0;
};

class Expression {
 public:
  // The names of variables become numbers in the order of `names`; a name that is not among them is
  // added if `may_add`, and is an error otherwise. Throws Error with the place of what is wrong.
  Expression(std::string_view text, std::vector<std::string>& names, bool may_add);

  static constexpr size_t kMostNodes = 128, kMostSlots = 32;
  const std::vector<Slot>& slots() const { return slots_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Path>& paths() const { return paths_; }
  // The highest axis that it names, counted from the slowest, is below `rank`. Axes given from the
  // fastest (-1) are made into such. To be called once, before values are asked for.
  void settle(const Shape& shape);
  // Whether its values at a point depend on other points.
  bool has_neighbours() const;

  // Where slots and spans are, seen from a point of the grid.
  struct Place {
    std::array<u64, kMostSlots> offset;   // in row-major order
    std::array<double, kMostNodes> span;  // by node
  };
  void place(const Index& point, Place& place) const;

  // A range of the values that it has where slot s is anywhere in inputs[s]; unbounded if it may
  // not be defined there.
  Interval value(const Interval* inputs, const Place& place) const;
  // And of its partial derivatives by every slot.
  Interval value(const Interval* inputs, const Place& place, Interval* derivatives) const;

 private:
  friend class Parser;
  // Says no where the expression may not be defined, as 1/x around 0.
  bool forward(const Interval* inputs, const Place& place, Interval* results) const;
  u64 walk(Index& point, const Path& path) const;

  std::vector<Node> nodes_;
  std::vector<Slot> slots_;
  std::vector<Path> paths_;  // of spans
  Shape shape_;
  bool is_constant_in_place_ = true;  // no slot has a path
};

}  // namespace leeway::derived
