// SPDX-License-Identifier: BSD-3-Clause
// The functions of leeway.hpp that read streams or change them.
#include <algorithm>

#include "leeway/array.h"
#include "leeway/codec/payload.h"
#include "leeway/leeway.hpp"
#include "leeway/library_codec.h"
#include "leeway/stream/source.h"

namespace leeway {

DecompressReport decompress_into(const StreamReader& stream, const Index& first,
                                 const MutableView& out, const DecompressOptions& options) {
  return decompress_with(library_codecs(), stream, first, out, options);
}

void preview_into(const StreamReader& stream, unsigned level, const MutableView& out,
                  const DecompressOptions& options) {
  preview_with(library_codecs(), stream, level, out, options);
}

Array preview(ByteView stream, unsigned level, const DecompressOptions& options) {
  const MemorySource source(stream);
  const StreamReader reader(source);
  Array array(reader.header().dtype, preview_shape(reader.header(), level));
  preview_into(reader, level, array.view(), options);
  return array;
}

Array decompress(ByteView stream, const Box& region, const DecompressOptions& options) {
  return decompress_with(library_codecs(), stream, &region, options);
}

Array decompress(ByteView stream, const DecompressOptions& options) {
  return decompress_with(library_codecs(), stream, nullptr, options);
}

UpdateReport update(ByteStore& stream, const Index& first, const View& values,
                    const Execution& execution) {
  return update_with(library_codecs(), stream, first, values, execution);
}

UpdateReport append(ByteStore& stream, const View& rows, const Execution& execution) {
  return append_with(library_codecs(), stream, rows, execution);
}

namespace {

// How many chunks were coded by each alternative.
std::vector<u64> count_alternatives(const StreamReader& stream) {
  std::vector<u64> counts;
  const size_t all = size_t(std::ranges::count(stream.header().recipe, '|'));
  if (all == 0) return counts;
  counts.resize(all + 1);
  Bytes storage;
  for (u64 i = 0; i < stream.chunks(); ++i) {
    const u32 bytes = std::min<u32>(2, stream.read_head(i).payload_bytes);
    const ByteView begin = stream.read_begin(i, bytes, storage);
    if (bytes < 2) continue;
    const Alternative taken = alternative_of(begin);
    const bool is_counted = taken.bytes > 0 || follows_recipe(Payload(begin.front()));
    if (is_counted && taken.number < counts.size()) ++counts[taken.number];
  }
  return counts;
}

}  // namespace

Info inspect(const StreamReader& stream) {
  return {stream.header(), stream.statement().value_or(Statement{}),
          stream.chunks(), stream.bytes(),
          stream.form(),   count_alternatives(stream)};
}

Info inspect(ByteView stream) {
  const MemorySource source(stream);
  return inspect(StreamReader(source));
}

}  // namespace leeway
