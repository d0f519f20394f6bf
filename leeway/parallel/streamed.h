// SPDX-License-Identifier: BSD-3-Clause
// Streamed: frames are written while the next ones are made, in rounds. In each round every rank
// has a range of the file behind those of the round before; the tail says where each frame is. So a
// rank keeps two rounds of frames, not all, and writing hides behind compressing, or the other way
// round. The bytes depend on the number of ranks; frames and decoded values do not.
#pragma once

#include "leeway/parallel/commit.h"
#include "leeway/parallel/held_chunks.h"

namespace leeway::parallel {

// How much of its array a rank compresses in a round.
inline constexpr u64 kRoundBytes = u64(64) << 20;

struct Streamed {
  u64 end = 0;  // of the frames
  Tail tail;    // at rank 0
};

// Collective: makes all frames, and puts them and the header into the unfinished file.
Streamed write_streamed(const Team& team, const Plan& plan, const Part& chunks,
                        PartCompression& part, const std::string& path, u64 round_bytes,
                        const leeway_write_options& options);

}  // namespace leeway::parallel
