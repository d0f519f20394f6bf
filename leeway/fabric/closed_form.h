// SPDX-License-Identifier: BSD-3-Clause
// Closed form: the cycles of a round in which every pipeline of a row takes one block, if all
// blocks have the same width.
#pragma once

#include <optional>

#include "leeway/fabric/partition.h"

namespace leeway::fabric {

// How blocks for PEs further on pass a PE.
enum class Relay : u8 {
  paper,   // its core starts a move for each (Figure 9)
  bulk,    // one move for all that are to come
  both,    // as paper, but rows are fed from both edges, each half of the columns from its own
  router,  // its router passes them without the core, told by a control word behind each block
};
inline constexpr std::string_view kRelayNames[] = {"paper", "bulk", "both", "router"};

// Words and start of moving one block, C1 of the paper.
u32 relay_cycles(const Machine& machine, u32 words);

// A round on `columns` columns, rows fed from one edge: (2) + (3) of the paper for length 1.
u64 round_cycles(const Machine& machine, Relay relay, const Partition& partition,
                 const CostTable& table, u32 width);

// Bytes a second of uncompressed values, all rows.
double throughput(const Machine& machine, u64 cycles_of_round, u32 length);

// The inverse: cycles of a round from bytes a second.
double cycles_from_throughput(const Machine& machine, double bytes_a_second, u32 length);

// Which width of all blocks gives that throughput with pipelines of length 1; below 0: none.
double width_from_throughput(const Machine& machine, Direction direction, const CostTable& table,
                             double bytes_a_second);

}  // namespace leeway::fabric
