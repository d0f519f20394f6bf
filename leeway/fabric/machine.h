// SPDX-License-Identifier: BSD-3-Clause
// Machine: the wafer of processing elements (PEs) as the model sees it.
//
// Sizes, clock and memory: CereSZ [Song et al., HPDC 2024], section 5.1.1. Latency of the ramp
// between core and router: 2 cycles, after Luczynski et al., "Near-Optimal Wafer-Scale Reduce",
// HPDC 2024. The depth of the queues is assumed. The start of a move is the one constant that is
// fitted (docs/HARDWARE.md).
#pragma once

#include "leeway/base/types.h"

namespace leeway::fabric {

inline constexpr u32 kBlock = 32;  // values of a block

struct Machine {
  u32 columns = 512, rows = 512;
  double clock = 850e6;    // cycles a second
  u32 memory = 48 * 1024;  // bytes of a PE, code included
  u32 queue = 8;           // words that wait at a router, for every color
  u32 ramp = 2;            // cycles between core and router
  u32 start = 28;          // cycles until a move has started: end of a task, counter, descriptor
  u32 colors = 24;         // that can be routed
  u32 moves = 8;           // asynchronous moves of a core at once
  u32 channels = 16;       // to and from the host, together on all edges
  double host = 150e9;     // bytes a second between host and wafer, each way
  u32 code = 6 * 1024;     // bytes of a PE's program

  // From core to core of the next PE.
  constexpr u32 hop() const { return 2 * ramp + 1; }
  double seconds(u64 cycles) const { return double(cycles) / clock; }
  // Throws if a number makes no sense, or is so large that the model could not count with it.
  void check() const;
};

inline constexpr u32 kMostColumns = 750, kMostRows = 994;  // that can be used
// Of the model, which counts the cycles of a round in 32 bits (lanes.h) and keeps a time for every
// word of a queue.
inline constexpr u32 kMostQueue = 256, kMostRamp = 1000, kMostStart = 100'000;
inline constexpr u32 kMostChannels = 2 * kMostRows;  // one for every row of both edges

}  // namespace leeway::fabric
