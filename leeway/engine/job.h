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
#include "leeway/engine/part.h"
#include "leeway/engine/rate.h"

namespace leeway {

struct Job {
  // `header` comes from checked_header(). If there is a part, its chunks are all that this job has
  // of the array, and the view has no data.
  Job(const ChunkCodec& codec, const View& view, const CompressOptions& options, Header header,
      const Part* part = nullptr);
  Job(const Job&) = delete;

  bool holds(u64 ordinal) const { return !part || part->holds(ordinal); }
  View chunk(u64 ordinal) const {
    return part ? part->chunk(ordinal) : view.part(header.chunk_box(ordinal));
  }
  // Numbers of which each is known where its chunk is, and 0 elsewhere, become known to all.
  void share(std::span<u64> numbers) const {
    if (part) part->sum(numbers);
  }
  // The chunk that is made at this turn if a size is asked for. In an array in parts, chunks that
  // are made one after the other lie far apart: every process has some of them.
  u64 turn(u64 position) const;

  // The bytes that the frames of so many chunks are given room for; more is found if it is needed.
  size_t room_for(u64 chunks_made) const;

  void pause() const {
    if (options.execution.pause) options.execution.pause();
  }

  // Given by the caller.
  const ChunkCodec& codec;
  const View& view;
  const CompressOptions& options;
  const Part* part;

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
  Aim aim;                          // if squared errors have a limit
  double size_asked = 0;            // bytes of the whole stream; 0: any size
  std::optional<RateControl> rate;  // if a size was asked for
};

}  // namespace leeway
