// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/leeway.hpp"

#include <algorithm>
#include <memory>

#include "leeway/base/kept.h"
#include "leeway/choose/choose.h"
#include "leeway/codec/make_codec.h"
#include "leeway/codec/payload.h"
#include "leeway/compressor.h"
#include "leeway/library_codec.h"
#include "leeway/preprocess/log.h"

namespace leeway {
namespace {

// A recipe as the caller wrote it, and what was made of it.
struct Made {
  std::string asked;
  bool is_pointwise = false;  // whether the stage log was added for a pointwise bound
  DType dtype = DType::f32;
  std::string recipe;  // in full
  std::shared_ptr<const ChunkCodec> codec;
};

// The codecs made last, kept by the thread's pool: small arrays mostly use the same ones again.
struct LastMade {
  std::array<Made, 8> made;
  size_t next = 0;
};

Made made_of(const std::string& asked, DType dtype, bool is_pointwise = false) {
  const BufferPool::UseOwn pool;
  const auto last = keep<LastMade>();
  const auto is_same = [&](const Made& made) {
    return made.codec && made.dtype == dtype &&
           ((made.asked == asked && made.is_pointwise == is_pointwise) ||
            (made.recipe == asked && (made.is_pointwise || !is_pointwise)));
  };
  const auto found = std::ranges::find_if(last->made, is_same);
  if (found != last->made.end()) return *found;
  Recipe recipe = parse_recipe(asked);
  if (is_pointwise && !has_stage(recipe, Log::kName))
    recipe = with_first(Log::kName, std::move(recipe));
  Made& made = last->made[last->next++ % last->made.size()];
  return made = {asked, is_pointwise, dtype, to_string(recipe), make_codec(recipe, dtype)};
}

Made made_for(const CompressOptions& options, const std::string& name, DType dtype) {
  return made_of(name, dtype, options.bound.has(BoundKind::pointwise));
}

// `to` is a sink or memory.
template <class To>
CompressReport compress_to(const View& array, const CompressOptions& options, const To& to) {
  const BufferPool::UseOwn pool;
  const Choice choice = choose(array, options);
  const Made made = made_for(options, choice.recipe, array.dtype);
  if (choice.bounds.empty()) return compress_with(*made.codec, made.recipe, array, options, to);
  CompressOptions with_bounds = options;
  with_bounds.bounds = view_of(choice.bounds.data(), array.shape);
  return compress_with(*made.codec, made.recipe, array, with_bounds, to);
}

std::shared_ptr<const ChunkCodec> library_codec(const std::string& recipe, DType dtype) {
  try {
    return made_of(recipe, dtype).codec;
  } catch (const Error& error) {
    throw Error(Errc::unsupported,
                "the stream's recipe '" + recipe + "' is not possible here: " + error.what());
  }
}

}  // namespace

LibraryCodec library_codec_for(const CompressOptions& options, DType dtype) {
  if (is_choice(options.recipe))
    fail_argument("'" + options.recipe +
                  "' looks at the whole array: name a recipe for an array in parts");
  const Made made = made_for(options, options.recipe, dtype);
  return {made.recipe, made.codec};
}
CodecMaker library_codecs() { return library_codec; }

const char* version() { return LEEWAY_VERSION; }

CompressReport compress(const View& array, const CompressOptions& options, const Sink& sink) {
  return compress_to(array, options, sink);
}

CompressReport compress_into(const View& array, const CompressOptions& options,
                             std::span<u8> memory) {
  return compress_to(array, options, memory);
}

Bytes compress(const View& array, const CompressOptions& options) {
  Bytes stream;
  stream.reserve(
      size_t(array.shape.size() * size_of(array.dtype) / 4));  // unused pages are never touched
  compress(array, options,
           [&](ByteView part) { stream.insert(stream.end(), part.begin(), part.end()); });
  return stream;
}

std::string stored_recipe(const CompressOptions& options, DType dtype) {
  return made_for(options, options.recipe, dtype).recipe;
}

u64 max_compressed_size(DType dtype, const Shape& shape, const CompressOptions& options) {
  // No recipe that may be chosen has smaller chunks than this.
  const Made made = made_for(options, is_choice(options.recipe) ? "fast" : options.recipe, dtype);
  Header header;
  header.dtype = dtype;
  header.shape = shape;
  header.chunk = chunk_of(options, shape, *made.codec);
  header.bound = options.bound;
  if (options.rms > 0) header.bound.add(BoundKind::l2, options.rms);
  header.recipe = made.recipe;
  header.fills.resize(options.fills.size() + options.fill_bits.size() + kMostFoundFills);
  header.regions = options.regions;
  if (options.bounds.data || is_choice(options.recipe))
    header.regions.resize(header.regions.size() + size_t(header.grid().size()), {{{}, shape}, 0});
  Writer out;
  write(header, out);
  write(Tail{}, out);
  const u64 chunks = header.grid().size();
  // A chunk that does not shrink is stored with one byte more, and a frame ends with zeros. A size
  // in the index takes four bytes.
  return out.size() + shape.size() * size_of(dtype) +
         chunks * (frame_bytes(1) + kAlignment + sizeof(u32)) + kAlignment;
}

DecompressReport decompress_into(const StreamReader& stream, const Index& first,
                                 const MutableView& out, const DecompressOptions& options) {
  return decompress_with(library_codec, stream, first, out, options);
}

void preview_into(const StreamReader& stream, unsigned level, const MutableView& out,
                  const DecompressOptions& options) {
  preview_with(library_codec, stream, level, out, options);
}

Array preview(ByteView stream, unsigned level, const DecompressOptions& options) {
  const MemorySource source(stream);
  const StreamReader reader(source);
  Array array(reader.header().dtype, preview_shape(reader.header(), level));
  preview_into(reader, level, array.view(), options);
  return array;
}

Array decompress(ByteView stream, const Box& region, const DecompressOptions& options) {
  return detail::decompress_array(library_codec, stream, &region, options);
}

Array decompress(ByteView stream, const DecompressOptions& options) {
  return detail::decompress_array(library_codec, stream, nullptr, options);
}

Array detail::decompress_array(const CodecMaker& maker, ByteView stream, const Box* region,
                               const DecompressOptions& options) {
  const MemorySource source(stream);
  const StreamReader reader(
      source, options.salvage ? StreamReader::OnDamage::salvage : StreamReader::OnDamage::refuse);
  const Box box = region ? *region : Box{{}, reader.header().shape};
  Array array(reader.header().dtype, box.shape);
  decompress_with(maker, reader, box.first, array.view(), options);
  return array;
}

UpdateReport update(ByteStore& stream, const Index& first, const View& values,
                    const Execution& execution) {
  return update_with(library_codec, stream, first, values, execution);
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
