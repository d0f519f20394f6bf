// SPDX-License-Identifier: BSD-3-Clause
// The C interface, on top of leeway.hpp. Nothing is thrown across it.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "leeway/c_context.h"
#include "leeway/choose/choose.h"

namespace leeway {
namespace {

ByteView stream_view(const void* stream, size_t size) {
  require(stream || size == 0, "no stream given");
  return {static_cast<const u8*>(stream), size};
}

void decompress_to(leeway_context* context, const void* stream, size_t size, const uint64_t* first,
                   const leeway_array* array) {
  const MemorySource source(stream_view(stream, size));
  const StreamReader reader(source);
  const auto out = view_to_fill(array);
  if (!first && out.shape != reader.header().shape)
    fail_argument("the array has the shape " + to_string(out.shape) + ", the stream " +
                  to_string(reader.header().shape));
  Index index{};
  if (first) std::copy_n(first, array->rank, index.begin());
  DecompressOptions options;
  options.execution = context->options.execution;
  options.salvage = context->salvage;
  context->damage = {};
  context->damage = decompress_into(reader, index, out, options);
}

leeway_context* make_context(const leeway_settings& settings) noexcept {
  try {
    return new leeway_context(settings);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// If a setting cannot be stored for lack of memory, later calls fail instead of ignoring it.
template <class T>
void add_or_fail_later(leeway_context* context, std::vector<T>& list, T value) noexcept {
  try {
    list.push_back(value);
  } catch (const std::bad_alloc&) {
    context->lacks_memory = true;
  }
}

}  // namespace
}  // namespace leeway

using leeway::guarded;
using leeway::require;

const char* leeway_version(void) { return leeway::version(); }

const char* leeway_status_name(leeway_status status) {
  int number = 0;  // C programs may pass any
  static_assert(sizeof number == sizeof status);
  std::memcpy(&number, &status, sizeof number);
  switch (number) {
    case LEEWAY_OK:
      return "ok";
    case LEEWAY_INVALID_ARGUMENT:
      return "invalid argument";
    case LEEWAY_CORRUPT:
      return "damaged stream";
    case LEEWAY_UNSUPPORTED:
      return "unsupported stream";
    case LEEWAY_IO:
      return "input or output failed";
    case LEEWAY_CANCELED:
      return "canceled";
    case LEEWAY_OUT_OF_MEMORY:
      return "out of memory";
    case LEEWAY_INTERNAL:
      return "internal error";
    case LEEWAY_TOO_SMALL:
      return "too little memory given";
  }
  return "unknown status";
}

leeway_context* leeway_create(void) { return leeway::make_context({}); }
leeway_context* leeway_copy(const leeway_context* context) {
  return context ? leeway::make_context(*context) : nullptr;
}
void leeway_destroy(leeway_context* context) { delete context; }
const char* leeway_message(const leeway_context* context) {
  return context ? context->message.c_str() : "no context given";
}

leeway_status leeway_set_bound(leeway_context* context, const char* kind, double value) {
  return guarded(context, [&] {
    require(kind, "no kind of bound given");
    context->options.bound.add(leeway::parse_bound_kind(kind), value);
  });
}
void leeway_clear_bounds(leeway_context* context) {
  if (context) context->options.bound = {};
}
leeway_status leeway_add_region_bound(leeway_context* context, uint32_t rank, const uint64_t* first,
                                      const uint64_t* extents, double bound) {
  return guarded(context, [&] {
    if (rank > leeway::kMaxRank) leeway::fail_argument("a region has too many axes");
    if (rank > 0) {
      require(first, "no first index of the region given");
      require(extents, "no extents of the region given");
    }
    require(bound >= 0, "the bound of a region must be 0 or more");
    leeway::RegionBound region;
    std::copy_n(first, rank, region.box.first.begin());
    region.box.shape = leeway::Shape(std::span<const leeway::u64>(extents, rank));
    region.bound = bound;
    context->options.regions.push_back(region);
  });
}
void leeway_clear_region_bounds(leeway_context* context) {
  if (context) context->options.regions.clear();
}
leeway_status leeway_set_value_bounds(leeway_context* context, const leeway_array* bounds) {
  return guarded(context, [&] {
    const auto view = bounds ? leeway::view_to_read(bounds) : leeway::View();
    require(!bounds || view.dtype == leeway::DType::f32 || view.dtype == leeway::DType::f64,
            "bounds of values are f32 or f64");
    context->options.bounds = view;
  });
}
leeway_status leeway_set_chunk(leeway_context* context, uint32_t rank, const uint64_t* extents) {
  return guarded(context, [&] {
    if (rank > leeway::kMaxRank) leeway::fail_argument("a chunk has too many axes");
    require(rank == 0 || extents, "no extents of the chunk given");
    const std::span<const leeway::u64> all(extents, rank);
    require(std::ranges::count(all, 0u) == 0, "a chunk has at least one value along each axis");
    context->options.chunk = leeway::Shape(all);
  });
}
leeway_status leeway_set_recipe(leeway_context* context, const char* recipe) {
  return guarded(context, [&] {
    require(recipe, "no recipe given");
    leeway::check_recipe(recipe);
    context->options.recipe = recipe;
  });
}
void leeway_add_fill(leeway_context* context, double value) {
  if (context) leeway::add_or_fail_later(context, context->options.fills, value);
}
void leeway_add_fill_bits(leeway_context* context, uint64_t bits) {
  if (context) leeway::add_or_fail_later(context, context->options.fill_bits, bits);
}
void leeway_detect_fills(leeway_context* context, int detect) {
  if (context) context->options.detect_fills = detect != 0;
}
void leeway_set_brief(leeway_context* context, int brief) {
  if (context) context->options.brief = brief != 0;
}
void leeway_set_threads(leeway_context* context, unsigned threads) {
  if (context) context->options.execution.threads = threads;
}
void leeway_set_memory(leeway_context* context, uint64_t bytes) {
  if (context) context->options.execution.memory = bytes;
}

void leeway_set_salvage(leeway_context* context, int salvage) {
  if (context) context->salvage = salvage != 0;
}

void leeway_set_executor(leeway_context* context, leeway_executor executor, void* host) {
  if (!context) return;
  context->options.execution.executor = nullptr;
  if (!executor) return;
  context->options.execution.executor = [=](unsigned count,
                                            const std::function<void(unsigned)>& work) {
    const auto call = [](void* data, unsigned index) {
      (*static_cast<const std::function<void(unsigned)>*>(data))(index);
    };
    executor(host, count, call, const_cast<std::function<void(unsigned)>*>(&work));
  };
}

void leeway_set_progress(leeway_context* context, leeway_progress progress, void* host) {
  if (!context) return;
  context->options.execution.progress = nullptr;
  if (progress)
    context->options.execution.progress = [=](double done) { return progress(host, done) != 0; };
}

leeway_status leeway_compress(leeway_context* context, const leeway_array* array,
                              leeway_buffer** stream) {
  return guarded(context, [&] {
    require(stream, "nowhere to put the stream");
    auto buffer = std::make_unique<leeway_buffer>();
    buffer->bytes = compress(leeway::view_to_read(array), context->options);
    *stream = buffer.release();
  });
}
const void* leeway_buffer_data(const leeway_buffer* buffer) {
  return buffer ? buffer->bytes.data() : nullptr;
}
size_t leeway_buffer_size(const leeway_buffer* buffer) { return buffer ? buffer->bytes.size() : 0; }
void leeway_buffer_free(leeway_buffer* buffer) { delete buffer; }

leeway_status leeway_compress_into(leeway_context* context, const leeway_array* array, void* stream,
                                   size_t capacity, size_t* size) {
  return guarded(context, [&] {
    require(size && (stream || capacity == 0), "nowhere to put the stream");
    *size = 0;
    const auto view = leeway::view_to_read(array);
    try {
      const std::span memory(static_cast<leeway::u8*>(stream), capacity);
      *size = size_t(compress_into(view, context->options, memory).output_bytes);
    } catch (const leeway::Error& error) {
      if (error.code() == leeway::Errc::too_small)
        *size = size_t(leeway::max_compressed_size(view.dtype, view.shape, context->options));
      throw;
    }
  });
}

leeway_status leeway_value_range(leeway_context* context, const leeway_array* array, double* lowest,
                                 double* highest) {
  return guarded(context, [&] {
    require(lowest && highest, "nowhere to put the range");
    const auto range = value_range(leeway::view_to_read(array), context->options);
    *lowest = range ? range->min : std::numeric_limits<double>::infinity();
    *highest = range ? range->max : -std::numeric_limits<double>::infinity();
  });
}

leeway_status leeway_max_compressed_size(leeway_context* context, const leeway_array* array,
                                         size_t* size) {
  return guarded(context, [&] {
    require(size, "nowhere to put the size");
    const auto view = leeway::view_of_array<const std::byte>(array);
    *size = size_t(leeway::max_compressed_size(view.dtype, view.shape, context->options));
  });
}

leeway_status leeway_inspect(leeway_context* context, const void* stream, size_t size,
                             leeway_info* info) {
  return guarded(context, [&] {
    require(info, "nowhere to put the information");
    const leeway::Info found = leeway::inspect(leeway::stream_view(stream, size));
    *info = {};
    info->dtype = int(found.header.dtype);
    info->rank = int(found.header.shape.rank());
    std::ranges::copy(found.header.shape.extents(), info->shape);
    std::ranges::copy(found.header.chunk.extents(), info->chunk);
    info->chunks = found.chunks;
    info->abs_bound = found.header.abs_bound;
    info->max_error = found.statement.max_error;
    info->special = found.statement.special;
    info->exact = found.statement.exact;
    info->decoded_hash = found.statement.decoded_hash;
    std::strncpy(info->recipe, found.header.recipe.c_str(), sizeof info->recipe - 1);
    info->brief = found.form == leeway::Form::brief;
  });
}

leeway_status leeway_decompress(leeway_context* context, const void* stream, size_t size,
                                const leeway_array* array) {
  return guarded(context, [&] { leeway::decompress_to(context, stream, size, nullptr, array); });
}
void leeway_damage(const leeway_context* context, uint64_t* chunks, uint64_t* values) {
  if (chunks) *chunks = context ? context->damage.damaged_chunks : 0;
  if (values) *values = context ? context->damage.damaged_values : 0;
}
leeway_status leeway_update_file(leeway_context* context, const char* path, const uint64_t* first,
                                 const leeway_array* values) {
  return guarded(context, [&] {
    require(path && first, "path or place is missing");
    const auto view = leeway::view_to_read(values);
    leeway::Index index{};
    std::copy_n(first, view.shape.rank(), index.begin());
    leeway::FileStore store(path);
    update(store, index, view, context->options.execution);
  });
}

leeway_status leeway_preview_shape(leeway_context* context, const void* stream, size_t size,
                                   unsigned level, uint64_t* shape) {
  return guarded(context, [&] {
    require(shape, "nowhere to put the shape");
    const leeway::MemorySource source(leeway::stream_view(stream, size));
    std::ranges::copy(preview_shape(leeway::StreamReader(source).header(), level).extents(), shape);
  });
}
leeway_status leeway_decompress_preview(leeway_context* context, const void* stream, size_t size,
                                        unsigned level, const leeway_array* array) {
  return guarded(context, [&] {
    const leeway::MemorySource source(leeway::stream_view(stream, size));
    const auto out = leeway::view_to_fill(array);
    leeway::DecompressOptions options;
    options.execution = context->options.execution;
    options.salvage = context->salvage;
    preview_into(leeway::StreamReader(source), level, out, options);
  });
}

leeway_status leeway_decompress_region(leeway_context* context, const void* stream, size_t size,
                                       const uint64_t* first, const leeway_array* array) {
  return guarded(context, [&] {
    require(first, "no first index given");
    leeway::decompress_to(context, stream, size, first, array);
  });
}
