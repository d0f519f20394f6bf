// SPDX-License-Identifier: BSD-3-Clause
// Chunk shape: how large the chunks of an array are.
#include <algorithm>

#include "leeway/codec/chunk_codec.h"
#include "leeway/engine/engine.h"

namespace leeway {
namespace {

// The number of values wanted in a chunk. All values of a chunk that touches a region get the
// region's bound, so small chunks waste less. A brief stream is a chunk of a host and is cut into
// chunks of its own only if it is large.
u64 wanted_chunk(const CompressOptions& options, const ChunkCodec& codec) {
  constexpr u64 kWithRegions = u64(1) << 17, kOfHost = u64(1) << 17;
  if (options.brief && !options.has_regions()) return std::max(codec.chunk_values(), kOfHost);
  return options.has_regions() && !codec.is_by_value()
             ? std::min(codec.chunk_values(), kWithRegions)
             : codec.chunk_values();
}

}  // namespace

Shape chunk_of(const CompressOptions& options, const Shape& shape, const ChunkCodec& codec) {
  const Shape& chunk = options.chunk;
  if (chunk.rank() == 0) {
    const u64 values = wanted_chunk(options, codec);
    return codec.wants_rows() ? chunk_of_rows(shape, values) : default_chunk(shape, values);
  }
  if (chunk.rank() != shape.rank())
    fail_argument("the chunk shape " + to_string(chunk) +
                  " does not have as many axes as the array " + to_string(shape));
  std::array<u64, kMaxRank> extents;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    if (chunk[axis] == 0) fail_argument("a chunk cannot have an axis of extent 0");
    extents[axis] = axis == 0 && options.growing
                        ? chunk[axis]
                        : std::min(chunk[axis], std::max<u64>(shape[axis], 1));
  }
  const Shape result(std::span<const u64>(extents).first(shape.rank()));
  if (result.size() > kMaxChunkValues)
    fail_argument("a chunk of " + to_string(result) + " is too large; at most 2^24 values");
  return result;
}

Shape default_chunk(const Shape& shape, u64 values) {
  std::array<u64, kMaxRank> extents{};
  for (size_t axis = 0; axis < shape.rank(); ++axis) extents[axis] = std::max<u64>(shape[axis], 1);
  const std::span<u64> used = std::span(extents).first(shape.rank());
  if (shape.rank() == 1) used[0] = std::min(used[0], values);  // not halved: stages rely on it
  while (Shape(std::span<const u64>(used)).size() > values) {
    // Of equal axes, the slowest is halved. Long rows are read faster, so the last axis counts only
    // half of its extent, and a short one is never halved.
    constexpr u64 kShortRow = 256;
    u64& longest = *std::ranges::max_element(used, {}, [&](u64& extent) {
      if (&extent != &used.back()) return extent;
      return extent > kShortRow ? extent / 2 : u64(1);
    });
    if (longest == 1) return Shape(std::span<const u64>(used));
    longest = longest / 2 + longest % 2;
  }
  return Shape(std::span<const u64>(used));
}

Shape chunk_of_rows(const Shape& shape, u64 values) {
  // A row that is cut is cut where blocks end.
  constexpr u64 kBlocks = 64;
  if (shape.rank() <= 1 || shape[shape.rank() - 1] <= values)
    return shape.rank() == 1 ? default_chunk(shape, values) : chunk_of_maps(shape, values);
  std::array<u64, kMaxRank> extents;
  extents.fill(1);
  const u64 row = shape[shape.rank() - 1], parts = (row + values - 1) / values;
  extents[shape.rank() - 1] =
      std::min(values, ((row + parts - 1) / parts + kBlocks - 1) / kBlocks * kBlocks);
  return Shape(std::span<const u64>(extents).first(shape.rank()));
}

Shape chunk_of_maps(const Shape& shape, u64 values) {
  std::array<u64, kMaxRank> extents{};
  u64 room = values;
  for (size_t axis = shape.rank(); axis-- > 0;) {
    const u64 extent = std::max<u64>(shape[axis], 1), parts = (extent + room - 1) / room;
    extents[axis] = (extent + parts - 1) / parts;
    room = parts > 1 ? 1 : std::max<u64>(room / extent, 1);
  }
  return Shape(std::span<const u64>(extents).first(shape.rank()));
}

}  // namespace leeway
