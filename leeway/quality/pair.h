// SPDX-License-Identifier: BSD-3-Clause
// Pair: two arrays that are read side by side, part by part, so that files larger than memory can
// be judged; and tiles, the maps or parts of maps in which that is done.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "leeway/base/field.h"
#include "leeway/base/parallel.h"
#include "leeway/engine/engine.h"

namespace leeway {

// A part of an array, and what keeps its values in memory.
struct Part {
  View view;
  std::shared_ptr<const void> keeper;
};

struct PairSide {
  DType dtype = DType::f32;
  Shape chunk;  // parts that are whole chunks are cheap to read; rank 0: all are
  std::function<Part(const Box&)> read;
  std::vector<u64> fills;  // bit patterns of its type
};

// Types may differ; the shape is the same.
struct Pair {
  Shape shape;
  PairSide original, decoded;
};
Pair pair_of(const View& original, const View& decoded, const std::vector<u64>& fills);

// How special values of a tile came out.
struct SpecialCounts {
  u64 nan = 0, infinite = 0, fill = 0, zero = 0, negative = 0;
  void merge(const SpecialCounts& other) {
    nan += other.nan, infinite += other.infinite, fill += other.fill;
    zero += other.zero, negative += other.negative;
  }
};

// A map (the last two axes that are longer than 1), a band of rows of a large one, or a piece of a
// line. Values that are special in either array are not valid, and 0 here.
struct Tile {
  u64 ordinal = 0;
  Index first{};     // in the array, all axes counted
  u64 position = 0;  // of its first value, counted in row-major order
  size_t rows = 1, columns = 1;
  std::vector<double> x, y, e;
  std::vector<u8> valid;
  SpecialCounts before, after;
  double max_error = 0;  // of x - y, rounded up where it cannot be exact
  size_t max_at = 0;     // where that is
  u64 mismatches = 0;    // special values that did not come back, or came from nowhere
  u64 new_negative = 0;  // values below 0 that were not
  u64 lost_zeros = 0;    // zeros that are zeros no more
};

// Goes through all tiles of a pair, on several threads.
class TileWalk {
 public:
  TileWalk(const Pair& pair, const Execution& execution);
  u64 tiles() const { return tiles_; }
  u64 values() const { return pair_.shape.size(); }
  // Makes something of every tile; `done` gets it with the number of the tile, in order.
  template <class Made>
  void run(const std::function<Made(const Tile&)>& make,
           const std::function<void(u64 ordinal, Made&)>& done) const {
    run_slabs([&](const std::vector<Box>& boxes, const Box& slab, const Part& a, const Part& b,
                  u64 ordinal) {
      std::vector<Made> made(boxes.size());
      for_each_index(boxes.size(), execution_.threads, execution_.executor, [&](u64 i) {
        made[size_t(i)] = make(tile_of(boxes[size_t(i)], slab, a, b, ordinal + i));
      });
      for (size_t i = 0; i < made.size(); ++i) done(ordinal + i, made[i]);
    });
  }

 private:
  using OnSlab = std::function<void(const std::vector<Box>& boxes, const Box& slab, const Part&,
                                    const Part&, u64 ordinal)>;
  void run_slabs(const OnSlab& on_slab) const;
  std::vector<Box> tiles_of(const Box& slab) const;
  Tile tile_of(const Box& box, const Box& slab, const Part& a, const Part& b, u64 ordinal) const;

  const Pair& pair_;
  const Execution& execution_;
  std::vector<Box> slabs_;
  size_t row_axis_ = 0, column_axis_ = 0;  // of a map
  u64 tiles_ = 0;
};

}  // namespace leeway
