// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/pyramid/tiles.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace leeway {
namespace {

// Arrays of fewer values have one segment.
constexpr u64 kWorthSegments = u64(1) << 17;

class Planner {
 public:
  Planner(const Shape& shape, u32 active, size_t size, size_t first_level) : shape_(shape) {
    for (size_t axis = 0; axis < shape.rank(); ++axis)
      if (active >> axis & 1) {
        axes_[rank_++] = axis;
        levels_ = std::max(levels_, size_t(std::bit_width(shape[axis] - 1)));
      }
    tiled_ = std::min(levels_, kTiledLevels - std::min(kTiledLevels, first_level));
    if (size > 0) find_cuts(size, first_level);
  }

  void plan(Tiles& tiles) {
    const bool worth = shape_.size() >= kWorthSegments;
    const auto segment = [&](size_t level, bool is_level) -> TileSegment& {
      if (worth || tiles.segments.empty()) tiles.segments.push_back({level, is_level && worth, {}});
      return tiles.segments.back();
    };
    const auto add = [&](TileSegment& to, TileStep step) {
      to.count += step.count;
      to.steps.push_back(std::move(step));
    };
    const u32 all = (1u << rank_) - 1;
    Pieces whole;
    for (size_t k = 0; k < rank_; ++k) whole[k] = {0, shape_[axes_[k]] - 1, false, false};

    TileSegment& coarse = segment(levels_, false);
    add(coarse, step(levels_, all, whole, true));
    std::optional<size_t> before;
    for (size_t level = levels_; level-- > tiled_;) {
      TileStep next = step(level, all, whole, false);
      next.memory = tiles.memories++;
      next.coarser = before;
      before = next.memory;
      add(coarse, std::move(next));
    }
    coarse.steps.back().is_last_whole = true;
    tiles.corner_level = tiled_;
    if (rank_ > 0)
      for_each_cell(0, [&](const Pieces& pieces) {
        Index& corner = tiles.corners.emplace_back(Index{});
        for (size_t k = 0; k < rank_; ++k) corner[axes_[k]] = pieces[k].first;
      });
    for (size_t level = 0; level <= levels_; ++level) {
      std::array<u64, kMaxRank> extents{};
      std::ranges::copy(shape_.extents(), extents.begin());
      for (size_t k = 0; k < rank_; ++k) extents[axes_[k]] = ((shape_[axes_[k]] - 1) >> level) + 1;
      tiles.shapes.emplace_back(std::span<const u64>(extents).first(shape_.rank()));
    }

    std::vector<std::optional<size_t>> of_tile, of_set(size_t(1) << rank_);
    for (size_t level = tiled_; level-- > 0;) {
      bool is_first = true;
      const auto next_segment = [&](bool is_needed) -> TileSegment& {
        TileSegment& next = is_needed ? tiles.segments.back() : segment(level, is_first);
        is_first = false;
        return next;
      };
      // On cuts: a set of open axes at a time, few first.
      std::vector<u32> sets;
      for (u32 open = 1; open < all; ++open) sets.push_back(open);
      std::ranges::stable_sort(sets, {}, [](u32 open) { return std::popcount(open); });
      for (const u32 open : sets) {
        std::optional<size_t> memory;
        for_each_cell(open, [&](const Pieces& pieces) {
          TileStep next = step(level, open, pieces, false);
          if (!memory) memory = tiles.memories++;
          next.memory = *memory;
          next.coarser = of_set[open];
          add(next_segment(!is_first), std::move(next));
        });
        of_set[open] = memory;
      }
      size_t tile = 0;
      for_each_cell(all, [&](const Pieces& pieces) {
        TileStep next = step(level, all, pieces, false);
        next.is_tile = true;
        next.memory = tiles.memories++;
        if (tile == of_tile.size()) of_tile.push_back(before);
        next.coarser = std::exchange(of_tile[tile++], next.memory);
        TileSegment& to = next_segment(false);
        if (worth) to.box = box_of(pieces);
        add(to, std::move(next));
      });
    }
  }

 private:
  // Along an active axis: from cut to cut, or to the ends of the array; or a cut alone.
  struct Piece {
    u64 first, last;
    bool low, high;  // whether these are cuts
  };
  using Pieces = std::array<Piece, kMaxActive>;

