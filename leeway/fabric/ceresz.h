// SPDX-License-Identifier: BSD-3-Clause
// CereSZ on the mesh: routes, tasks and memory of every PE, for all relays, pipelines and both
// directions [Song et al., HPDC 2024, Figure 9].
//
// Every PE has two tasks. `step` takes the cycles that the start of a move costs and decides what
// comes next; `compute` runs the sub-stages of the PE on the words in its memory. In every round a
// PE takes what the PE before it in its pipeline made in the last round, relays the blocks for
// pipelines further on, computes, and hands on; the first one receives a block instead. So the PEs
// of a pipeline work at the same time, on blocks of different rounds.
#pragma once

#include <memory>

#include "leeway/fabric/block.h"
#include "leeway/fabric/job.h"

namespace leeway::fabric {

// Even and odd PEs send on different colors, so that a PE can tell what comes from what it sends.
inline constexpr std::string_view kColorNames[] = {"raw, even", "raw, odd", "intermediate, even",
                                                   "intermediate, odd", "output"};
inline constexpr Color kRaw = 0, kIntermediate = 2, kOutput = 4;
inline constexpr u8 kStep = 0, kCompute = 1;
inline constexpr std::string_view kTaskNames[] = {"step", "compute"};

// What a PE keeps in its memory, for blocks of so many values.
struct Allocation {
  std::string what;
  u32 bytes;
};
std::vector<Allocation> memory_of(const Machine& machine, u32 values);

struct Interval {
  u64 begin, end;
  bool operator==(const Interval&) const = default;
};

// What a core did, for a timeline.
enum class Doing : u8 { relay, receive, compute, send };
inline constexpr std::string_view kDoingNames[] = {"relay", "receive", "compute", "send"};
struct Activity {
  u64 begin, end;
  Doing doing;
};

// The program of all PEs, with the words of the blocks.
class CereszProgram {
 public:
  // `blocks`: 32 values as bits of f32, or the coded words. All must outlive the program.
  CereszProgram(const Job& job, const LinearGrid<float>& grid, const std::vector<Chain>& chains,
                const std::vector<Words>& blocks);
  ~CereszProgram();

  Outcome run();
  // What came of the blocks. Collected words were told apart by their heads and their order.
  const std::vector<Words>& results() const { return results_; }
  // When every PE computed, and what.
  const std::vector<std::vector<Interval>>& computed() const { return computed_; }
  const WorkCycles& work() const { return work_; }
  const Mesh& mesh() const { return mesh_; }

 private:
  class Pe;

  void set_routes(const Chain& chain);
  std::vector<Word> feed_of(const Chain& chain) const;
  void take_collected(const Chain& chain);

  const Job& job_;
  const LinearGrid<float>& grid_;
  const std::vector<Chain>& chains_;
  const std::vector<Words>& blocks_;
  Mesh mesh_;
  std::vector<std::unique_ptr<Pe>> pes_;
  std::vector<Words> results_;
  std::vector<std::vector<Interval>> computed_;
  WorkCycles work_{};
};

}  // namespace leeway::fabric
