// SPDX-License-Identifier: BSD-3-Clause
// Outside: what holds a wafer back beside its mesh: the channels at its edges and the line to the
// host.
//
// A column of PEs at an edge carries the words of all rows to the nearest channel, one word a cycle
// through each (a model: rows are shared out evenly, and nothing else uses the channels). Words are
// those of the blocks: what the host adds around them never was on the wafer.
#pragma once

#include "leeway/fabric/job.h"

namespace leeway::fabric {

// Where the blocks come from.
enum class Origin : u8 {
  wafer,  // from other PEs, as the paper assumes: "generated on the first PE of each row"
  host,   // through the channels
};
inline constexpr std::string_view kOriginNames[] = {"wafer", "host"};

struct Ceiling {
  std::string name;  // "mesh", "collection", "host", and of what comes in "channels", "host, in"
  double seconds = 0;
  double bytes_a_second = 0;  // of uncompressed values
};

struct Traffic {
  u64 cycles = 0;                        // of the mesh
  u64 field_bytes = 0;                   // of the uncompressed values
  std::vector<u64> words_in, words_out;  // of every chain
};

// Mesh, collection and host, in this order; what comes in behind them, if it comes from the host.
std::vector<Ceiling> ceilings_of(const Job& job, std::span<const Chain> chains,
                                 const Traffic& traffic, Origin origin);
// The one that takes longest.
const Ceiling& lowest(std::span<const Ceiling> ceilings);

}  // namespace leeway::fabric
