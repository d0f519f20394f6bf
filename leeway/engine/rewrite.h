// SPDX-License-Identifier: BSD-3-Clause
// Rewrite: a chunk that changed in part.
//
// Where a recipe predicts before it quantizes, decoded values that are coded again beside new ones
// move, and their errors add up. So the old payload stays as it is, and the new values are coded by
// themselves and laid over it. Every value that was not rewritten keeps its bits.
#pragma once

#include <span>
#include <vector>

#include "leeway/base/buffer.h"
#include "leeway/codec/chunk_codec.h"
#include "leeway/stream/stream_reader.h"

namespace leeway {

// A chunk of a stream, decoded.
struct OldChunk {
  OldChunk(const ChunkCodec& codec, const StreamReader& stream, u64 ordinal);
  const std::byte* data() const { return reinterpret_cast<const std::byte*>(values.data()); }

  Bytes storage;
  StreamReader::Chunk chunk;
  Buffer<u64> values;
};

// Appends a frame in which changed values (those with a byte that is not 0) are within the bound of
// the old chunk, and all others bit for bit as they were. `now` is contiguous.
FrameHead rewrite_chunk(const ChunkCodec& codec, const Mask& mask, const OldChunk& before,
                        const View& now, std::span<const u8> changed, Writer& out);

// Which values do not have the bits that a chunk decodes to.
std::vector<u8> changed_values(const OldChunk& before, const View& now);

}  // namespace leeway
