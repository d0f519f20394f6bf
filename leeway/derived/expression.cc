// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/derived/expression.h"

#include <algorithm>

namespace leeway::derived {

void Expression::settle(const Shape& shape) {
  shape_ = shape;
  const auto rank = shape.rank();
  const auto settle_axis = [&](size_t& axis) {
    const auto given = std::ptrdiff_t(axis);
    const auto from_slowest = given < 0 ? given + std::ptrdiff_t(rank) : given;
    if (from_slowest < 0 || from_slowest >= std::ptrdiff_t(rank))
      fail_argument("there is no axis " + std::to_string(given) + " in " + to_string(shape));
    axis = size_t(from_slowest);
    if (shape[axis] < 2)
      fail_argument("axis " + std::to_string(axis) + " of " + to_string(shape) +
                    " has no neighbours to take differences of");
  };
  for (Slot& slot : slots_)
    for (Step& step : slot.path) settle_axis(step.axis);
  for (Path& path : paths_)
    for (Step& step : path) settle_axis(step.axis);
  for (Node& node : nodes_)
    if (node.op == Op::span) settle_axis(node.b);
  is_constant_in_place_ = !has_neighbours();
}

bool Expression::has_neighbours() const {
  return std::ranges::any_of(slots_, [](const Slot& slot) { return !slot.path.empty(); });
}

u64 Expression::walk(Index& point, const Path& path) const {
  for (const Step& step : path) {
    u64& at = point[step.axis];
    if (step.by > 0)
      at = std::min(at + 1, shape_[step.axis] - 1);
    else if (at > 0)
      --at;
  }
  u64 offset = 0;
  for (size_t axis = 0; axis < shape_.rank(); ++axis) offset = offset * shape_[axis] + point[axis];
  return offset;
}

void Expression::place(const Index& point, Place& place) const {
  Index at = point;
  const u64 here = walk(at, {});
  for (size_t s = 0; s < slots_.size(); ++s) {
    if (slots_[s].path.empty()) {
      place.offset[s] = here;
      continue;
    }
    at = point;
    place.offset[s] = walk(at, slots_[s].path);
  }
  if (is_constant_in_place_) return;
  for (size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    if (node.op != Op::span) continue;
    at = point;
    walk(at, paths_[node.a]);
    const u64 last = shape_[node.b] - 1, low = at[node.b] > 0 ? at[node.b] - 1 : 0,
              high = std::min(at[node.b] + 1, last);
    place.span[n] = node.number * double(high - low);
  }
}

bool Expression::forward(const Interval* inputs, const Place& place, Interval* results) const {
  for (size_t n = 0; n < nodes_.size(); ++n) {
    const Node& node = nodes_[n];
    if ((node.op == Op::divide && results[node.b].has(0)) ||
        ((node.op == Op::square_root || node.op == Op::logarithm) && !(results[node.a].lo >= 0)))
      return false;
    const auto a = [&] { return results[node.a]; };
    const auto b = [&] { return results[node.b]; };
    results[n] = [&]() -> Interval {
      switch (node.op) {
        case Op::constant:
          return Interval::at(node.number);
        case Op::slot:
          return inputs[node.a];
        case Op::span:
          return Interval::at(place.span[n]);
        case Op::add:
          return a() + b();
        case Op::subtract:
          return a() - b();
        case Op::multiply:
          return a() * b();
        case Op::divide:
          return a() / b();
        case Op::negate:
          return -a();
        case Op::power:
          return power(a(), int(node.b));
        case Op::square_root:
          return sqrt(a());
        case Op::logarithm:
          return log(a());
        case Op::exponential:
          return exp(a());
        case Op::absolute:
          return abs(a());
        case Op::smaller:
          return min(a(), b());
        case Op::larger:
          return max(a(), b());
      }
      return Interval::all();
    }();
  }
  return true;
}

Interval Expression::value(const Interval* inputs, const Place& place) const {
  std::array<Interval, kMostNodes> results;
  return forward(inputs, place, results.data()) ? results[nodes_.size() - 1] : Interval::all();
}

namespace {

// Of |v|, min and max: of one operand or of the other, or of anything between where both meet.
Interval slope(bool is_first, bool is_other, double first, double other) {
  if (is_first) return Interval::at(first);
  if (is_other) return Interval::at(other);
  return {std::min(first, other), std::max(first, other)};
}

}  // namespace

Interval Expression::value(const Interval* inputs, const Place& place,
                           Interval* derivatives) const {
  std::array<Interval, kMostNodes> results, by;  // by: derivatives by the result of a node
  if (!forward(inputs, place, results.data())) {
    std::fill_n(derivatives, slots_.size(), Interval::all());
    return Interval::all();
  }
  std::fill_n(by.begin(), nodes_.size(), Interval{});
  std::fill_n(derivatives, slots_.size(), Interval{});
  by[nodes_.size() - 1] = Interval::at(1);
  for (size_t n = nodes_.size(); n-- > 0;) {
    const Node& node = nodes_[n];
    const Interval d = by[n];
    const auto add = [&](size_t to, Interval part) { by[to] = by[to] + part; };
    const auto a = [&] { return results[node.a]; };
    const auto b = [&] { return results[node.b]; };
    switch (node.op) {
      case Op::constant:
      case Op::span:
        break;
      case Op::slot:
        derivatives[node.a] = derivatives[node.a] + d;
        break;
      case Op::add:
        add(node.a, d), add(node.b, d);
        break;
      case Op::subtract:
        add(node.a, d), add(node.b, -d);
        break;
      case Op::multiply:
        add(node.a, d * b()), add(node.b, d * a());
        break;
      case Op::divide:
        add(node.a, d / b()), add(node.b, -(d * a() / (b() * b())));
        break;
      case Op::negate:
        add(node.a, -d);
        break;
      case Op::power:
        add(node.a,
            node.b == 1 ? d : d * Interval::at(double(node.b)) * power(a(), int(node.b) - 1));
        break;
      case Op::square_root:
        add(node.a, d / (Interval::at(2) * results[n]));
        break;
      case Op::logarithm:
        add(node.a, d / a());
        break;
      case Op::exponential:
        add(node.a, d * results[n]);
        break;
      case Op::absolute:
        add(node.a, d * slope(a().lo >= 0, a().hi <= 0, 1, -1));
        break;
      case Op::smaller:
      case Op::larger: {
        const bool first = node.op == Op::smaller ? a().hi <= b().lo : a().lo >= b().hi,
                   other = node.op == Op::smaller ? b().hi <= a().lo : b().lo >= a().hi;
        add(node.a, d * slope(first, other, 1, 0));
        add(node.b, d * slope(first, other, 0, 1));
        break;
      }
    }
  }
  return results[nodes_.size() - 1];
}

}  // namespace leeway::derived
