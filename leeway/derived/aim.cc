// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/derived/aim.h"

#include <algorithm>

namespace leeway::derived {
namespace {

constexpr size_t kMost = Expression::kMostSlots;
// Slopes change within the bounds, too.
constexpr double kBent = 0.998;
// Where targets are moved to: numbers of the type are not everywhere.
constexpr double kInside = 0.999;

// The nearest number of the type.
double rounded(double value, DType dtype) {
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (is_floating<T>)
      return double(T(value));
    else
      return double(T(std::clamp(std::nearbyint(value), double(std::numeric_limits<T>::min()),
                                 std::nextafter(double(std::numeric_limits<T>::max()), 0.0))));
  });
}

// One promise at one point.
class Here {
 public:
  Here(const Expression& expression, size_t variable, const Grid& originals, const Grid& given,
       const Index& point)
      : e_(expression) {
    e_.place(point, place_);
    std::array<double, kMost> x, y;
    is_ordinary_ = take(e_, place_, originals, x.data()) && take(e_, place_, given, y.data());
    std::array<Interval, kMost> then;
    for (size_t s = 0; s < e_.slots().size(); ++s) {
      if (e_.slots()[s].variable == variable) slot_ = s;
      then[s] = Interval::at(x[s]), now_[s] = Interval::at(y[s]);
    }
    if (is_ordinary_) original_ = e_.value(then.data(), place_);
  }
  bool is_ordinary() const { return is_ordinary_; }
  bool is_defined() const { return original_.is_bounded(); }

  // How far the quantity is from the original, and its slope, while this variable is in a range.
  Interval off(Interval range, Interval& slope) {
    now_[slot_] = range;
    std::array<Interval, kMost> slopes;
    const Interval value = e_.value(now_.data(), place_, slopes.data());
    slope = slopes[slot_];
    return value - original_;
  }

 private:
  const Expression& e_;
  Expression::Place place_;
  std::array<Interval, kMost> now_;
  Interval original_ = Interval::all();
  size_t slot_ = 0;
  bool is_ordinary_ = false;
};

double middle(Interval a) { return a.is_bounded() ? a.lo / 2 + a.hi / 2 : kInfinite; }

}  // namespace

std::vector<double> Aiming::wishes(const std::vector<double>& room) const {
  std::vector<double> result = room;
  const std::vector<double>& x = originals_.of[variable_];
  for_each_box(originals_.shape, 0, execution_, [&](const Box& box, u64) {
    for_each_point(box, [&](const Index& point) {
      u64 i = 0;
      for (size_t axis = 0; axis < box.shape.rank(); ++axis)
        i = i * originals_.shape[axis] + point[axis];
      double& b = result[size_t(i)];
      if (std::isnan(x[size_t(i)])) return;
      for (const Local& local : locals_) {
        Here here(*local.promise->quantity, variable_, originals_, given_, point);
        if (!here.is_ordinary()) continue;
        Interval slope;
        here.off(Interval::at(x[size_t(i)]), slope);
        if (!here.is_defined())
          b = 0;
        else if (slope.is_bounded() && slope.size() > 0)
          b = std::min(b, kBent * local.bound / slope.size());
      }
    });
  });
  return result;
}

// Moves the target until the range around it does no harm: to where the quantity, taken for linear,
// is just within its bound.
bool Aiming::find(const Index& point, double x, double room, double b, double& target) const {
  constexpr int kTries = 6;
  target = x;
  for (int k = 0; k < kTries; ++k) {
    bool is_fine = true;
    double move = 0;
    for (const Local& local : locals_) {
      Here here(*local.promise->quantity, variable_, originals_, given_, point);
      if (!here.is_ordinary()) continue;
      if (!here.is_defined()) return false;
      Interval slope, slope_here;
      const Interval all = here.off(b > 0 ? outward(target - b, target + b) : Interval::at(target),
                                    slope),
                     at = here.off(Interval::at(target), slope_here);
      const double reach = above(at.size() + above(slope.size() * b));
      if (std::min(all.size(), reach) <= local.bound) continue;
      is_fine = false;
      const double r = middle(at), g = middle(slope_here);
      if (!(std::abs(g) > 0 && std::abs(g) < kInfinite && std::abs(r) < kInfinite)) return false;
      // The end that is off the most must come back by this much.
      const double beyond = std::min(all.size(), reach) - kInside * local.bound;
      const double wanted = (r * g > 0 ? -1 : 1) * beyond / std::abs(g);
      if (move * wanted < 0) return false;  // two promises pull in opposite directions
      if (std::abs(wanted) > std::abs(move)) move = wanted;
    }
    if (is_fine) return std::abs(target - x) + b <= room * (1 - 0x1p-40) || target == x;
    target = rounded(target + move, dtype_);
    if (std::abs(target - x) + b > room) return false;
  }
  return false;
}

Aim Aiming::aim(std::vector<double> bounds, const std::vector<double>& room) const {
  Aim result{originals_.of[variable_], std::move(bounds)};
  if (locals_.empty()) return result;
  const std::vector<double>& x = originals_.of[variable_];
  for_each_box(originals_.shape, 0, execution_, [&](const Box& box, u64) {
    for_each_point(box, [&](const Index& point) {
      u64 ordinal = 0;
      for (size_t axis = 0; axis < box.shape.rank(); ++axis)
        ordinal = ordinal * originals_.shape[axis] + point[axis];
      const auto i = size_t(ordinal);
      if (std::isnan(x[i])) return;
      double& b = result.bounds[i];
      for (int k = 0; b > 0; ++k) {
        double target;
        if (find(point, x[i], room[i], b, target)) {
          result.targets[i] = target;
          return;
        }
        b = k < 12 && b > 0x1p-50 * std::abs(x[i]) ? b / 2 : 0;
      }
    });
  });
  return result;
}

}  // namespace leeway::derived
