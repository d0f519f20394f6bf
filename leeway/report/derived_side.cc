// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/report/derived_side.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "leeway/derived/grid.h"

namespace leeway::report {
namespace {

// The box with as much around it as neighbours are away.
Box with_neighbours(const Box& box, const Shape& shape, u64 reach) {
  Box wide;
  std::array<u64, kMaxRank> extents{};
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    wide.first[axis] = box.first[axis] - std::min<u64>(box.first[axis], reach);
    extents[axis] =
        std::min(box.first[axis] + box.shape[axis] + reach, shape[axis]) - wide.first[axis];
  }
  wide.shape = Shape(std::span<const u64>(extents).first(shape.rank()));
  return wide;
}

double value_at(const derived::Expression& expression, const derived::Grid& grid,
                const Index& point) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  derived::Expression::Place place;
  expression.place(point, place);
  std::array<double, derived::Expression::kMostSlots> values;
  if (!derived::take(expression, place, grid, values.data())) return kNone;
  std::array<derived::Interval, derived::Expression::kMostSlots> inputs;
  for (size_t s = 0; s < expression.slots().size(); ++s)
    inputs[s] = derived::Interval::at(values[s]);
  const derived::Interval value = expression.value(inputs.data(), place);
  return value.is_bounded() ? value.lo + (value.hi - value.lo) / 2 : kNone;
}

Part derived_part(derived::Expression expression, const std::vector<PairSide>& variables,
                  const Shape& shape, const Box& box, unsigned threads) {
  const Box wide = with_neighbours(box, shape, derived::reach_of(expression));
  // At the border of the array the wide box ends, too, and differences become one-sided.
  expression.settle(wide.shape);
  derived::Grid grid{wide.shape, {}};
  for (const PairSide& variable : variables)
    grid.of.push_back(derived::values_of(variable.read(wide).view, variable.fills));
  const auto made = std::make_shared<Array>(DType::f64, box.shape);
  auto* const out = reinterpret_cast<double*>(made->view().data);
  Execution execution;
  execution.threads = threads;
  derived::for_each_box(box.shape, 0, execution, [&](const Box& part, u64) {
    derived::for_each_point(part, [&](const Index& point) {
      Index there{};
      u64 at = 0;
      for (size_t axis = 0; axis < shape.rank(); ++axis) {
        there[axis] = point[axis] + box.first[axis] - wide.first[axis];
        at = at * box.shape[axis] + point[axis];
      }
      out[at] = value_at(expression, grid, there);
    });
  });
  return {View(made->data(), made->dtype(), made->shape()), made};
}

}  // namespace

std::vector<size_t> variables_in(const std::string& quantity,
                                 const std::vector<std::string>& names) {
  std::vector<std::string> known = names, used;
  const derived::Expression checked(quantity, known, false), expression(quantity, used, true);
  std::vector<size_t> numbers;
  for (const std::string& name : used)
    numbers.push_back(size_t(std::ranges::find(names, name) - names.begin()));
  return numbers;
}

PairSide derived_side(const std::string& quantity, std::vector<PairSide> variables,
                      const Shape& shape, unsigned threads) {
  std::vector<std::string> names;
  const derived::Expression expression(quantity, names, true);
  PairSide side;
  side.dtype = DType::f64;
  side.chunk = variables.at(0).chunk;
  side.read = [expression, variables = std::move(variables), shape, threads](const Box& box) {
    return derived_part(expression, variables, shape, box, threads);
  };
  return side;
}

std::vector<std::string> customary_quantities(const std::vector<std::string>& names) {
  std::vector<std::string> quantities;
  const auto has = [&](const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  for (const auto& [u, v] : {std::pair<std::string, std::string>{"u", "v"},
                             {"U", "V"},
                             {"ua", "va"},
                             {"uas", "vas"},
                             {"uo", "vo"},
                             {"u10", "v10"},
                             {"10u", "10v"},
                             {"vx", "vy"},
                             {"velocity_x", "velocity_y"}}) {
    if (!has(u) || !has(v)) continue;
    const bool are_words = u[0] < '0' || u[0] > '9';
    const std::string both = are_words ? "(" + u + "," + v + ")" : "({" + u + "},{" + v + "})";
    quantities.push_back("vorticity" + both);
    quantities.push_back("divergence" + both);
  }
  return quantities;
}

}  // namespace leeway::report
