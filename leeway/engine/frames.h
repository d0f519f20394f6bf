// SPDX-License-Identifier: BSD-3-Clause
// Frames: reads a chunk from its frame.
#pragma once

#include <optional>

#include "leeway/codec/chunk_codec.h"
#include "leeway/engine/engine.h"

namespace leeway {

// Returns how many values are special; the view is contiguous.
u32 count_special(const Mask& mask, const View& values);
// Decodes a chunk that was read into `values`, in row-major order; if only a part is asked for,
// the others may be left out.
void decode_chunk(const ChunkCodec& codec, const Header& header, const StreamReader::Chunk& chunk,
                  bool check, void* values, const std::optional<Box>& part = {});
// Throws unless the decoded values have the checksum that the head states.
void check_hash(u64 hash, const FrameHead& head);
// Reads a chunk and decodes it.
FrameHead decompress_chunk(const ChunkCodec& codec, const StreamReader& stream, u64 ordinal,
                           bool check, void* values, const std::optional<Box>& part = {});

}  // namespace leeway
