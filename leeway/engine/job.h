// SPDX-License-Identifier: BSD-3-Clause
// Job: one array that is being compressed: what the caller asks for, and what is found out about
// the array before its chunks are written.
#pragma once

#include <optional>
#include <vector>

#include "leeway/codec/chunk_codec.h"
#include "leeway/codec/mask.h"
#include "leeway/engine/engine.h"
#include "leeway/engine/execution.h"
#include "leeway/engine/rate.h"

namespace leeway {

struct Job {
  // `header` comes from checked_header().
  Job(const ChunkCodec& codec, const View& view, const CompressOptions& options, Header header);
  Job(const Job&) = delete;

  void pause() const {
    if (options.execution.pause) options.execution.pause();
  }

  // Given by the caller.
  const ChunkCodec& codec;
  const View& view;
  const CompressOptions& options;

  // How the stream is made.
  Header header;  // resolve() adds the fill values, the range and the bound
  u64 chunks;
  u64 group;  // number of chunks that one worker makes in a row
  unsigned threads;
  std::vector<double> region_bounds;  // one for each chunk; empty if there are no regions
  bool is_brief;
  Meter meter;

  // Found by resolve().
  Mask mask;
  Range range;
  std::optional<double> pointwise;  // the bound relative to each value, if that is what was asked
  double size_asked = 0;            // bytes of the whole stream; 0: any size
  std::optional<RateControl> rate;  // if a size was asked for
};

}  // namespace leeway
