// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/derived/derive.h"

#include <algorithm>
#include <mutex>

namespace leeway::derived {
namespace {

constexpr size_t kMost = Expression::kMostSlots;
using Numbers = std::array<double, kMost>;

// What is known of an expression while its values x are off by at most b.
class Surroundings {
 public:
  Surroundings(const Expression& expression, const Expression::Place& place, const double* x)
      : e_(expression), place_(place), x_(x), size_(expression.slots().size()) {
    std::array<Interval, kMost> inputs;
    for (size_t s = 0; s < size_; ++s) inputs[s] = Interval::at(x[s]);
    here_ = e_.value(inputs.data(), place_);
  }
  bool is_defined() const { return here_.is_bounded(); }

  // Finds the largest |derivative| by each value, and says whether the expression stays within
  // `bound` of what it is for x: because its range does, or by the mean value theorem.
  bool is_safe(const Numbers& b, double bound, Numbers& slopes) const {
    std::array<Interval, kMost> inputs, derivatives;
    for (size_t s = 0; s < size_; ++s)
      inputs[s] = b[s] > 0 ? outward(x_[s] - b[s], x_[s] + b[s]) : Interval::at(x_[s]);
    const Interval range = e_.value(inputs.data(), place_, derivatives.data());
    double sum = 0;
    for (size_t s = 0; s < size_; ++s) {
      slopes[s] = derivatives[s].size();
      if (b[s] > 0 && slopes[s] > 0) sum = above(sum + above(slopes[s] * b[s]));
    }
    return std::max(above(range.hi - here_.lo), above(here_.hi - range.lo)) <= bound ||
           (sum <= bound && range.is_bounded());
  }

