// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/derived/keep.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace leeway::derived {
namespace {

constexpr size_t kMost = Expression::kMostSlots;

// The quantity at a point, before and after.
struct Change {
  bool is_compared = false;  // all values are ordinary
  Interval by = {0, 0};
};

class Quantity {
 public:
  Quantity(const Expression& expression, const Grid& original, const Grid& decoded)
      : e_(expression), original_(original), decoded_(decoded) {}

  Change change(const Index& point) {
    e_.place(point, place_);
    std::array<double, kMost> x, y;
    const bool before = take(e_, place_, original_, x.data()),
               after = take(e_, place_, decoded_, y.data());
    if (!before && !after) return {};
    const size_t size = e_.slots().size();
    if (std::equal(x.begin(), x.begin() + std::ptrdiff_t(size), y.begin())) return {true};
    std::array<Interval, kMost> then, now;
    for (size_t s = 0; s < size; ++s) then[s] = Interval::at(x[s]), now[s] = Interval::at(y[s]);
    if (before != after) return {true, Interval::all()};
    return {true, e_.value(now.data(), place_) - e_.value(then.data(), place_)};
  }
  // Bounds of the values that the last change is made of.
  void multiply(Grid& bounds, double factor) const {
    for (size_t s = 0; s < e_.slots().size(); ++s) {
      double& b = bounds.of[e_.slots()[s].variable][size_t(place_.offset[s])];
      b = b * factor > 0x1p-60 * std::abs(value(s)) ? b * factor : 0;
    }
  }
  void place(const Index& point) { e_.place(point, place_); }

 private:
  double value(size_t s) const {
    return original_.of[e_.slots()[s].variable][size_t(place_.offset[s])];
  }
  const Expression& e_;
  const Grid &original_, &decoded_;
  Expression::Place place_;
};

bool is_before(const Index& a, const Index& b, size_t rank) {
  return std::lexicographical_compare(a.begin(), a.begin() + std::ptrdiff_t(rank), b.begin(),
                                      b.begin() + std::ptrdiff_t(rank));
}

void check_points(const Promise& promise, const Grid& original, const Grid& decoded,
                  const Execution& execution, Grid* bounds, Kept& kept) {
  const Expression& e = *promise.quantity;
  std::mutex mutex;
  for_each_box(original.shape, bounds ? reach_of(e) : 0, execution, [&](const Box& box, u64) {
    Quantity quantity(e, original, decoded);
    Kept here;
    for_each_point(box, [&](const Index& point) {
      const Change change = quantity.change(point);
      if (!change.is_compared) return;
      ++here.compared;
      const double error = change.by.size();
      if (error > here.reached) here.reached = error, here.worst = point;
      if (error <= kept.bound) return;
      ++here.beyond;
      if (bounds) quantity.multiply(*bounds, 0.25);
    });
    const std::lock_guard lock(mutex);
    kept.compared += here.compared, kept.beyond += here.beyond;
    if (here.reached > kept.reached ||
        (here.reached == kept.reached && is_before(here.worst, kept.worst, box.shape.rank())))
      kept.reached = here.reached, kept.worst = here.worst;
  });
}

// Changes of a group together.
struct Sum {
  Interval by = {0, 0};
  u64 count = 0;
};

// In every box, and then in the order of boxes, so that the result depends on no thread.
std::map<u64, Sum> sums_of(const Promise& promise, const Grid& original, const Grid& decoded,
                           const Execution& execution) {
  std::vector<std::map<u64, Sum>> parts(size_t(boxes_of(original.shape, 0)));
  for_each_box(original.shape, 0, execution, [&](const Box& box, u64 ordinal) {
    Quantity quantity(*promise.quantity, original, decoded);
    for_each_point(box, [&](const Index& point) {
      const auto group = promise.group_of(point);
      if (!group) return;
      const Change change = quantity.change(point);
      if (!change.is_compared) return;
      Sum& sum = parts[size_t(ordinal)][*group];
      sum.by = sum.by + change.by, ++sum.count;
    });
  });
  std::map<u64, Sum> all;
  for (const auto& part : parts)
    for (const auto& [group, sum] : part) {
      Sum& whole = all[group];
      whole.by = whole.by + sum.by, whole.count += sum.count;
    }
  return all;
}

void check_groups(const Promise& promise, const Grid& original, const Grid& decoded,
                  const Execution& execution, Grid* bounds, Kept& kept) {
  std::map<u64, double> factors;  // of bounds in groups that break the promise
  for (const auto& [group, sum] : sums_of(promise, original, decoded, execution)) {
    const double error = promise.is_mean ? above(sum.by.size() / double(sum.count)) : sum.by.size();
    ++kept.compared;
    kept.reached = std::max(kept.reached, sum.by.size() == 0 ? 0 : error);
    if (error <= kept.bound || sum.by.size() == 0) continue;
    ++kept.beyond;
    factors[group] = error < kInfinite ? std::min(0.5, 0.7 * kept.bound / error) : 0;
  }
  if (!bounds || factors.empty()) return;
  Quantity quantity(*promise.quantity, original, decoded);
  for_each_point({{}, original.shape}, [&](const Index& point) {
    const auto group = promise.group_of(point);
    if (!group || !factors.contains(*group)) return;
    quantity.place(point);
    quantity.multiply(*bounds, factors[*group]);
  });
}

bool breaks_rule(const Promise& promise, double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return false;
  switch (promise.rule) {
    case Rule::zeros:
      return x == 0 && y != 0;
    case Rule::sign:
      return (x > 0) != (y > 0) || (x < 0) != (y < 0);
    case Rule::lowest:
      return y < promise.limit && y != x;
    case Rule::highest:
      return y > promise.limit && y != x;
    case Rule::quantity:
      break;
  }
  return false;
}

}  // namespace

Kept check(const Promise& promise, double bound, const Grid& original, const Grid& decoded,
           const Execution& execution, Grid* bounds) {
  Kept kept{.text = promise.text, .bound = bound};
  if (promise.rule == Rule::quantity) {
    (promise.over == Over::point ? check_points : check_groups)(promise, original, decoded,
                                                                execution, bounds, kept);
    return kept;
  }
  const std::vector<double>&x = original.of[promise.variable], &y = decoded.of[promise.variable];
  for (size_t i = 0; i < x.size(); ++i) {
    kept.compared += !std::isnan(x[i]);
    if (!breaks_rule(promise, x[i], y[i])) continue;
    ++kept.beyond, kept.reached = kInfinite;
    if (bounds) bounds->of[promise.variable][i] = 0;
  }
  return kept;
}

}  // namespace leeway::derived
