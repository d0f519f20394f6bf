/* SPDX-License-Identifier: BSD-3-Clause
 * leeway: error-bounded lossy compression of scientific arrays. The C interface.
 *
 *   leeway_context* leeway = leeway_create();
 *   leeway_set_bound(leeway, "abs", 1e-3);
 *   uint64_t shape[] = {100, 500, 500};                      // slowest axis first
 *   leeway_array array = {field, LEEWAY_F32, 3, shape, NULL};
 *   leeway_buffer* stream;
 *   if (leeway_compress(leeway, &array, &stream) != LEEWAY_OK) puts(leeway_message(leeway));
 *
 * A context holds settings and the message of its last error. There is no other state: use one
 * context per thread, or guard it. Functions return a status unless they cannot fail. */
#ifndef LEEWAY_LEEWAY_H
#define LEEWAY_LEEWAY_H

#include <stddef.h>
#include <stdint.h>

#define LEEWAY_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

typedef enum leeway_status {
  LEEWAY_OK = 0,
  LEEWAY_INVALID_ARGUMENT = 1, /* the call makes no sense */
  LEEWAY_CORRUPT = 2,          /* the stream is damaged, truncated, or not a stream */
  LEEWAY_UNSUPPORTED = 3,      /* the stream needs something this library does not have */
  LEEWAY_IO = 4,
  LEEWAY_CANCELED = 5, /* the progress function said so */
  LEEWAY_OUT_OF_MEMORY = 6,
  LEEWAY_INTERNAL = 7, /* a bug: please report it */
  LEEWAY_TOO_SMALL = 8 /* the memory given does not hold the result */
} leeway_status;

typedef enum leeway_dtype {
  LEEWAY_F32 = 1,
  LEEWAY_F64,
  LEEWAY_F16,
  LEEWAY_BF16,
  LEEWAY_I8,
  LEEWAY_I16,
  LEEWAY_I32,
  LEEWAY_I64,
  LEEWAY_U8,
  LEEWAY_U16,
  LEEWAY_U32,
  LEEWAY_U64
} leeway_dtype;

#define LEEWAY_MAX_RANK 8

/* An array of the caller. Strides are in bytes, one per axis; NULL means contiguous, last axis
 * fastest. */
typedef struct leeway_array {
  void* data; /* only read by the compressing functions */
  int dtype;  /* a leeway_dtype */
  int rank;
  const uint64_t* shape;
  const int64_t* strides;
} leeway_array;

typedef struct leeway_context leeway_context;
typedef struct leeway_buffer leeway_buffer;

LEEWAY_API const char* leeway_version(void); /* "0.1.0" */

/* A few words: "ok", "invalid argument", "damaged stream", ... */
LEEWAY_API const char* leeway_status_name(leeway_status status);

LEEWAY_API leeway_context* leeway_create(void); /* NULL: out of memory */
/* Another context with the same settings, for example for another thread; NULL: out of memory. */
LEEWAY_API leeway_context* leeway_copy(const leeway_context* context);
LEEWAY_API void leeway_destroy(leeway_context* context);
/* What the last call that failed had to say; "" if none did. Valid until the next call. */
LEEWAY_API const char* leeway_message(const leeway_context* context);

/* ---- settings ---- */

/* kind: "abs", "rel", "psnr", "l2" or "lossless" (value ignored). Bounds can be combined: all must
 * hold. "ratio" and "rate" (bits a value) ask for a size, as near as the others allow. "pointwise",
 * a part of each value, stands alone. */
LEEWAY_API leeway_status leeway_set_bound(leeway_context* context, const char* kind, double value);
LEEWAY_API void leeway_clear_bounds(leeway_context* context);
/* A smaller absolute bound, 0: no loss, in the part of the arrays to come that begins at `first`
 * and has these extents; `rank` numbers each. */
LEEWAY_API leeway_status leeway_add_region_bound(leeway_context* context, uint32_t rank,
                                                 const uint64_t* first, const uint64_t* extents,
                                                 double bound);
LEEWAY_API void leeway_clear_region_bounds(leeway_context* context);
/* A smaller absolute bound for every value: an array of LEEWAY_F32 or LEEWAY_F64 with the shape of
 * the arrays to come; infinity: as the other bounds say. Its data must stay where it is until the
 * arrays are compressed. NULL: no such bounds. */
LEEWAY_API leeway_status leeway_set_value_bounds(leeway_context* context,
                                                 const leeway_array* bounds);
/* The name of a preset or system, or a recipe; "balanced" is the default. */
LEEWAY_API leeway_status leeway_set_recipe(leeway_context* context, const char* recipe);
/* Declares a value that stands for "nothing here": kept exactly, left out of the range; at most
 * 240. */
LEEWAY_API void leeway_add_fill(leeway_context* context, double value);
/* The same as the bits of the arrays' type, for integers that no double holds: (uint64_t)value. */
LEEWAY_API void leeway_add_fill_bits(leeway_context* context, uint64_t bits);
LEEWAY_API void leeway_detect_fills(leeway_context* context, int detect);      /* on by default */
/* Whether arrays that fit into one chunk get the brief form of a stream, which saves some 250
 * bytes: for what is embedded in a container or sent in a message. Off by default. */
LEEWAY_API void leeway_set_brief(leeway_context* context, int brief);
LEEWAY_API void leeway_set_threads(leeway_context* context, unsigned threads); /* 1 by default */
/* Working memory to stay below if possible, by fewer threads; 0, the default: no limit. One thread
 * with one chunk is always allowed: a smaller chunk needs less. */