 private:
  const Expression& e_;
  const Expression::Place& place_;
  const double* x_;
  size_t size_;
  Interval here_;
};

// The largest product of all b[s] <= most[s] with slopes[0] b[0] + slopes[1] b[1] + ... <= bound:
// each has the same share of it, or less if it needs less.
Numbers shared_out(const Numbers& most, const Numbers& slopes, size_t size, double bound) {
  Numbers b = most;
  double left = bound * (1 - 0x1p-30), share = 0;
  size_t count = 0;
  for (size_t s = 0; s < size; ++s) count += slopes[s] > 0 && most[s] > 0;
  std::array<bool, kMost> is_done{};
  for (bool goes_on = true; goes_on && count > 0;) {
    goes_on = false;
    share = left / double(count);
    for (size_t s = 0; s < size; ++s) {
      if (is_done[s] || !(slopes[s] > 0 && most[s] > 0) || !(slopes[s] * most[s] <= share))
        continue;
      is_done[s] = goes_on = true;
      left -= slopes[s] * most[s], --count;
    }
  }
  for (size_t s = 0; s < size; ++s)
    if (!is_done[s] && slopes[s] > 0 && most[s] > 0) b[s] = std::min(most[s], share / slopes[s]);
  return b;
}

bool are_finite(const Numbers& slopes, const Numbers& b, size_t size) {
  for (size_t s = 0; s < size; ++s)
    if (b[s] > 0 && !(slopes[s] < kInfinite)) return false;
  return true;
}

// Where derivatives are smaller nearby, the bounds may be larger than the first ones found.
Numbers grown(const Surroundings& around, const Numbers& most, Numbers b, Numbers slopes,
              size_t size, double bound) {
  constexpr int kTries = 6;
  for (int k = 0; k < kTries; ++k) {
    if (!are_finite(slopes, b, size)) return b;
    Numbers wanted = shared_out(most, slopes, size, bound), found;
    double gain = 1;
    for (size_t s = 0; s < size; ++s) {
      if (b[s] > 0) gain *= wanted[s] / b[s];
      if (k % 2 == 1) wanted[s] = std::sqrt(wanted[s] * b[s]);
    }
    if (gain < 1.02) return b;
    if (around.is_safe(wanted, bound, found)) b = wanted, slopes = found;
  }
  return b;
}

}  // namespace

void shrink(const Expression& expression, const Expression::Place& place, const double* x,
            double bound, double* b) {
  const size_t size = expression.slots().size();
  const Surroundings around(expression, place, x);
  Numbers most{}, now{}, slopes{};
  std::copy_n(b, size, most.begin());
  if (!around.is_defined()) {
    std::fill_n(b, size, 0.0);
    return;
  }
  now = most;
  bool is_safe = around.is_safe(now, bound, slopes);
  if (is_safe) return;
  constexpr int kMostTries = 1100;  // halvings of the largest double
  for (int k = 0; !is_safe && k < kMostTries; ++k) {
    Numbers less = now;
    if (are_finite(slopes, now, size)) less = shared_out(now, slopes, size, bound);
    for (size_t s = 0; s < size; ++s) {
      now[s] = k < 4 && less != now ? less[s] : now[s] / 2;
      if (now[s] < 0x1p-60 * std::abs(x[s])) now[s] = 0;  // less than a rounding error
    }
    is_safe = around.is_safe(now, bound, slopes);
  }
  if (!is_safe)
    now.fill(0);
  else
    now = grown(around, most, now, slopes, size, bound);
  std::copy_n(now.begin(), size, b);
}

namespace {

void derive_quantity(const Promise& promise, double bound, const Grid& values, Grid& bounds,
                     const Execution& execution) {
  const Expression& e = *promise.quantity;
  for_each_box(values.shape, reach_of(e), execution, [&](const Box& box, u64) {
    Expression::Place place;
    Numbers x, b;
    for_each_point(box, [&](const Index& point) {
      e.place(point, place);
      if (!take(e, place, values, x.data())) return;
      for (size_t s = 0; s < e.slots().size(); ++s)
        b[s] = bounds.of[e.slots()[s].variable][size_t(place.offset[s])];
      shrink(e, place, x.data(), bound, b.data());
      // A value may be in several slots: at borders a point stands for its neighbour.
      for (size_t s = 0; s < e.slots().size(); ++s) {
        double& own = bounds.of[e.slots()[s].variable][size_t(place.offset[s])];
        own = std::min(own, b[s]);
      }
    });
  });
}

// How far a value may go without breaking a rule of single values.
double room_for(const Promise& promise, double x) {
  switch (promise.rule) {
    case Rule::zeros:
      return x == 0 ? 0 : kInfinite;
    case Rule::sign:
      return x == 0 ? 0 : below(std::abs(x));
    case Rule::lowest:
      return x >= promise.limit ? std::max(0.0, below(x - promise.limit)) : 0;
    case Rule::highest:
      return x <= promise.limit ? std::max(0.0, below(promise.limit - x)) : 0;
    case Rule::quantity:
      break;
  }
  return kInfinite;
}

}  // namespace

void derive(const Promise& promise, double bound, const Grid& values, Grid& bounds,
            const Execution& execution) {
  if (promise.rule == Rule::quantity) {
    if (promise.over == Over::point) derive_quantity(promise, bound, values, bounds, execution);
    return;
  }
  const std::vector<double>& x = values.of[promise.variable];
  std::vector<double>& b = bounds.of[promise.variable];
  for (size_t i = 0; i < x.size(); ++i)
    if (!std::isnan(x[i])) b[i] = std::min(b[i], room_for(promise, x[i]));
}

double range_of(const Expression& expression, const Grid& values, const Execution& execution) {
  double low = kInfinite, high = -kInfinite;
  std::mutex mutex;
  for_each_box(values.shape, 0, execution, [&](const Box& box, u64) {
    Expression::Place place;
    Numbers x;
    std::array<Interval, kMost> inputs;
    double lowest = kInfinite, highest = -kInfinite;
    for_each_point(box, [&](const Index& point) {
      expression.place(point, place);
      if (!take(expression, place, values, x.data())) return;
      for (size_t s = 0; s < expression.slots().size(); ++s) inputs[s] = Interval::at(x[s]);
      const Interval value = expression.value(inputs.data(), place);
      if (!value.is_bounded()) return;
      lowest = std::min(lowest, value.hi), highest = std::max(highest, value.lo);
    });
    const std::lock_guard lock(mutex);
    low = std::min(low, lowest), high = std::max(high, highest);
  });
  return high > low ? below(high - low) : 0;
}

}  // namespace leeway::derived
