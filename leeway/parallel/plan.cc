// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/plan.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "leeway/base/field.h"

namespace leeway::parallel {
namespace {

std::string place(const Box& box) {
  std::string text;
  for (size_t axis = 0; axis < box.shape.rank(); ++axis)
    text += (axis > 0 ? "," : "") + std::to_string(box.first[axis]) + ":" +
            std::to_string(box.first[axis] + box.shape[axis]);
  return text.empty() ? "the value" : text;
}

std::vector<Piece> pieces_of(const Header& header, std::span<const Held> held) {
  check_inside(header.shape, held);
  std::vector<Piece> pieces;
  for (u32 i = 0; i < held.size(); ++i) {
    if (held[i].box.shape.size() == 0) continue;
    for_each_chunk_of(header, held[i].box, [&](u64 ordinal) {
      pieces.push_back(
          {ordinal, i, intersection(held[i].box, header.chunk_box(ordinal)).shape.size()});
    });
  }
  std::ranges::sort(pieces, {}, [](const Piece& p) { return std::pair(p.ordinal, p.held); });
  return pieces;
}

// Two blocks that have a value of the chunk in common, if there are.
void check_disjoint(const Plan& plan, std::span<const Piece> pieces, const Box& chunk) {
  for (size_t i = 0; i < pieces.size(); ++i)
    for (size_t k = 0; k < i; ++k) {
      const Held &a = plan.held[pieces[k].held], &b = plan.held[pieces[i].held];
      if (!overlap(a.box, b.box)) continue;
      const Box both = intersection(a.box, b.box);
      if (!overlap(both, chunk)) continue;
      fail_argument("the values " + place(both) + " are given twice, by rank " +
                    std::to_string(a.rank) + " and rank " + std::to_string(b.rank));
    }
}

// Where many small blocks share a chunk, pairs would be too many: every value is counted.
void check_counted(const Plan& plan, std::span<const Piece> pieces, const Box& chunk) {
  std::vector<u8> seen(size_t(chunk.shape.size()));
  for (const Piece& piece : pieces) {
    const Box part = intersection(plan.held[piece.held].box, chunk);
    Box inside = part;
    for (size_t axis = 0; axis < chunk.shape.rank(); ++axis)
      inside.first[axis] -= chunk.first[axis];
    const auto whole = mutable_view_of(seen.data(), chunk.shape);
    for_each_row(whole.part(inside), [&](std::byte* row, size_t count, std::ptrdiff_t) {
      for (std::byte& value : std::span(row, count))
        if (std::exchange(value, std::byte(1)) != std::byte(0))
          fail_argument("some values of " + place(part) + " are given twice");
    });
  }
}

void check_tiles(const Plan& plan, u64 ordinal, const Box& chunk) {
  constexpr size_t kManyPairs = 200;
  const auto pieces = plan.pieces_of(ordinal);
  u64 values = 0;
  for (const Piece& piece : pieces) values += piece.values;
  if (pieces.size() > kManyPairs)
    check_counted(plan, pieces, chunk);
  else
    check_disjoint(plan, pieces, chunk);
  if (values < chunk.shape.size())
    fail_argument("nobody has all values of " + place(chunk) + ": " +
                  std::to_string(chunk.shape.size() - values) + " are missing");
}

// The rank that makes a chunk.
int choose_owner(const Plan& plan, std::span<const Piece> pieces, std::span<const u64> load) {
  std::vector<std::pair<int, u64>> holders;  // rank, values
  for (const Piece& piece : pieces) {
    const int rank = plan.held[piece.held].rank;
    const auto found = std::ranges::find(holders, rank, &std::pair<int, u64>::first);
    if (found == holders.end())
      holders.emplace_back(rank, piece.values);
    else
      found->second += piece.values;
  }
  u64 most = 0;
  for (const auto& [rank, values] : holders) most = std::max(most, values);
  int owner = -1;
  for (const auto& [rank, values] : holders)
    if (2 * values >= most &&
        (owner < 0 || std::pair(load[size_t(rank)], rank) < std::pair(load[size_t(owner)], owner)))
      owner = rank;
  return owner;
}

// Gives chunks of ranks with more than twice the average to those with least.
void balance_load(const Header& header, Plan& plan, std::vector<u64>& load) {
  const u64 most = 2 * (header.shape.size() / load.size()) + 1;
  for (u64 ordinal = header.grid().size(); ordinal-- > 0;) {
    int& owner = plan.owner[size_t(ordinal)];
    const u64 values = header.chunk_box(ordinal).shape.size();
    const auto least = std::ranges::min_element(load);
    if (load[size_t(owner)] <= most || *least + values >= load[size_t(owner)]) continue;
    load[size_t(owner)] -= values;
    *least += values;
    owner = int(least - load.begin());
  }
}

u64 smallest_factor(u64 n) {
  for (u64 factor = 2; factor * factor <= n; ++factor)
    if (n % factor == 0) return factor;
  return n;
}

}  // namespace

void check_inside(const Shape& shape, std::span<const Held> held) {
  for (const Held& one : held)
    if (one.box.shape.rank() != shape.rank() || !contains(shape, one.box))
      fail_argument("block " + std::to_string(one.index) + " of rank " + std::to_string(one.rank) +
                    " (" + place(one.box) + ") is outside the array " + to_string(shape));
}

Box intersection(const Box& a, const Box& b) {
  Box both;
  std::array<u64, kMaxRank> extents{};
  for (size_t axis = 0; axis < a.shape.rank(); ++axis) {
    both.first[axis] = std::max(a.first[axis], b.first[axis]);
    extents[axis] =
        std::min(a.first[axis] + a.shape[axis], b.first[axis] + b.shape[axis]) - both.first[axis];
  }
  both.shape = Shape(std::span<const u64>(extents).first(a.shape.rank()));
  return both;
}

Plan make_plan(const Header& header, std::vector<Held> held, int ranks, bool balance) {
  Plan plan;
  plan.held = std::move(held);
  plan.pieces = pieces_of(header, plan.held);
  const u64 chunks = header.grid().size();
  plan.first_piece.assign(size_t(chunks) + 1, 0);
  for (const Piece& piece : plan.pieces) ++plan.first_piece[size_t(piece.ordinal) + 1];
  std::partial_sum(plan.first_piece.begin(), plan.first_piece.end(), plan.first_piece.begin());
  std::vector<u64> load(static_cast<size_t>(ranks));
  for (u64 ordinal = 0; ordinal < chunks; ++ordinal) {
    const Box chunk = header.chunk_box(ordinal);
    check_tiles(plan, ordinal, chunk);
    const int owner = choose_owner(plan, plan.pieces_of(ordinal), load);
    plan.owner.push_back(owner);
    load[size_t(owner)] += chunk.shape.size();
  }
  if (balance && chunks > 0) balance_load(header, plan, load);
  return plan;
}

Shape chunk_of_blocks(const Shape& shape, std::span<const Held> held, u64 values) {
  std::array<u64, kMaxRank> extents{};
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    u64 common = 0;  // of all borders inside the array
    for (const Held& block : held) {
      if (block.box.shape.size() == 0) continue;
      const u64 begin = block.box.first[axis], end = begin + block.box.shape[axis];
      common = std::gcd(common, begin);
      if (end != shape[axis]) common = std::gcd(common, end);
    }
    extents[axis] = common > 0 ? common : std::max<u64>(shape[axis], 1);
  }
  const std::span<u64> used = std::span(extents).first(shape.rank());
  const auto size = [&] {
    return std::accumulate(used.begin(), used.end(), u64(1), std::multiplies<>());
  };
  while (size() > values) {
    u64& longest = *std::ranges::max_element(used);
    longest /= smallest_factor(longest);
  }
  return size() >= values / 4 ? Shape(std::span<const u64>(used)) : Shape();
}

}  // namespace leeway::parallel