LEEWAY_API void leeway_set_memory(leeway_context* context, uint64_t bytes);
/* The extents of the chunks in which arrays are cut, compressed and read; `rank` numbers. Rank 0,
 * the default: chosen from the array's shape. */
LEEWAY_API leeway_status leeway_set_chunk(leeway_context* context, uint32_t rank,
                                          const uint64_t* extents);
/* Whether reading leaves out damaged chunks, whose values become NaN or 0, instead of failing. Off
 * by default; leeway_damage() tells what was left out. */
LEEWAY_API void leeway_set_salvage(leeway_context* context, int salvage);

/* Runs work(data, 0) ... work(data, count - 1) on threads of the host, and returns when all are
 * done. */
typedef void (*leeway_work)(void* data, unsigned index);
typedef void (*leeway_executor)(void* host, unsigned count, leeway_work work, void* data);
LEEWAY_API void leeway_set_executor(leeway_context* context, leeway_executor executor, void* host);

/* Called with the part of the work that is done, 0 to 1. Returning 0 stops it. */
typedef int (*leeway_progress)(void* host, double done);
LEEWAY_API void leeway_set_progress(leeway_context* context, leeway_progress progress, void* host);

/* ---- compressing ---- */

LEEWAY_API leeway_status leeway_compress(leeway_context* context, const leeway_array* array,
                                         leeway_buffer** stream);
LEEWAY_API const void* leeway_buffer_data(const leeway_buffer* buffer);
LEEWAY_API size_t leeway_buffer_size(const leeway_buffer* buffer);
LEEWAY_API void leeway_buffer_free(leeway_buffer* buffer);

/* Into memory of the caller; *size becomes the size of the stream, or, with LEEWAY_TOO_SMALL, a
 * capacity that is enough. */
LEEWAY_API leeway_status leeway_compress_into(leeway_context* context, const leeway_array* array,
                                              void* stream, size_t capacity, size_t* size);
/* A capacity that is always enough for leeway_compress_into(). */
LEEWAY_API leeway_status leeway_max_compressed_size(leeway_context* context,
                                                    const leeway_array* array, size_t* size);

/* The lowest and the highest value that is neither NaN, infinite nor a fill value: the range that
 * "rel" refers to. An array without such values has an infinite lowest and a negative infinite
 * highest one, so that the range of an array in parts has the minimum and the maximum of its parts
 * (MPI_Allreduce). */
LEEWAY_API leeway_status leeway_value_range(leeway_context* context, const leeway_array* array,
                                            double* lowest, double* highest);

/* ---- reading ---- */

typedef struct leeway_info {
  int dtype; /* a leeway_dtype */
  int rank;
  uint64_t shape[LEEWAY_MAX_RANK];
  uint64_t chunk[LEEWAY_MAX_RANK];
  uint64_t chunks;
  double abs_bound; /* in force; 0: no loss */
  double max_error; /* reached */
  uint64_t special; /* NaN, infinities and fill values */
  uint64_t exact;   /* other values kept bit for bit */
  uint64_t decoded_hash;
  char recipe[256]; /* cut if longer */
  uint64_t brief;   /* 1: the stream has the brief form */
  uint64_t reserved[7];
} leeway_info;

LEEWAY_API leeway_status leeway_inspect(leeway_context* context, const void* stream, size_t size,
                                        leeway_info* info);

/* The whole array; type and shape of `array` must be those of the stream. */
LEEWAY_API leeway_status leeway_decompress(leeway_context* context, const void* stream, size_t size,
                                           const leeway_array* array);
/* The part that begins at index `first` and has the shape of `array`. */
LEEWAY_API leeway_status leeway_decompress_region(leeway_context* context, const void* stream,
                                                  size_t size, const uint64_t* first,
                                                  const leeway_array* array);

/* How many chunks and values of the last array that was read are damaged and were left out; see
 * leeway_set_salvage(). Either may be NULL. */
LEEWAY_API void leeway_damage(const leeway_context* context, uint64_t* chunks, uint64_t* values);

/* A coarse picture of the array: in every chunk, every 2^level-th value along each axis, just as
 * the whole array has it. First its shape, with room for LEEWAY_MAX_RANK extents; then the values
 * into an array of the stream's type and that shape. */
LEEWAY_API leeway_status leeway_preview_shape(leeway_context* context, const void* stream,
                                              size_t size, unsigned level, uint64_t* shape);
LEEWAY_API leeway_status leeway_decompress_preview(leeway_context* context, const void* stream,
                                                   size_t size, unsigned level,
                                                   const leeway_array* array);

/* ---- changing ---- */

/* Replaces the part of the array in a stream's file that begins at index `first` and has the shape
 * of `values`, under the bound of the stream. Only the chunks that it touches are written again. */
LEEWAY_API leeway_status leeway_update_file(leeway_context* context, const char* path,
                                            const uint64_t* first, const leeway_array* values);

/* Appends rows along the first axis to a growing stream in a file; if there is no such file, makes
 * it of these rows. Bound (abs, rel, pointwise or lossless), recipe, fill values and chunks of the
 * context count for the first rows; later ones follow them. Whoever reads the file finds the rows of
 * the last call that returned, also while another one is under way or after it was killed. */
LEEWAY_API leeway_status leeway_append_file(leeway_context* context, const char* path,
                                            const leeway_array* rows);

#ifdef __cplusplus
}
#endif

#endif
