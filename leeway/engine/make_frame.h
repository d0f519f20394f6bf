// SPDX-License-Identifier: BSD-3-Clause
// Make frame: how a chunk of a job becomes a frame: anew, as the continuation of an earlier stream,
// or without loss.
#pragma once

#include <algorithm>
#include <vector>

#include "leeway/engine/job.h"
#include "leeway/engine/region_bounds.h"

namespace leeway {

// `bound`, or the smallest bound of the regions that touch the chunk, if that is less.
inline double with_regions(const Job& job, u64 ordinal, double bound) {
  return job.region_bounds.empty() ? bound : std::min(bound, job.region_bounds[size_t(ordinal)]);
}

// Calls f with the bound of a chunk: `bound`, or less where a region asks for less; value by value
// if the codec can do that.
template <class F>
auto with_chunk_bound(const Job& job, u64 ordinal, double bound, const Aim& aim, F&& f) {
  if (!job.header.regions.empty() && job.codec.is_by_value()) {
    const std::vector<double> each = bounds_in(job.options, job.header.chunk_box(ordinal), bound);
    ChunkBound own(std::ranges::max(each), each);
    own.aim = aim;
    return f(own);
  }
  return f(ChunkBound(usable_bound(with_regions(job, ordinal, bound)), aim));
}
template <class F>
auto with_chunk_bound(const Job& job, u64 ordinal, double bound, F&& f) {
  return with_chunk_bound(job, ordinal, bound, job.aim, f);
}

// Appends the frame of a chunk, whose bound is `bound` unless a region asks for less.
FrameHead make_frame(const Job& job, u64 ordinal, double bound, Writer& out);
// The same for a chunk that keeps nothing of an earlier stream; `bound` is the chunk's own.
FrameHead make_new_frame(const Job& job, u64 ordinal, const ChunkBound& bound, Writer& out);
// With a mask of its own.
FrameHead make_new_frame(const Job& job, u64 ordinal, const ChunkBound& bound, const Mask& mask,
                         Writer& out);

// Appends the frame of one chunk, head and payload.
FrameHead compress_chunk(const ChunkCodec& codec, const ChunkBound& bound, const Mask& mask,
                         u64 ordinal, const View& chunk, Writer& out);

}  // namespace leeway
