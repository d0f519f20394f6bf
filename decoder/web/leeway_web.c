/* SPDX-License-Identifier: BSD-3-Clause
 * The single-header decoder as a WebAssembly module (leeway.js calls it). Numbers pass as doubles,
 * which JavaScript's are; arrays pass through the module's memory. */
#include <stdlib.h>
#define LEEWAY_DECODE_IMPLEMENTATION
#include "../leeway_decode.h"

#define EXPORT(name) __attribute__((export_name(#name)))

EXPORT(allocate) void* web_allocate(size_t bytes) { return malloc(bytes); }
EXPORT(release) void web_release(void* memory) { free(memory); }

/* A stream over bytes that must stay; NULL if there is no memory for it. status() says whether it
 * could be opened. */
EXPORT(open) lwy_stream* web_open(const void* bytes, size_t size) {
  lwy_stream* stream = (lwy_stream*)malloc(sizeof *stream);
  if (stream) lwy_open(stream, bytes, size, NULL);
  return stream;
}
EXPORT(close) void web_close(lwy_stream* stream) {
  lwy_close(stream);
  free(stream);
}
EXPORT(status) int web_status(const lwy_stream* stream) { return stream->status; }
EXPORT(message) const char* web_message(const lwy_stream* stream) { return lwy_message(stream); }
EXPORT(recipe) const char* web_recipe(const lwy_stream* stream) { return stream->info.recipe; }
EXPORT(dtype_name) const char* web_dtype_name(int dtype) { return lwy_dtype_name(dtype); }
EXPORT(bound_name) const char* web_bound_name(int kind) { return lwy_bound_name(kind); }

/* What the stream states, in the order of `facts` in leeway.js. */
EXPORT(fact) double web_fact(const lwy_stream* stream, int which) {
  const lwy_info* info = &stream->info;
  switch (which) {
    case 0:
      return info->dtype;
    case 1:
      return info->rank;
    case 2:
      return (double)info->chunks;
    case 3:
      return (double)info->values;
    case 4:
      return (double)info->bytes;
    case 5:
      return info->value_bytes;
    case 6:
      return info->is_brief;
    case 7:
      return info->levels;
    case 8:
      return info->bounds < 8 ? info->bounds : 8;
    case 9:
      return info->abs_bound;
    case 10:
      return info->min;
    case 11:
      return info->max;
    case 12:
      return info->max_error;
    case 13:
      return (double)info->special;
    case 14:
      return (double)info->exact;
    case 15:
      return (double)info->stream_bytes;
    default:
      return info->fills;
  }
}
EXPORT(extent) double web_extent(const lwy_stream* stream, int axis) {
  return (double)stream->info.shape[axis];
}
EXPORT(chunk_extent) double web_chunk_extent(const lwy_stream* stream, int axis) {
  return (double)stream->info.chunk[axis];
}
EXPORT(bound_kind) int web_bound_kind(const lwy_stream* stream, int i) {
  return stream->info.bound[i].kind;
}
EXPORT(bound_value) double web_bound_value(const lwy_stream* stream, int i) {
  return stream->info.bound[i].value;
}
EXPORT(fill) double web_fill(const lwy_stream* stream, int i) {
  return lwyi_number(stream->info.dtype, stream->info.fill[i]);
}

/* Extents and indices are arrays of 64-bit integers in the memory. */
EXPORT(decode_box)
int web_decode_box(lwy_stream* stream, const uint64_t* first, const uint64_t* extents, void* values,
                   size_t bytes) {
  return lwy_decode_box(stream, first, extents, values, bytes);
}
EXPORT(level_shape)
int web_level_shape(const lwy_stream* stream, unsigned level, uint64_t* shape) {
  return lwy_level_shape(stream, level, shape);
}
EXPORT(decode_level)
int web_decode_level(lwy_stream* stream, unsigned level, void* values, size_t bytes) {
  return lwy_decode_level(stream, level, values, bytes);
}

/* Values of any type as doubles: `rows` rows of `count`, from place `first` on, so far apart. */
EXPORT(numbers)
void web_numbers(int dtype, const void* values, size_t first, size_t rows, size_t row_step,
                 size_t count, size_t step, double* numbers) {
  const unsigned bytes = lwyi_bytes_of(dtype);
  for (size_t row = 0; row < rows; ++row)
    for (size_t i = 0; i < count; ++i)
      *numbers++ =
          lwyi_number(dtype, lwyi_bits_at(values, bytes, first + row * row_step + i * step));
}

/* XXH3-64 of bytes, as the library has it: the low and the high half. */
EXPORT(hash) double web_hash(const void* bytes, size_t size, int is_high) {
  const uint64_t hash = lwyi_hash(bytes, size);
  return (double)(is_high ? hash >> 32 : hash & 0xffffffffu);
}
