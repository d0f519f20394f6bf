// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/derived/classes.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace leeway::derived {
namespace {

// Bounds on a scale: 0 is the largest, a step is a quarter of an octave down; the last is no loss.
constexpr int kSteps = 65, kNothing = kSteps;
constexpr double kRoots[] = {1, 0x1.ae89f995ad3adp-1, 0x1.6a09e667f3bcdp-1, 0x1.306fe0a31b715p-1};

double bound_at(int step, double largest) {
  return step == kNothing ? 0 : std::ldexp(largest * kRoots[step % 4], -(step / 4));
}

// The first step whose bound is not above b.
int step_of(double b, double largest) {
  if (!(b > 0)) return kNothing;
  int exponent;
  std::frexp(largest / b, &exponent);
  int step = std::clamp(4 * (exponent - 2), 0, kSteps - 1);
  while (step < kSteps && bound_at(step, largest) > b) ++step;
  return step;
}

// In every block, steps that differ by at most two octaves become the last of them; others keep
// theirs.
void share_in_blocks(std::vector<u8>& steps, const Shape& shape, u64 edge) {
  constexpr int kFar = 8;
  const size_t rank = shape.rank();
  const u64 columns = rank > 0 ? shape[rank - 1] : 1, rows = rank > 1 ? shape[rank - 2] : 1;
  if (edge < 2 || steps.empty()) return;
  for (u64 map = 0; map < steps.size() / (rows * columns); ++map)
    for (u64 row = 0; row < rows; row += edge)
      for (u64 column = 0; column < columns; column += edge) {
        const auto each = [&](auto&& f) {
          for (u64 i = row; i < std::min(rows, row + edge); ++i)
            for (u64 j = column; j < std::min(columns, column + edge); ++j)
              f(steps[size_t((map * rows + i) * columns + j)]);
        };
        int first = kNothing;
        each([&](u8 step) { first = std::min<int>(first, step); });
        int last = first;
        each([&](u8 step) {
          if (step <= first + kFar) last = std::max<int>(last, step);
        });
        each([&](u8& step) { step = u8(std::max<int>(step, last)); });
      }
}

// Which steps are kept, so that the bounds lose the least: by dynamic programming.
std::array<int, kSteps> kept_steps(const std::array<double, kSteps>& counts, size_t most) {
  // cost[k][to]: of steps up to `to`, which is kept, with k kept after the first.
  constexpr double kNever = 1e300;
  const auto loss = [&](int from, int to) {  // of those after `from`, up to `to`
    double sum = 0;
    for (int step = from + 1; step <= to; ++step) sum += counts[size_t(step)] * (to - step);
    return sum;
  };
  std::vector<std::array<double, kSteps>> cost(most + 1);
  std::vector<std::array<int, kSteps>> before(most + 1);
  for (auto& row : cost) row.fill(kNever);
  cost[0][0] = 0;
  int last = kSteps - 1;
  while (last > 0 && counts[size_t(last)] == 0) --last;
  for (size_t k = 1; k <= most; ++k)
    for (int to = 1; to <= last; ++to)
      for (int from = 0; from < to; ++from)
        if (const double c = cost[k - 1][size_t(from)] + loss(from, to); c < cost[k][size_t(to)])
          cost[k][size_t(to)] = c, before[k][size_t(to)] = from;
  size_t best = 0;
  for (size_t k = 0; k <= most; ++k)
    if (cost[k][size_t(last)] < cost[best][size_t(last)]) best = k;
  std::array<int, kSteps> becomes;
  int to = last;
  becomes.fill(last);
  for (size_t k = best; k > 0; --k) {
    const int from = before[k][size_t(to)];
    for (int step = from + 1; step <= to; ++step) becomes[size_t(step)] = to;
    to = from;
  }
  becomes[0] = 0;
  return becomes;
}

}  // namespace

void to_classes(std::vector<double>& bounds, const Shape& shape, size_t most, u64 edge) {
  const double largest = bounds.empty() ? 0 : std::ranges::max(bounds);
  if (!(largest > 0)) return;
  std::vector<u8> steps(bounds.size());
  std::ranges::transform(bounds, steps.begin(), [&](double b) { return u8(step_of(b, largest)); });
  share_in_blocks(steps, shape, edge);
  std::array<double, kSteps> counts{};
  for (const u8 step : steps)
    if (step < kNothing) ++counts[step];
  const auto becomes = kept_steps(counts, most);
  for (size_t i = 0; i < bounds.size(); ++i)
    bounds[i] = steps[i] == kNothing ? 0 : bound_at(becomes[steps[i]], largest);
}

}  // namespace leeway::derived
