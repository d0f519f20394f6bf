// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/job.h"

#include <algorithm>

#include "leeway/stream/brief.h"

namespace leeway {
namespace {

// One worker makes several small chunks in a row, of about this many values together.
constexpr u64 kGroupValues = u64(1) << 17;

// Every thread gets at least four groups, so that all of them end at about the same time.
u64 chunks_in_group(u64 chunks, u64 chunk_values, unsigned threads) {
  return std::clamp<u64>(chunks / (4 * std::max(1u, threads)), 1,
                         std::max<u64>(1, kGroupValues / chunk_values));
}

}  // namespace

Job::Job(const ChunkCodec& codec, const View& view, const CompressOptions& options, Header stated,
         const Part* part)
    : codec(codec),
      view(view),
      options(options),
      part(part),
      header(std::move(stated)),
      chunks(header.grid().size()),
      group(chunks_in_group(chunks, header.chunk.size(), options.execution.threads)),
      threads(
          affordable_threads(options.execution, group * header.chunk.size() * size_of(view.dtype))),
      region_bounds(header.regions.empty() ? std::vector<double>() : smallest_bounds(header)),
      is_brief(options.brief && can_be_brief(header)),
      meter(options.execution.progress, double(chunks)) {}

size_t Job::room_for(u64 chunks_made) const {
  constexpr size_t kSmallGroup = size_t(2) << 20;
  const auto bytes = size_t(chunks_made * header.chunk.size()) * size_of(view.dtype);
  return bytes < kSmallGroup ? bytes + 4096 : bytes / 3;
}

u64 Job::turn(u64 position) const {
  if (!part) return position;
  // Chunks 0, 32, 64, ..., then 1, 33, 65, ...
  constexpr u64 kStride = 32;
  const u64 least = chunks / kStride, longer = chunks % kStride, in_longer = longer * (least + 1);
  if (position < in_longer) return position % (least + 1) * kStride + position / (least + 1);
  position -= in_longer;
  return position % least * kStride + longer + position / least;
}

}  // namespace leeway
