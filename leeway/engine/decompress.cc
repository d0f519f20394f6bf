// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <limits>

#include "leeway/core/buffer.h"
#include "leeway/core/hash.h"
#include "leeway/engine/chunk_codec.h"
#include "leeway/engine/execution.h"
#include "leeway/engine/region.h"

namespace leeway {
namespace {

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

}  // namespace

void decompress_chunk(const ChunkCodec& codec, const StreamReader& stream, u64 ordinal, bool check,
                      void* values) {
  const Header& header = stream.header();
  const Shape shape = header.chunk_box(ordinal).shape;
  Bytes storage;
  const StreamReader::Chunk chunk = stream.read_chunk(ordinal, storage);
  codec.decompress(chunk.payload, shape.squeezed(), chunk.head.bound, values);
  const size_t bytes = size_t(shape.size()) * size_of(header.dtype);
  if (check && hash_of({static_cast<const u8*>(values), bytes}) != chunk.head.decoded_hash)
    fail_corrupt("the decoded values differ from what was compressed");
}

DecompressReport decompress_with(const CodecMaker& maker, const StreamReader& stream,
                                 const Index& first, const MutableView& out,
                                 const DecompressOptions& options) {
  const Header& header = stream.header();
  check_region(header, first, out.dtype, out.shape);
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
      Buffer<u64> values((size_t(box.shape.size()) * value_bytes + 7) / 8);
      decompress_chunk(*codec, stream, ordinal, options.check_decoded, values.data());
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
