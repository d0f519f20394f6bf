// SPDX-License-Identifier: BSD-3-Clause
// Job: what the wafer is to do. Both engines take it: the mesh (ceresz.h) and the rows (rows.h).
//
// A row is fed from its west edge, or from both: then it is two chains of PEs, each fed at its
// first PE. A chain has a pipeline for every `length` PEs and works in rounds, in each of which
// every pipeline takes a block.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "leeway/fabric/closed_form.h"
#include "leeway/fabric/mesh.h"

namespace leeway::fabric {

// What becomes of the words that a pipeline has made.
enum class Collect : u8 {
  none,  // they are gone in no time, as in the paper, which measures no collection
  back,  // they go back to the edge that the row is fed from, on a color of their own
};
inline constexpr std::string_view kCollectNames[] = {"none", "back"};

// Which blocks a chain gets.
enum class Deal : u8 {
  parts,   // contiguous parts of the field
  blocks,  // one block to each in turn
  runs,    // a run of blocks, one for each pipeline, to each in turn
  free,    // the next run to the first that is free
};
inline constexpr std::string_view kDealNames[] = {"parts", "blocks", "runs", "free"};

struct Job {
  Machine machine;
  Relay relay = Relay::paper;
  bool both_edges = false;
  Collect collect = Collect::none;
  Deal deal = Deal::runs;
  CostTable costs = kScalarCosts;
  Partition partition{Direction::compress, 1, {0, 7}};

  Direction direction() const { return partition.direction; }
  u32 length() const { return partition.length(); }
  bool feeds_both_edges() const { return both_edges || relay == Relay::both; }
  // The nearest pipeline first, or the farthest.
  bool nearest_first() const { return relay == Relay::router; }
  // Throws if it makes no sense, with pipelines of so many PEs.
  void check(u32 length) const;
  void check() const { check(length()); }
};

// PEs in the order in which blocks come to them.
struct Chain {
  u32 row = 0, first = 0, count = 0;  // the column of its first PE, and how many
  bool goes_west = false;             // from the first PE on
  std::vector<u32> blocks;            // numbers, in order

  u32 column(u32 pe) const { return goes_west ? first - pe : first + pe; }
  u32 pipelines(u32 length) const { return count / length; }
  u32 rounds(u32 length) const {
    const u32 p = pipelines(length);
    return u32((blocks.size() + p - 1) / p);
  }
  // Blocks of a round.
  u32 in_round(u32 length, u32 round) const {
    const size_t before = size_t(round) * pipelines(length);
    return u32(std::min(blocks.size() - before, size_t(pipelines(length))));
  }
  // The one that a pipeline gets.
  u32 block(const Job& job, u32 round, u32 pipeline) const {
    const u32 length = job.length(), count = in_round(length, round);
    const u32 place = job.nearest_first() ? pipeline : count - 1 - pipeline;
    return blocks[size_t(round) * pipelines(length) + place];
  }
};

// All chains of the mesh, without blocks.
std::vector<Chain> chains_of(const Job& job);
// Gives them blocks 0 to count - 1, in any way but Deal::free, which needs to know the times.
void deal(const Job& job, u64 count, std::vector<Chain>& chains);

struct Outcome {
  u64 cycles = 0;
  std::vector<Spent> spent;  // of every PE, row by row
  std::vector<u64> ends;     // of every chain: its last cycle
};

}  // namespace leeway::fabric
