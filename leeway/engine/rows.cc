// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/rows.h"

#include <algorithm>

#include "leeway/base/buffer.h"
#include "leeway/base/hash.h"
#include "leeway/engine/layers.h"
#include "leeway/engine/rewrite.h"

namespace leeway {
namespace {

Shape with_rows(const Shape& shape, u64 rows) {
  Header header;
  header.shape = shape;
  set_extent(header, rows);
  return header.shape;
}

u64 chunks_in_row(const Header& stream) {
  Header row = stream;
  set_extent(row, 1);
  return row.grid().size();
}

// What the stream has of a chunk, as layers of the larger chunk that it becomes. Layers that were
// made so before are extended; other payloads become one, which is decoded without the new values.
Layers begun_layers(const ChunkCodec& codec, const OldChunk& before, const View& values,
                    Bytes& zero, Writer& exact) {
  const Shape shape = values.shape.squeezed();
  const Layers old = read_layers(before.chunk.payload, shape);
  const bool is_extensible =
      !old.over.empty() && values.shape[0] > 1 && Payload(old.base.front()) == Payload::constant;
  if (is_extensible && old.over.size() < kMostLayers) return old;
  zero.assign(1 + size_of(values.dtype), 0);
  zero[0] = u8(Payload::constant);
  Layer layer;
  // An axis of one row counts in the larger chunk.
  std::array<u64, kMaxRank> extents{values.shape[0]};
  size_t rank = 1;
  for (size_t axis = 1; axis < values.shape.rank(); ++axis)
    if (values.shape[axis] > 1) extents[rank++] = values.shape[axis];
  layer.box.shape = Shape(std::span<const u64>(extents).first(rank));
  layer.payload = before.chunk.payload;
  if (!old.over.empty()) {  // no payload of a layer has layers
    codec.compress(values, 0, {}, exact);
    layer.payload = exact.bytes();
  }
  return {zero, {layer}};
}

// The frame of a chunk that the stream has begun, with its old values and new ones behind them.
FrameHead complete_frame(const ChunkCodec& codec, const StreamReader& stream, u64 ordinal, u64 rows,
                         const FrameHead& made, ByteView payload, Writer& out) {
  const Header& header = stream.header();
  const OldChunk before(codec, stream, ordinal);
  if (before.chunk.head.bound != made.bound) fail_corrupt("a chunk has another bound");
  const Shape begun = header.chunk_box(ordinal).shape, added = with_rows(begun, rows),
              whole = with_rows(begun, begun[0] + rows);
  const size_t old_bytes = size_t(begun.size()) * size_of(header.dtype),
               bytes = size_t(whole.size()) * size_of(header.dtype);
  Bytes zero;
  Writer exact;
  Layers layers = begun_layers(codec, before, {before.data(), header.dtype, begun}, zero, exact);
  Layer layer;
  layer.box.first[0] = begun[0];
  Header box;
  box.shape = whole.squeezed();
  set_extent(box, rows);
  layer.box.shape = box.shape;
  layer.payload = payload;
  layers.over.push_back(layer);

  Buffer<u64> values((bytes + 7) / 8);
  auto* const decoded = reinterpret_cast<std::byte*>(values.data());
  std::memcpy(decoded, before.data(), old_bytes);
  Buffer<u64> behind((bytes - old_bytes + 7) / 8);
  KeptValues kept(behind.data());
  codec.decompress(payload, added.squeezed(), made.bound, kept);
  std::memcpy(decoded + old_bytes, behind.data(), bytes - old_bytes);

  const size_t start = out.size();
  out.extend(kFrameHeadBytes);
  write(layers, out);
  const ByteView written = out.bytes().subspan(start + kFrameHeadBytes);
  FrameHead head = before.chunk.head;
  head.payload_bytes = u32(written.size());
  head.special += made.special;
  head.exact += made.exact;
  head.max_error = std::max(head.max_error, made.max_error);
  head.decoded_hash = hash_of({reinterpret_cast<const u8*>(decoded), bytes});
  head.payload_hash = hash_of(written);
  finish_frame(head, start, out);
  return head;
}

}  // namespace

Shape RowsPart::shape(const Header& stream) const { return with_rows(stream.shape, count); }

CompressOptions RowsPart::options(const Header& stream, const Execution& execution) const {
  CompressOptions options;
  options.recipe = stream.recipe;
  options.grows = &stream;
  options.chunk = chunk;
  options.execution = execution;
  const bool keeps =
      stream.bound.has(BoundKind::lossless) || stream.bound.has(BoundKind::pointwise);
  options.bound = keeps ? stream.bound : Bound::abs(stream.abs_bound);
  return options;
}

void check_rows(const Header& stream, DType dtype, const Shape& rows) {
  if (!stream.is_growing)
    fail_argument(
        "rows can be appended to a growing stream only, and this one is not: it was "
        "made without the option to grow");
  if (dtype != stream.dtype)
    fail_argument("the stream holds " + std::string(name_of(stream.dtype)) + ", the new rows " +
                  std::string(name_of(dtype)));
  if (rows.rank() != stream.shape.rank() || with_rows(rows, 0) != with_rows(stream.shape, 0))
    fail_argument("rows of the shape " + to_string(rows) + " do not go on an array of " +
                  to_string(stream.shape));
}

std::vector<RowsPart> parts_of_rows(const Header& stream, u64 rows) {
  const u64 extent = stream.shape[0], deep = stream.chunk[0], begun = extent % deep,
            completing = begun > 0 ? std::min(rows, deep - begun) : 0;
  std::vector<RowsPart> parts;
  const auto add = [&](u64 first, u64 count, bool completes) {
    if (count == 0) return;
    parts.push_back({first, count, (extent + first) / deep * chunks_in_row(stream), completes,
                     with_rows(stream.chunk, std::min(deep, count))});
  };
  add(0, completing, true);
  add(completing, rows - completing, false);
  return parts;
}

FrameHead adopt_frame(const ChunkCodec& codec, const StreamReader& stream, const RowsPart& part,
                      const FrameHead& made, ByteView payload, Writer& out) {
  const u64 ordinal = part.first_ordinal + made.ordinal;
  if (part.completes) return complete_frame(codec, stream, ordinal, part.count, made, payload, out);
  FrameHead head = made;
  head.ordinal = ordinal;
  const size_t start = out.size();
  out.extend(kFrameHeadBytes);
  out.put_bytes(payload);
  finish_frame(head, start, out);
  return head;
}

ByteView take_payload(const FrameHead& head, ByteView& frames) {
  const ByteView payload = frames.subspan(kFrameHeadBytes, head.payload_bytes);
  frames = frames.subspan(size_t(frame_bytes(payload.size())));
  return payload;
}

}  // namespace leeway