  // A tile has 2^size values, its sides are powers of two, the last ones twice as long if need be;
  // the last tile along an axis is at least half as long. Counted in values of the finest level
  // that is not cut, so that all levels agree.
  void find_cuts(size_t size, size_t first_level) {
    if (first_level >= kTiledLevels) return;
    const size_t finer = kTiledLevels - first_level;
    for (size_t k = 0; k < rank_; ++k) {
      const size_t bits = (size + k) / rank_;
      const u64 edge = u64(1) << (std::max<size_t>(bits, kTiledLevels + 1) - kTiledLevels);
      const u64 points = ((shape_[axes_[k]] - 1) >> finer) + 1;
      for (u64 cut = edge; cut + std::max<u64>(edge / 2, 2) <= points; cut += edge)
        cuts_[k].push_back(cut << finer);
    }
  }

  // Calls f(pieces) for all cells that extend along the open axes and lie on cuts of the others.
  template <class F>
  void for_each_cell(u32 open, F&& f) const {
    std::array<u64, kMaxActive> counts{};
    for (size_t k = 0; k < rank_; ++k) counts[k] = cuts_[k].size() + (open >> k & 1);
    for_each_outer(Shape(std::span<const u64>(counts).first(rank_)), 0, [&](const Index& index) {
      Pieces pieces;
      for (size_t k = 0; k < rank_; ++k) {
        const size_t i = size_t(index[k]), n = cuts_[k].size();
        if (open >> k & 1)
          pieces[k] = {i > 0 ? cuts_[k][i - 1] : 0, i < n ? cuts_[k][i] : shape_[axes_[k]] - 1,
                       i > 0, i < n};
        else
          pieces[k] = {cuts_[k][i], cuts_[k][i], false, false};
      }
      f(pieces);
    });
  }

  TileStep step(size_t level, u32 open, const Pieces& pieces, bool is_top) const {
    TileStep step{};
    step.level = level;
    step.is_top = is_top;
    std::array<u64, kMaxRank> extents{};
    size_t rank = 0, k = 0, active = 0;
    u64 count = 1, grid = 1;
    for (size_t axis = 0; axis < shape_.rank(); ++axis) {
      u64 extent = shape_[axis];
      if (k < rank_ && axes_[k] == axis) {
        const Piece& piece = pieces[k];
        step.first[axis] = piece.first;
        if (!(open >> k++ & 1)) continue;
        extent = ((piece.last - piece.first) >> level) + 1;
        step.ends |= (u32(piece.low) | u32(piece.high) << 1) << 2 * active++;
        step.active |= 1u << rank;
        const u64 ends = u64(piece.low) + u64(piece.high);
        count *= extent - ends;
        grid *= (extent + 1) / 2 - ends;
      } else {
        count *= extent;
        grid *= extent;
      }
      step.axes[rank] = u8(axis);
      extents[rank++] = extent;
    }
    if (rank_ == 0 && rank > 0) step.active = 1u << (rank - 1);  // rows
    step.shape = Shape(std::span<const u64>(extents).first(rank));
    step.count = size_t(is_top ? count : count - grid);
    return step;
  }

  // The values between the cuts, in all slices.
  Box box_of(const Pieces& pieces) const {
    Box box;
    std::array<u64, kMaxRank> extents{};
    std::ranges::copy(shape_.extents(), extents.begin());
    for (size_t k = 0; k < rank_; ++k) {
      const Piece& piece = pieces[k];
      box.first[axes_[k]] = piece.first + piece.low;
      extents[axes_[k]] = piece.last + 1 - piece.high - box.first[axes_[k]];
    }
    box.shape = Shape(std::span<const u64>(extents).first(shape_.rank()));
    return box;
  }

  const Shape& shape_;
  std::array<size_t, kMaxActive> axes_{};  // the active ones
  size_t rank_ = 0, levels_ = 0, tiled_ = 0;
  std::array<std::vector<u64>, kMaxActive> cuts_;
};

}  // namespace

Tiles::Tiles(const Shape& shape, u32 active_axes, size_t size, size_t first_level)
    : active(active_axes) {
  if (shape.size() == 0) return;
  Planner(shape, active_axes, size, first_level).plan(*this);
}

}  // namespace leeway
