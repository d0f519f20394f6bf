// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/closed_form.h"

#include <algorithm>

namespace leeway::fabric {

u32 relay_cycles(const Machine& machine, u32 words) { return words + machine.start; }

u64 round_cycles(const Machine& machine, Relay relay, const Partition& partition,
                 const CostTable& table, u32 width) {
  const u32 words = partition.words_before(0, width), one = relay_cycles(machine, words);
  const u32 length = partition.length(), columns = machine.columns;
  // The slowest PE: it waits for words, computes, and sends, if there are others.
  u64 slowest = 0;
  for (u32 pe = 0; pe < length; ++pe) {
    u64 cycles = partition.cost(table, pe, width);
    if (pe > 0) cycles += relay_cycles(machine, partition.words_before(pe, width));
    if (pe + 1 < length) cycles += relay_cycles(machine, partition.words_before(pe + 1, width));
    slowest = std::max(slowest, cycles);
  }
  const u64 pipelines = std::max(1u, columns / length);
  switch (relay) {
    case Relay::paper:
      return pipelines * one + slowest;
    case Relay::bulk:
      return pipelines * words + machine.start + slowest;
    case Relay::both: {
      const u64 longer = std::max(1u, (columns + 1) / 2 / length);
      return longer * one + slowest;
    }
    case Relay::router:
      break;
  }
  return std::max<u64>(pipelines * (words + 1) + 1, one + slowest);
}

double throughput(const Machine& machine, u64 cycles_of_round, u32 length) {
  const double blocks = double(machine.rows) * (machine.columns / length);
  return blocks * kBlock * 4 * machine.clock / double(cycles_of_round);
}

double cycles_from_throughput(const Machine& machine, double bytes_a_second, u32 length) {
  return throughput(machine, 1, length) / bytes_a_second;
}

double width_from_throughput(const Machine& machine, Direction direction, const CostTable& table,
                             double bytes_a_second) {
  // Cycles of a round are a straight line in the width from 1 on.
  const auto at = [&](u32 width) {
    const bool coded = direction == Direction::decompress;
    const u32 words = coded ? coded_words(width) : kBlock;
    return double(machine.columns) * relay_cycles(machine, words) +
           table.of_block(direction, width);
  };
  const double slope = at(2) - at(1);
  return 1 + (cycles_from_throughput(machine, bytes_a_second, 1) - at(1)) / slope;
}

}  // namespace leeway::fabric
