// SPDX-License-Identifier: BSD-3-Clause
// Rewrite: compresses a chunk of which only some values have changed.
//
// If a recipe predicts before it quantizes, decoded values that are coded again beside new ones
// change, and their errors add up. So the old payload stays as it is, and the new values are coded
// separately and laid over it. Every value that was not rewritten keeps its bits.
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

// Appends a frame with the values of `now`, which is contiguous. Values whose byte in `changed` is
// not 0 are within the bound of the old chunk; all others keep the bits that they had.
FrameHead rewrite_chunk(const ChunkCodec& codec, const Mask& mask, const OldChunk& before,
                        const View& now, std::span<const u8> changed, Writer& out);

// Returns one byte for each value: not 0 if its bits are not those that the chunk decodes to.
std::vector<u8> changed_values(const OldChunk& before, const View& now);

}  // namespace leeway
