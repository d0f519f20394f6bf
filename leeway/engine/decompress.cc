// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>

#include "leeway/core/buffer.h"
#include "leeway/core/hash.h"
#include "leeway/engine/chunk_codec.h"
#include "leeway/engine/execution.h"

namespace leeway {
namespace {

// The part of `box` inside the region, as boxes relative to each.
std::optional<std::pair<Box, Box>> overlap(const Box& box, const Index& first, const Shape& shape) {
  Box in_box, in_region;
  std::array<u64, kMaxRank> extents;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    const u64 begin = std::max(box.first[axis], first[axis]);
    const u64 end = std::min(box.first[axis] + box.shape[axis], first[axis] + shape[axis]);
    if (begin >= end) return std::nullopt;
    in_box.first[axis] = begin - box.first[axis];
    in_region.first[axis] = begin - first[axis];
    extents[axis] = end - begin;
  }
  in_box.shape = in_region.shape = Shape(std::span<const u64>(extents).first(shape.rank()));
  return std::pair(in_box, in_region);
}

void fill_gap(const MutableView& gap) {
  visit_dtype(gap.dtype, [&]<class T>(std::type_identity<T>) {
    T nothing{};
    if constexpr (is_floating<T>) nothing = T(std::numeric_limits<float>::quiet_NaN());
    for_each_row(gap, [&](std::byte* row, size_t count, std::ptrdiff_t stride) {
      for (size_t i = 0; i < count; ++i)
        std::memcpy(row + std::ptrdiff_t(i) * stride, &nothing, sizeof nothing);
    });
  });
}

// The chunks that the region touches, in ascending order.
std::vector<u64> chunks_of_region(const Header& header, const Index& first, const Shape& shape) {
  std::vector<u64> ordinals;
  if (shape.size() == 0) return ordinals;
  const Shape grid = header.grid();
  std::array<u64, kMaxRank> low{}, counts{};
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    low[axis] = first[axis] / header.chunk[axis];
    counts[axis] = (first[axis] + shape[axis] - 1) / header.chunk[axis] - low[axis] + 1;
  }
  for_each_outer(Shape(std::span<const u64>(counts).first(shape.rank())), 0,
                 [&](const Index& index) {
                   u64 ordinal = 0;
                   for (size_t axis = 0; axis < shape.rank(); ++axis)
                     ordinal = ordinal * grid[axis] + low[axis] + index[axis];
                   ordinals.push_back(ordinal);
                 });
  return ordinals;
}

}  // namespace

DecompressReport decompress_with(const CodecMaker& maker, const StreamReader& stream,
                                 const Index& first, const MutableView& out,
                                 const DecompressOptions& options) {
  const Header& header = stream.header();
  if (out.dtype != header.dtype)
    fail_argument("the stream holds " + std::string(name_of(header.dtype)) + ", not " +
                  std::string(name_of(out.dtype)));
  if (out.shape.rank() != header.shape.rank())
    fail_argument("the region does not have as many axes as the array");
  for (size_t axis = 0; axis < out.shape.rank(); ++axis)
    if (first[axis] > header.shape[axis] || out.shape[axis] > header.shape[axis] - first[axis])
      fail_argument("the region reaches outside the array " + to_string(header.shape));

  const auto codec = maker(header.recipe, header.dtype);
  const std::vector<u64> ordinals = chunks_of_region(header, first, out.shape);
  const size_t value_bytes = size_of(header.dtype);
  const unsigned threads = affordable_threads(options.execution, header.chunk.size() * value_bytes);
  std::atomic<u64> damaged_chunks = 0, damaged_values = 0;
  Meter meter(options.execution.progress, double(ordinals.size()));
  for_each_index(ordinals.size(), threads, options.execution.executor, [&](u64 i) {
    const u64 ordinal = ordinals[size_t(i)];
    const Box box = header.chunk_box(ordinal);
    const auto [in_box, in_region] = *overlap(box, first, out.shape);
    const MutableView target = out.part(in_region);
    try {
      Bytes storage;
      const StreamReader::Chunk chunk = stream.read_chunk(ordinal, storage);
      const size_t bytes = size_t(box.shape.size()) * value_bytes;
      Buffer<u64> values((bytes + 7) / 8);
      codec->decompress(chunk.payload, box.shape.squeezed(), chunk.head.bound, values.data());
      const auto* decoded = reinterpret_cast<const u8*>(values.data());
      if (options.check_decoded && hash_of({decoded, bytes}) != chunk.head.decoded_hash)
        fail_corrupt("the decoded values differ from what was compressed");
      const MutableView whole(reinterpret_cast<std::byte*>(values.data()), header.dtype, box.shape);
      const MutableView part = whole.part(in_box);
      copy(View(part.data, part.dtype, part.shape, part.strides), target);
    } catch (const Error& error) {
      if (!options.salvage || error.code() != Errc::corrupt) throw;
      fill_gap(target);
      ++damaged_chunks;
      damaged_values += target.shape.size();
    }
    if (options.execution.pause) options.execution.pause();
    meter.add(1);
  });
  return {damaged_chunks, damaged_values};
}

}  // namespace leeway
