// SPDX-License-Identifier: BSD-3-Clause
// Tiles: in which steps a pyramid visits an array (pyramid.md, "Order").
//
// Level by level, from coarse to fine. On the two finest levels the array is cut into tiles. What
// lies on a cut needs nothing beside it: it comes first, edges before faces, and then every tile
// is interpolated between its faces and knows nothing of the others.
#pragma once

#include <optional>
#include <vector>

#include "leeway/predict/pyramid/polyphase.h"

namespace leeway {

// Levels that are cut into tiles.
inline constexpr size_t kTiledLevels = 2;

// What is visited at once: of a box of the array, what one level adds.
struct TileStep {
  size_t level;        // 0: the finest
  bool is_top;         // all values of the box; else those between the ones of the coarser level
  bool is_tile;        // no other step needs what this one learns, but those that say so
  bool is_last_whole;  // of the steps before the array is cut
  Index first;         // where the box begins in the array
  Shape shape;         // of the box, counted in the level's stride, without axes on a cut
  std::array<u8, kMaxRank> axes;  // those of the array that the shape has
  u32 active;                     // which axes of the shape are interpolated
  u32 ends;       // two bits for each of them: whether its lower and higher end lie on cuts
  size_t count;   // of values visited
  size_t memory;  // what is learned: a number below Tiles::memories
  std::optional<size_t> coarser;  // the memory that it starts from
};

// Steps whose codes can be decoded without those before, once the values they need are there.
struct TileSegment {
  size_t level;            // of the first step
  bool is_level = false;   // all of the coarser levels is before it, and nothing else
  std::optional<Box> box;  // what it makes; nothing: needed for everything else
  std::vector<TileStep> steps{};
  size_t count = 0;
};

struct LEEWAY_EXPORT Tiles {
  std::vector<TileSegment> segments;
  size_t memories = 0;
  u32 active;
  // Of the array at each level's stride, the finest first, up to the top.
  std::vector<Shape> shapes;
  // Where cuts along all active axes meet: known before the levels that are cut, and not visited
  // there. Positions along other axes are 0.
  std::vector<Index> corners;
  size_t corner_level = 0;  // the last level that knows them

  // Axes are active, or frozen: every position there is a slice. None active: no levels. 2^`size`
  // is about how many values of a slice a tile has, 0: no tiles; `first_level` what the finest
  // level counts as.
  Tiles(const Shape& shape, u32 active_axes, size_t size, size_t first_level);
};

}  // namespace leeway
