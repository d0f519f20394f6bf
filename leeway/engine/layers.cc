// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/layers.h"

#include <algorithm>

#include "leeway/base/buffer.h"
#include "leeway/lossless/zstd.h"

namespace leeway {

void write(const Layers& layers, Writer& out) {
  out.put(Payload::layered);
  out.put_section(layers.base);
  out.put_varint(layers.over.size());
  for (const Layer& layer : layers.over) {
    for (size_t axis = 0; axis < layer.box.shape.rank(); ++axis) {
      out.put_varint(layer.box.first[axis]);
      out.put_varint(layer.box.shape[axis]);
    }
    out.put(layer.covers);
    if (layer.covers != Covers::box) {
      Writer packed;
      Zstd().compress(layer.marks, packed);
      out.put_section(packed.bytes());
    }
    out.put_section(layer.payload);
  }
}

namespace {

bool is_layered(ByteView payload) {
  return !payload.empty() && Payload(payload.front()) == Payload::layered;
}

ByteView take_plain_payload(Reader& in) {
  const ByteView payload = in.take_section();
  if (is_layered(payload)) fail_corrupt("a layer has layers of its own");
  return payload;
}

Layer read_layer(Reader& in, const Shape& chunk) {
  Layer layer;
  std::array<u64, kMaxRank> extents{};
  for (size_t axis = 0; axis < chunk.rank(); ++axis) {
    layer.box.first[axis] = in.get_varint(chunk[axis] - 1, "a layer outside its chunk");
    extents[axis] = in.get_varint(chunk[axis] - layer.box.first[axis], "a layer outside its chunk");
    if (extents[axis] == 0) fail_corrupt("an empty layer");
  }
  layer.box.shape = Shape(std::span<const u64>(extents).first(chunk.rank()));
  layer.covers = in.get<Covers>();
  if (layer.covers > Covers::list) fail_corrupt("a layer of an unknown kind");
  if (layer.covers != Covers::box) {
    const auto size = size_t(layer.box.shape.size());
    Writer marks;
    Zstd().decompress(in.take_section(), (size + 7) / 8, marks);
    layer.marks.assign(marks.bytes().begin(), marks.bytes().end());
    if (layer.marks.size() != (size + 7) / 8 || (size % 8 && layer.marks.back() >> size % 8) ||
        std::ranges::all_of(layer.marks, [](u8 byte) { return byte == 0; }))
      fail_corrupt("the marks of a layer do not fit it");
  }
  layer.payload = take_plain_payload(in);
  return layer;
}

}  // namespace

Layers read_layers(ByteView payload, const Shape& chunk) {
  if (!is_layered(payload)) return {payload, {}};
  Reader in(payload.subspan(1));
  Layers layers;
  layers.base = take_plain_payload(in);
  const u64 count = in.get_varint(kMostLayers, "too many layers");
  if (count == 0) fail_corrupt("no layers");
  u64 values = 0;
  for (u64 i = 0; i < count; ++i) {
    layers.over.push_back(read_layer(in, chunk));
    values += layers.over.back().box.shape.size();
    if (values > kMostLayered * chunk.size()) fail_corrupt("the layers are larger than allowed");
  }
  in.expect_end();
  return layers;
}

void lay(const ChunkCodec& codec, const Layer& layer, size_t value_bytes, const Shape& chunk,
         double bound, std::byte* values) {
  const Shape shape = layer.payload_shape();
  Buffer<u64> storage((size_t(shape.size()) * value_bytes + 7) / 8);
  KeptValues decoded(storage.data());
  codec.decompress(layer.payload, shape, bound, decoded);
  const auto* next = reinterpret_cast<const std::byte*>(storage.data());
  for_each_value(layer, chunk, [&](size_t to, size_t in_box) {
    const std::byte* from = next + (layer.covers == Covers::list ? 0 : in_box * value_bytes);
    std::memcpy(values + to * value_bytes, from, value_bytes);
    if (layer.covers == Covers::list) next += value_bytes;
  });
}

bool decode_payload(const ChunkCodec& codec, const StreamReader::Chunk& chunk, DType dtype,
                    const Shape& shape, ValueSink& values, const Wanted& wanted) {
  const ByteView payload = chunk.payload;
  const double bound = chunk.head.bound;
  if (!is_layered(payload)) return codec.decompress(payload, shape, bound, values, wanted);
  const Layers layers = read_layers(payload, shape);
  const size_t value_bytes = size_of(dtype), bytes = size_t(shape.size()) * value_bytes;
  Buffer<u64> own;
  auto* memory = static_cast<std::byte*>(values.all());
  if (!memory) {
    own = Buffer<u64>((bytes + 7) / 8);
    memory = reinterpret_cast<std::byte*>(own.data());
  }
  KeptValues base(memory);
  codec.decompress(layers.base, shape, bound, base);
  for (const Layer& layer : layers.over) lay(codec, layer, value_bytes, shape, bound, memory);
  if (!own.empty()) values.take({reinterpret_cast<const u8*>(memory), bytes});
  return true;
}

}  // namespace leeway
