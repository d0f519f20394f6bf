// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/frames.h"

#include <cstring>

#include "leeway/base/hash.h"
#include "leeway/codec/mask.h"
#include "leeway/engine/layers.h"

namespace leeway {

u32 count_special(const Mask& mask, const View& values) {
  return visit_dtype(values.dtype, [&]<class T>(std::type_identity<T>) {
    u32 count = 0;
    for (u64 i = 0; i < values.shape.size(); ++i) {
      T value;
      std::memcpy(&value, values.data + i * sizeof value, sizeof value);
      count += mask.is_special(value);
    }
    return count;
  });
}

void check_hash(u64 hash, const FrameHead& head) {
  if (hash != head.decoded_hash) fail_corrupt("the decoded values differ from what was compressed");
}

void decode_chunk(const ChunkCodec& codec, const Header& header, const StreamReader::Chunk& chunk,
                  bool check, void* values, const std::optional<Box>& part) {
  const Shape shape = header.chunk_box(chunk.head.ordinal).shape;
  KeptValues kept(values);
  Wanted wanted;
  if (part) wanted.box = squeezed(*part, shape);
  const bool complete = decode_payload(codec, chunk, header.dtype, shape.squeezed(), kept, wanted);
  const size_t bytes = size_t(shape.size()) * size_of(header.dtype);
  // There is no checksum for a part of the values; that of the payload was checked.
  if (check && complete) check_hash(hash_of({static_cast<const u8*>(values), bytes}), chunk.head);
}

FrameHead decompress_chunk(const ChunkCodec& codec, const StreamReader& stream, u64 ordinal,
                           bool check, void* values, const std::optional<Box>& part) {
  Bytes storage;
  const StreamReader::Chunk chunk = stream.read_chunk(ordinal, storage);
  decode_chunk(codec, stream.header(), chunk, check, values, part);
  return chunk.head;
}

}  // namespace leeway
