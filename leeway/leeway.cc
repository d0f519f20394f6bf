// SPDX-License-Identifier: BSD-3-Clause
// The functions of leeway.hpp that compress; those that read streams are in leeway_read.cc.
#include <algorithm>
#include <cmath>
#include <limits>

#include "leeway/base/buffer.h"
#include "leeway/choose/advise.h"
#include "leeway/choose/choose.h"
#include "leeway/codec/chunk_codec.h"
#include "leeway/leeway.hpp"
#include "leeway/library_codec.h"
#include "leeway/recipe/recipe.h"

namespace leeway {
namespace {

// The stage log keeps bounds relative to each value: an absolute one becomes the relative one that
// the largest value needs, so that all others are within it, too.
CompressOptions with_relative_bound(const View& array, const CompressOptions& options) {
  CompressOptions relative = options;
  double bound = std::numeric_limits<double>::max();
  const Bound limits = absolute_limits(array, options);
  for (const Limit& limit : limits.limits()) {
    if (limit.kind != BoundKind::abs && limit.kind != BoundKind::lossless) return options;
    bound = std::min(bound, limit.value);  // no loss: 0
  }
  const auto range = value_range(array, options);
  const double largest = range ? std::max(std::abs(range->min), std::abs(range->max)) : 0;
  relative.bound = largest > 0 && is_usable_bound(bound / largest)
                       ? Bound::pointwise(std::min(bound / largest * (1 - 0x1p-40), 1e6))
                       : Bound::lossless();
  return relative;
}

bool is_log_without_relative_bound(const ChunkCodec& codec, const CompressOptions& options) {
  return codec.is_pointwise() && !options.bound.has(BoundKind::pointwise) &&
         !options.bound.has(BoundKind::lossless) && !options.bound.limits().empty() &&
         !options.has_regions() && !options.growing && options.rms == 0;
}

// `to` is a sink or memory.
template <class To>
CompressReport compress_to(const View& array, const CompressOptions& options, const To& to) {
  const BufferPool::UseOwn pool;
  if (options.bound.limits().empty() && options.rms == 0 && !is_choice(options.recipe))
    if (const Bound own = bound_of(parse_recipe(options.recipe)); !own.limits().empty()) {
      CompressOptions bounded = options;
      bounded.bound = own;
      return compress_to(array, bounded, to);
    }
  const Choice choice = choose(array, options);
  const LibraryCodec made = library_codec_for(options, choice.recipe, array.dtype);
  if (is_log_without_relative_bound(*made.codec, options))
    return compress_with(*made.codec, made.recipe, array, with_relative_bound(array, options), to);
  if (choice.bounds.empty()) return compress_with(*made.codec, made.recipe, array, options, to);
  CompressOptions with_bounds = options;
  with_bounds.bounds = view_of(choice.bounds.data(), array.shape);
  return compress_with(*made.codec, made.recipe, array, with_bounds, to);
}

}  // namespace

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
  return library_codec_for(options, options.recipe, dtype).recipe;
}

u64 max_compressed_size(DType dtype, const Shape& shape, const CompressOptions& options) {
  // No recipe that may be chosen has smaller chunks than this, or a longer text.
  const bool is_chosen = looks_at_values(shape, options);
  const LibraryCodec made = library_codec_for(options, is_chosen ? "fast" : options.recipe, dtype);
  Header header;
  header.dtype = dtype;
  header.shape = shape;
  header.chunk = chunk_of(options, shape, *made.codec);
  header.bound = options.bound;
  if (options.rms > 0) header.bound.add(BoundKind::l2, options.rms);
  header.recipe = is_chosen ? std::string(kMostRecipeText, '+') : made.recipe;
  header.fills.resize(options.fills.size() + options.fill_bits.size() + kMostFoundFills);
  header.regions = options.regions;
  if (options.bounds.data || is_choice(options.recipe))
    header.regions.resize(header.regions.size() + size_t(header.grid().size()), {{{}, shape}, 0});
  Writer out;
  header.is_growing = options.growing;
  Tail tail;
  if (options.growing) tail.growth = {0, shape[0]};
  write(header, out);
  write(tail, out);
  const u64 chunks = header.grid().size();
  // A chunk that does not shrink is stored with one byte more, and a frame ends with zeros. A size
  // in the index takes four bytes.
  return out.size() + shape.size() * size_of(dtype) +
         chunks * (frame_bytes(1) + kAlignment + sizeof(u32)) + kAlignment;
}

}  // namespace leeway
