// SPDX-License-Identifier: BSD-3-Clause
// Rows: what is appended to a growing stream along its first axis. Rows are cut where a row of the
// stream's chunks ends: each part is an array of its own, whose chunks are chunks of the stream, or
// the rest of chunks that the stream has begun.
#pragma once

#include <vector>

#include "leeway/codec/chunk_codec.h"
#include "leeway/engine/engine.h"

namespace leeway {

struct RowsPart {
  u64 first, count;   // of the rows that are appended
  u64 first_ordinal;  // the stream's chunk that the first chunk of this part is, or completes
  bool completes;     // whether the stream has the beginning of its chunks
  Shape chunk;

  // These rows as an array.
  Shape shape(const Header& stream) const;
  CompressOptions options(const Header& stream, const Execution& execution) const;
};

// One part or two. The header says what the stream has. Throws unless it is a growing one.
std::vector<RowsPart> parts_of_rows(const Header& stream, u64 rows);
// Throws unless rows of this type and shape go on the stream.
void check_rows(const Header& stream, DType dtype, const Shape& rows);

// Appends the frame that the stream gets for a frame of a part: the same with another number, or
// one with the values that the stream has of this chunk and those of the frame.
FrameHead adopt_frame(const ChunkCodec& codec, const StreamReader& stream, const RowsPart& part,
                      const FrameHead& head, ByteView payload, Writer& out);

// Reads the payload of a frame at the head of `frames`, and takes the frame off.
ByteView take_payload(const FrameHead& head, ByteView& frames);

}  // namespace leeway
