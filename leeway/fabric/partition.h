// SPDX-License-Identifier: BSD-3-Clause
// Partition: which PEs of a pipeline take which sub-stages.
#pragma once

#include <span>

#include "leeway/fabric/cost.h"

namespace leeway::fabric {

enum class PartitionRule : u8 { greedy, optimal };
inline constexpr std::string_view kPartitionNames[] = {"greedy", "optimal"};

// The sub-stages of a block of `planned` bits, cut into as many runs as a pipeline has PEs.
struct Partition {
  Direction direction = Direction::compress;
  u32 planned = 1;        // bits of the codes that it was made for
  std::vector<u32> cuts;  // PE p takes the sub-stages from cuts[p] to cuts[p + 1]

  u32 length() const { return u32(cuts.size() - 1); }
  // Wider blocks are finished by the PE that has the last plane; empty PEs hand on what they get.
  u32 cost(const CostTable& table, u32 pe, u32 width) const;
  // Of the PE that takes longest, for a block of `width` bits.
  u32 bottleneck(const CostTable& table, u32 width) const;
  // That PE `pe` receives or, one further, sends.
  u32 words_before(u32 pe, u32 width) const {
    return words_behind(direction, cuts[pe], planned, width);
  }
};

// Algorithm 1 of the paper: PEs take sub-stages until they have an equal part of all cycles or
// more, the last one the rest. (As printed it tests G_j where G_i is filled, and does not ask
// whether sub-stages are left; both are repaired.) Returns the cuts.
std::vector<u32> greedy_cuts(std::span<const u32> cycles, u32 length);
// The cuts with the smallest bottleneck; of several, those with the smallest cuts.
std::vector<u32> optimal_cuts(std::span<const u32> cycles, u32 length);

Partition make_partition(Direction direction, PartitionRule rule, const CostTable& table,
                         u32 length, u32 planned);

// No pipeline gains from more PEs: the longest sub-stage cannot be cut.
u32 longest_useful(Direction direction, const CostTable& table, u32 width);

}  // namespace leeway::fabric
