// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/pyramid/stencil.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace leeway {
namespace {

using Moves = std::array<std::ptrdiff_t, kMaxRank>;

// Calls f(moves) for all moves of `count` axes up to `reach` to either side.
template <class F>
void for_each_move(size_t count, const Moves& reach, F&& f) {
  Moves move{};
  for (size_t axis = 0; axis < count; ++axis) move[axis] = -reach[axis];
  for (;;) {
    f(std::as_const(move));
    size_t axis = count;
    while (axis > 0 && ++move[axis - 1] > reach[axis - 1]) {
      --axis;
      move[axis] = -reach[axis];
    }
    if (axis == 0) return;
  }
}

// -1 if a move goes back along the first axis where it goes anywhere.
int direction(const Moves& move, size_t axes) {
  for (size_t axis = 0; axis < axes; ++axis)
    if (move[axis] != 0) return move[axis] < 0 ? -1 : 1;
  return 0;
}

}  // namespace

std::vector<Tap> taps_near(const Polyphase& layout, const Part& part, size_t most) {
  const bool flat = !layout.is_split();
  const size_t rank = layout.rank(), frozen = layout.slices().rank();
  Moves reach{}, reach_back{};
  std::fill_n(reach.begin(), rank, rank < 4 ? 3 : 2);
  // Time lags go far back; of many frozen axes only the last count.
  for (size_t axis = frozen > 3 ? frozen - 3 : 0; axis < frozen; ++axis)
    reach_back[axis] = flat && frozen == 1 ? 8 : 2;

  // Classes come by number of odd coordinates, then by which.
  const auto is_before = [](u32 odd, u32 other) {
    return std::pair(std::popcount(odd), odd) < std::pair(std::popcount(other), other);
  };
  std::vector<Tap> taps;
  for_each_move(frozen, reach_back, [&](const Moves& back) {
    const int slice = direction(back, frozen);
    if (slice > 0) return;
    for_each_move(rank, reach, [&](const Moves& move) {
      u32 odd = part.odd;
      i64 distance = 0;
      size_t along = 0;
      for (size_t axis = 0; axis < rank; ++axis) {
        if (!flat) odd ^= u32(move[axis] & 1) << axis;
        distance += 20 * move[axis] * move[axis];
        along += move[axis] != 0;
      }
      if (!layout.find(odd)) return;
      const bool known =
          slice < 0 ||
          (!flat && (odd == part.odd ? direction(move, rank - 1) < 0 : is_before(odd, part.odd)));
      if (!known) return;
      // Straight along an axis that is interpolated counts as near.
      if (slice == 0 && along == 1)
        for (size_t axis = 0; axis < rank; ++axis)
          if (move[axis] != 0 && (part.odd >> axis & 1)) distance = distance * 7 / 20;
      for (size_t axis = 0; axis < frozen; ++axis) distance += 20 * back[axis] * back[axis];
      Tap tap{odd, {}, back, distance};
      for (size_t axis = 0; axis < rank; ++axis)
        tap.shift[axis] = flat ? move[axis]
                               : (move[axis] + std::ptrdiff_t(part.odd >> axis & 1) -
                                  std::ptrdiff_t(odd >> axis & 1)) /
                                     2;
      taps.push_back(tap);
    });
  });
  // The nearest; of equally near ones, those found first.
  std::vector<std::pair<i64, size_t>> order;
  order.reserve(taps.size());
  for (size_t i = 0; i < taps.size(); ++i) order.emplace_back(taps[i].distance, i);
  const size_t count = std::min(most, order.size());
  std::ranges::partial_sort(order, order.begin() + std::ptrdiff_t(count));
  std::vector<Tap> nearest;
  for (size_t i = 0; i < count; ++i) nearest.push_back(taps[order[i].second]);
  return nearest;
}

}  // namespace leeway
