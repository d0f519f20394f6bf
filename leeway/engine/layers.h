// SPDX-License-Identifier: BSD-3-Clause
// Layers: payloads laid over another one (docs/FORMAT.md, "Layers"). A layer replaces some values
// of the payload below it; all others keep their bits.
#pragma once

#include <vector>

#include "leeway/codec/chunk_codec.h"
#include "leeway/stream/stream_reader.h"

namespace leeway {

// More layers would be slow to decode; a chunk that needs more is kept without loss instead.
inline constexpr size_t kMostLayers = 64;
inline constexpr u64 kMostLayered = 4;  // number of values in all layers / values in a chunk

// Which values of its box a layer replaces, and what its payload holds.
enum class Covers : u8 {
  box = 0,     // all values of the box
  marked = 1,  // those that are marked; the payload holds the whole box
  list = 2,    // those that are marked; the payload holds only these, as a list
};

struct Layer {
  Box box;
  Covers covers = Covers::box;
  Bytes marks;  // one bit for each value of the box, the lowest bit of a byte first
  ByteView payload;

  bool is_marked(size_t i) const { return marks.empty() || (marks[i / 8] >> i % 8 & 1); }
  Shape payload_shape() const {
    if (covers != Covers::list) return box.shape.squeezed();
    u64 count = 0;
    for (const u8 byte : marks) count += u64(std::popcount(byte));
    return Shape{count}.squeezed();
  }
};

struct Layers {
  ByteView base;
  std::vector<Layer> over;  // the first lies directly over the base
};

// Calls f(position in the chunk, position in the box) for every value that the layer replaces.
template <class F>
void for_each_value(const Layer& layer, const Shape& chunk, F&& f) {
  const size_t rank = chunk.rank();
  const u64 length = rank > 0 ? layer.box.shape[rank - 1] : 1;
  size_t in_box = 0;
  for_each_outer(layer.box.shape, 1, [&](const Index& index) {
    u64 row = 0;
    for (size_t axis = 0; axis < rank; ++axis)
      row = row * chunk[axis] + layer.box.first[axis] + (axis + 1 < rank ? index[axis] : 0);
    for (u64 i = 0; i < length; ++i, ++in_box)
      if (layer.is_marked(in_box)) f(size_t(row + i), in_box);
  });
}

void write(const Layers& layers, Writer& out);
// Reads the layers of a payload; one without layers becomes the base with nothing over it.
Layers read_layers(ByteView payload, const Shape& chunk);
// Decodes a layer and lays it over the values of the chunk.
void lay(const ChunkCodec& codec, const Layer& layer, size_t value_bytes, const Shape& chunk,
         double bound, std::byte* values);

// Decodes a chunk's payload, with or without layers. The shape has no axes of extent 1. Returns
// whether all values were decoded: values that are not wanted may be left out.
bool decode_payload(const ChunkCodec& codec, const StreamReader::Chunk& chunk, DType dtype,
                    const Shape& shape, ValueSink& values, const Wanted& wanted = {});

}  // namespace leeway
