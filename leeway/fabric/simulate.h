// SPDX-License-Identifier: BSD-3-Clause
// Simulate: a field through the wafer, with either engine; what came out, checked, and how long
// each PE did what.
#pragma once

#include "leeway/fabric/host.h"
#include "leeway/fabric/outside.h"
#include "leeway/fabric/rows.h"

namespace leeway::fabric {

enum class Engine : u8 {
  rows,  // recurrences, all rows at once; the words are made block by block
  mesh,  // event by event, the words are what moves through the mesh
};
inline constexpr std::string_view kEngineNames[] = {"rows", "mesh"};

// How a job is to be made from a field's blocks.
struct Plan {
  Direction direction = Direction::compress;
  PartitionRule partition = PartitionRule::greedy;
  u32 length = 1;   // PEs of a pipeline
  u32 planned = 0;  // bits that the sub-stages are shared out for; 0: by a sample
  Engine engine = Engine::rows;
  Origin origin = Origin::wafer;
};

struct Simulation {
  Job job;
  std::vector<Chain> chains;
  CodedBlocks coded;
  Outcome outcome;
  WorkCycles work{};
  Traffic traffic;
  std::vector<Ceiling> ceilings;
  u64 rounds = 0;        // of the chain that has most
  bool decodes = false;  // decompressing: to what the library decodes, bit for bit
  HostReport stream;     // compressing: the stream that was written

  double mean_width() const;
  u32 most_width() const;
};

// The widest of every twentieth block: 5 % of the values, as in the paper (section 4.2).
u32 sampled_width(std::span<const u8> widths);

// `job` but for its partition. Compressing, the stream goes to `sink`, which may be empty.
Simulation simulate(const Host& host, Job job, const Plan& plan, const RowOptions& options,
                    const Sink& sink);

// The PE of a chain that ended each round, for those who ask what held it back.
struct Holder {
  u32 round = 0, column = 0, width = 0;
  u64 end = 0;
};
std::vector<Holder> holders_of(const Simulation& done, size_t chain);

// That chain once more, alone, with all that its PEs did.
RowOutcome again(const Simulation& done, size_t chain);

}  // namespace leeway::fabric
