// SPDX-License-Identifier: BSD-3-Clause
// Execution: what compressing and decompressing share: progress, and how many workers memory
// allows.
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>

#include "leeway/codec/chunk_codec.h"
#include "leeway/engine/engine.h"

namespace leeway {

// Appends the frame of one chunk, head and payload.
FrameHead compress_chunk(const ChunkCodec& codec, const ChunkBound& bound, const Mask& mask,
                         u64 ordinal, const View& chunk, Writer& out);
// How many values are special; the view is contiguous.
u32 count_special(const Mask& mask, const View& values);
// The values of a chunk that was read, row-major; if only a part is asked for, others may be left
// out.
void decode_chunk(const ChunkCodec& codec, const Header& header, const StreamReader::Chunk& chunk,
                  bool check, void* values, const std::optional<Box>& part = {});
// The same for a chunk that is still to be read.
FrameHead decompress_chunk(const ChunkCodec& codec, const StreamReader& stream, u64 ordinal,
                           bool check, void* values, const std::optional<Box>& part = {});

// Where several threads may report.
class Meter {
 public:
  Meter(const Progress& progress, double total) : progress_(progress), total_(total) {}
  void add(double amount) {
    if (!progress_) return;
    const std::lock_guard lock(mutex_);
    done_ += amount;
    if (!progress_(std::min(1.0, done_ / total_)))
      throw Error(Errc::canceled, "stopped on request");
  }

 private:
  const Progress& progress_;
  double total_, done_ = 0;
  std::mutex mutex_;
};

// Buffers of the size of a chunk that a worker holds at its peak, and finished groups, smaller
// ones, that wait to be written.
inline constexpr u64 kWorkingCopies = 5 + 8;

inline unsigned affordable_threads(const Execution& execution, u64 chunk_bytes) {
  if (execution.memory == 0) return std::max(1u, execution.threads);
  const u64 affordable = execution.memory / (kWorkingCopies * std::max<u64>(chunk_bytes, 1));
  return unsigned(std::clamp<u64>(affordable, 1, std::max(1u, execution.threads)));
}

}  // namespace leeway
