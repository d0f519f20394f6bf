// SPDX-License-Identifier: BSD-3-Clause
// Plan: which rank makes which chunk of an array that lies in blocks on all ranks. Pure functions
// of the blocks, so that every rank comes to the same plan.
//
// A chunk has one owner, who gets the parts that others have. Among the ranks that hold at least
// half as much of it as the one that holds most, the owner is the one with the least work so far.
#pragma once

#include <span>
#include <vector>

#include "leeway/stream/format.h"

namespace leeway::parallel {

// A block of the array in a rank's memory.
struct Held {
  int rank = 0;
  u32 index = 0;  // among the blocks of the rank
  Box box;
};

// The values of a chunk that lie in one block.
struct Piece {
  u64 ordinal;
  u32 held;  // which of all blocks
  u64 values;
};

struct Plan {
  std::vector<Held> held;
  std::vector<Piece> pieces;        // by chunk, then by block
  std::vector<size_t> first_piece;  // of every chunk, and the end
  std::vector<int> owner;           // of every chunk

  std::span<const Piece> pieces_of(u64 ordinal) const {
    return std::span(pieces).subspan(
        first_piece[size_t(ordinal)],
        first_piece[size_t(ordinal) + 1] - first_piece[size_t(ordinal)]);
  }
};

// Throws unless the blocks lie in the array and have every value exactly once. If `balance`, whole
// chunks go to ranks with little work while one has more than twice the average.
Plan make_plan(const Header& header, std::vector<Held> held, int ranks, bool balance);

// Throws unless all blocks lie in the array.
void check_inside(const Shape& shape, std::span<const Held> held);

// The values that both boxes have; they overlap.
Box intersection(const Box& a, const Box& b);

// A chunk shape whose borders are borders of all blocks, so that no value must travel, of about
// `values` values; rank 0 if there is none that large.
Shape chunk_of_blocks(const Shape& shape, std::span<const Held> held, u64 values);

}  // namespace leeway::parallel
