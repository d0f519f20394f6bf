// SPDX-License-Identifier: BSD-3-Clause
// Layout: where each frame of the stream goes, and who writes it. On one machine every rank writes
// its own frames. On several, frames go to a few writers first, each of which writes one range of
// the file that begins at a multiple of the stripe: file systems are slow when several processes
// write parts of a stripe.
#pragma once

#include <vector>

#include "leeway/parallel/file.h"
#include "leeway/parallel/plan.h"

namespace leeway::parallel {

// The frames that a rank has made, some consecutive ones together.
struct MadeFrames {
  std::vector<FrameHead> heads;
  Bytes bytes;
};

class Layout {
 public:
  // Collective. The header is what rank 0 writes first; all begins at the offset `start`.
  Layout(const Team& team, const Plan& plan, Bytes header, std::vector<MadeFrames> made,
         u64 start = 0);

  u64 end() const { return offsets_.back(); }  // of the frames
  // Collective: what the tail states of all frames, by ordinal; at rank 0 only.
  std::vector<FrameHead> heads() const;

  // What this rank will write.
  struct Run {
    u64 offset;
    ByteView bytes;
  };
  // Collective: as many ranks write as `writers` says; 0: as suits the machines.
  std::vector<Run> runs(int writers, u64 stripe);
  u64 sent_bytes() const { return sent_bytes_; }  // by this rank, to writers

 private:
  std::vector<Run> own_runs() const;
  std::vector<Run> ranges(int writers, u64 stripe);

  const Team& team_;
  const Plan& plan_;
  u64 start_;
  Bytes header_;
  std::vector<MadeFrames> made_;
  std::vector<u32> sizes_;    // of every chunk's payload
  std::vector<u64> offsets_;  // of every frame, and the end
  Bytes range_;               // of this writer
  u64 sent_bytes_ = 0;
};

}  // namespace leeway::parallel
