/* SPDX-License-Identifier: BSD-3-Clause
 * leeway_decode.h: reads leeway streams, in one C file without dependencies.
 *
 *   #define LEEWAY_DECODE_IMPLEMENTATION      // in one source file of the program
 *   #include "leeway_decode.h"
 *
 *   lwy_stream stream;
 *   if (lwy_open(&stream, bytes, size, NULL) == LWY_OK) {
 *     float* values = malloc(stream.info.bytes);
 *     lwy_decode(&stream, values, stream.info.bytes);
 *   }
 *   puts(lwy_message(&stream));               // what went wrong; "" if nothing did
 *   lwy_close(&stream);
 *
 * C99 or C++11. Reads standard and brief streams of format version 1 (docs/FORMAT.md): all types,
 * updated streams, boxes, previews. Every checksum is checked, every length before it is used; no
 * input makes it crash, and what it decodes is bit for bit what the library decodes. Of the stages
 * it knows those of the presets (fast, balanced, small, smallest, lossless) and of cuszp2-outlier,
 * cuszp2-plain, ceresz, sz3-interp, sz3-truncation and plain:
 *
 *   preprocessor   log (bounds relative to each value)
 *   predictor      lorenzo and blocks behind the quantizer, pyramid and interp before it
 *   quantizer      linear (but for beyond=planes), exact, truncate
 *   encoder        huffman, rans, pack, fixed, raw
 *   lossless       zstd, store
 *
 * A stream with another stage is opened, so that what it states can be read; decoding it is refused
 * with the stage's name.
 *
 * Compile without -ffast-math, and with -ffp-contract=off where the compiler would fuse a
 * multiplication and an addition (GCC and clang are told here; others have flags of their own). -O3
 * lets loops become vector code. Nothing is kept outside of lwy_stream and what the caller's
 * allocator gave: threads may each have a stream of their own over the same bytes.
 *
 * Before the include may be defined:
 *
 *   LEEWAY_DECODE_USE_ZSTD   libzstd reads zstd frames, faster than what is in here
 *   LEEWAY_DECODE_NO_MALLOC  no malloc and free: lwy_open needs an allocator
 *   LEEWAY_DECODE_FILE       the name of this file, if it is another one: it includes itself
 *   LWY_API                  what stands before public functions: static, an attribute, ...
 */
#ifndef LEEWAY_DECODE_H
#define LEEWAY_DECODE_H

#include <stddef.h>
#include <stdint.h>

#ifndef LWY_API
#define LWY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* As in leeway.h. */
enum lwy_status {
  LWY_OK = 0,
  LWY_INVALID_ARGUMENT = 1, /* the call makes no sense */
  LWY_CORRUPT = 2,          /* the stream is damaged, truncated, or not a stream */
  LWY_UNSUPPORTED = 3,      /* the stream needs something that is not in here */
  LWY_OUT_OF_MEMORY = 6
};

enum lwy_dtype {
  LWY_F32 = 1,
  LWY_F64,
  LWY_F16,
  LWY_BF16,
  LWY_I8,
  LWY_I16,
  LWY_I32,
  LWY_I64,
  LWY_U8,
  LWY_U16,
  LWY_U32,
  LWY_U64
};

enum lwy_bound_kind {
  LWY_ABS = 1,
  LWY_REL,
  LWY_PSNR,
  LWY_L2,
  LWY_LOSSLESS,
  LWY_RATIO,
  LWY_RATE,
  LWY_POINTWISE
};

#define LWY_MAX_RANK 8
#define LWY_MAX_FILLS 256
#define LWY_MAX_RECIPE 1024

typedef struct lwy_bound {
  int kind; /* a lwy_bound_kind */
  double value;
} lwy_bound;

/* What a stream states. Axes: the slowest first. */
typedef struct lwy_info {
  int dtype; /* a lwy_dtype */
  int rank;
  uint64_t shape[LWY_MAX_RANK];
  uint64_t chunk[LWY_MAX_RANK]; /* extents of a chunk; the last ones along an axis may be smaller */
  uint64_t grid[LWY_MAX_RANK];  /* chunks along every axis */
  uint64_t chunks;
  uint64_t values;      /* of the array */
  uint64_t bytes;       /* of the array */
  uint32_t value_bytes; /* of a value */
  int is_brief;         /* whether the stream has the brief form */
  int levels;           /* previews up to this one read a part of the stream only, if all chunks are
                           like the first */

  int bounds; /* how many of these were asked for, all of them to hold; the first eight are here */
  lwy_bound bound[8];
  double abs_bound;      /* the absolute bound in force; 0: no loss */
  double min, max;       /* of the values that are not special; both 0 if not determined */
  double max_error;      /* no value is off by more */
  uint64_t special;      /* NaN, infinities and fill values, kept bit for bit */
  uint64_t exact;        /* other values kept bit for bit */
  uint64_t decoded_hash; /* of the chunks' checksums */
  uint64_t stream_bytes;
  int fills;                       /* how many */
  uint64_t fill[LWY_MAX_FILLS];    /* their bits */
  char recipe[LWY_MAX_RECIPE + 1]; /* the stages */
} lwy_info;

/* Where memory comes from. Memory must be aligned for any type; NULL says that there is none left.
 */
typedef struct lwy_allocator {
  void* (*allocate)(void* host, size_t bytes);
  void (*release)(void* host, void* memory);
  void* host;
} lwy_allocator;

typedef struct lwy_stream {
  lwy_info info;
  /* Not for the caller: */
  int status, is_open;
  char message[256];
  lwy_allocator allocator;
  const uint8_t* bytes;
  size_t size;
  uint64_t* offsets; /* of the chunks' frames */
  uint64_t tail;     /* where the tail begins */
  int is_growing;    /* the tail says how far the array reaches along its first axis */
  uint64_t header_hash;
  /* Of a brief stream: where its payload begins, its bound, the hash of its values. */
  size_t brief_payload;
  double brief_bound;
  uint64_t brief_hash;
} lwy_stream;

/* Reads what the stream states; bytes must stay as they are until lwy_close(). An allocator of
 * NULL: malloc and free. Whatever it returns, lwy_message() and lwy_close() may be called. */
LWY_API int lwy_open(lwy_stream* stream, const void* bytes, size_t size,
                     const lwy_allocator* allocator);
LWY_API void lwy_close(lwy_stream* stream);

/* The functions below put values one behind the other, row-major, in the byte order of the host,
 * into memory of the caller; bytes says how much there is. */

/* The whole array: info.bytes. */
LWY_API int lwy_decode(lwy_stream* stream, void* values, size_t bytes);

/* The part that begins at index `first`: only the chunks that it touches are decoded, and of chunks
 * that are cut into tiles only those tiles. */
LWY_API int lwy_decode_box(lwy_stream* stream, const uint64_t* first, const uint64_t* extents,
                           void* values, size_t bytes);

/* In every chunk, every 2^level-th value along each axis. First the shape of that, for which there
 * must be room for LWY_MAX_RANK extents. Levels up to info.levels look at a part of the stream
 * only. */
LWY_API int lwy_level_shape(const lwy_stream* stream, unsigned level, uint64_t* shape);
LWY_API int lwy_decode_level(lwy_stream* stream, unsigned level, void* values, size_t bytes);

/* What the last call that failed had to say. */
LWY_API const char* lwy_message(const lwy_stream* stream);

/* sizeof(lwy_stream), for other languages: it begins with the lwy_info. */
LWY_API size_t lwy_stream_size(void);

LWY_API const char* lwy_dtype_name(int dtype);      /* "f32"; "" if there is no such type */
LWY_API const char* lwy_bound_name(int bound_kind); /* "abs"; "" if there is no such bound */

#ifdef __cplusplus
}
#endif
#endif /* LEEWAY_DECODE_H */

#if defined(LEEWAY_DECODE_IMPLEMENTATION) && !defined(LWYI_IMPLEMENTED)
#define LWYI_IMPLEMENTED

#include <float.h>
#include <math.h>
#include <string.h>
#ifndef LEEWAY_DECODE_NO_MALLOC
#include <stdlib.h>
#endif
#ifdef LEEWAY_DECODE_USE_ZSTD
#include <zstd.h>
#endif

#ifdef __FAST_MATH__
#error "leeway_decode.h computes exactly what docs/FORMAT.md says: compile without -ffast-math"
#endif
#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0
#error \
    "leeway_decode.h needs float and double without extra digits: with GCC on i386 -msse2 -mfpmath=sse, on s390x -std=gnu99"
#endif

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#endif

#ifndef LEEWAY_DECODE_FILE
#define LEEWAY_DECODE_FILE "leeway_decode.h"
#endif

/* ================================================================================================
 * Errors, memory
 * ================================================================================================
 * Functions that may fail return 0 then, and have said why; 1 if all went well. */

/* The first thing that goes wrong is what counts. */
static int lwyi_fail_with(lwy_stream* s, int status, const char* what, const char* name,
                          size_t length, const char* rest) {
  size_t used = 0;
  const char* parts[3];
  size_t sizes[3], i;
  if (s->status != LWY_OK) return 0;
  s->status = status;
  parts[0] = what, parts[1] = name, parts[2] = rest;
  sizes[0] = strlen(what), sizes[1] = length, sizes[2] = strlen(rest);
  for (i = 0; i < 3; ++i) {
    size_t room = sizeof s->message - 1 - used;
    size_t n = sizes[i] < room ? sizes[i] : room;
    if (n > 0) memcpy(s->message + used, parts[i], n);
    used += n;
  }
  s->message[used] = 0;
  return 0;
}
static int lwyi_fail(lwy_stream* s, int status, const char* what) {
  return lwyi_fail_with(s, status, what, "", 0, "");
}
static int lwyi_corrupt(lwy_stream* s, const char* what) { return lwyi_fail(s, LWY_CORRUPT, what); }

/* Memory that is given back all at once. */
typedef struct lwyi_block {
  struct lwyi_block* next;
} lwyi_block;
typedef struct lwyi_pool {
  lwy_stream* s;
  lwyi_block* blocks;
} lwyi_pool;

static lwyi_pool lwyi_new_pool(lwy_stream* s) {
  lwyi_pool pool;
  pool.s = s;
  pool.blocks = NULL;
  return pool;
}

/* Zeros. NULL, and an error, if there is no memory left. */
static void* lwyi_take(lwyi_pool* pool, size_t count, size_t size) {
  const size_t head = 16; /* keeps the alignment */
  lwyi_block* block = NULL;
  if (count <= (SIZE_MAX / 2 - head) / size)
    block = (lwyi_block*)pool->s->allocator.allocate(pool->s->allocator.host, head + count * size);
  if (!block) {
    lwyi_fail(pool->s, LWY_OUT_OF_MEMORY, "not enough memory");
    return NULL;
  }
  memset(block, 0, head + count * size);
  block->next = pool->blocks;
  pool->blocks = block;
  return (char*)block + head;
}

static void lwyi_free_pool(lwyi_pool* pool) {
  while (pool->blocks) {
    lwyi_block* next = pool->blocks->next;
    pool->s->allocator.release(pool->s->allocator.host, pool->blocks);
    pool->blocks = next;
  }
}

#ifndef LEEWAY_DECODE_NO_MALLOC
static void* lwyi_malloc(void* host, size_t bytes) {
  (void)host;
  return malloc(bytes);
}
static void lwyi_free(void* host, void* memory) {
  (void)host;
  free(memory);
}
#endif

static size_t lwyi_min(size_t a, size_t b) { return a < b ? a : b; }
static size_t lwyi_max(size_t a, size_t b) { return a > b ? a : b; }

/* ================================================================================================
 * Bytes: little-endian, every read checked
 * ================================================================================================
 */

static uint64_t lwyi_load(const uint8_t* p, unsigned bytes) {
  uint64_t value = 0;
  unsigned i;
  for (i = 0; i < bytes; ++i) value |= (uint64_t)p[i] << (8 * i);
  return value;
}
static uint32_t lwyi_load16(const uint8_t* p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static uint32_t lwyi_load32(const uint8_t* p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static uint64_t lwyi_load64(const uint8_t* p) {
  return (uint64_t)lwyi_load32(p) | (uint64_t)lwyi_load32(p + 4) << 32;
}

/* Whoever reads beyond the end gets zeros, and is told when he looks at `failed`. */
typedef struct lwyi_reader {
  const uint8_t* at;
  const uint8_t* end;
  int failed;
} lwyi_reader;

static lwyi_reader lwyi_read(const uint8_t* bytes, size_t size) {
  lwyi_reader in;
  in.at = bytes, in.end = bytes + size, in.failed = 0;
  return in;
}
static size_t lwyi_left(const lwyi_reader* in) { return (size_t)(in->end - in->at); }
static int lwyi_is_used_up(const lwyi_reader* in) { return !in->failed && in->at == in->end; }

/* NULL if there are not so many. */
static const uint8_t* lwyi_get_bytes(lwyi_reader* in, uint64_t count) {
  const uint8_t* at = in->at;
  if (in->failed || count > lwyi_left(in)) {
    in->failed = 1;
    in->at = in->end;
    return NULL;
  }
  in->at += (size_t)count;
  return at;
}
static uint64_t lwyi_get(lwyi_reader* in, unsigned bytes) {
  const uint8_t* at = lwyi_get_bytes(in, bytes);
  return at ? lwyi_load(at, bytes) : 0;
}
static unsigned lwyi_get_byte(lwyi_reader* in) { return (unsigned)lwyi_get(in, 1); }
static double lwyi_get_double(lwyi_reader* in) {
  const uint64_t bits = lwyi_get(in, 8);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static uint64_t lwyi_get_varint(lwyi_reader* in) {
  uint64_t value = 0;
  unsigned shift, byte;
  for (shift = 0; shift < 64; shift += 7) {
    byte = lwyi_get_byte(in);
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      if (shift == 63 && byte > 1) break;
      return value;
    }
  }
  in->failed = 1;
  return 0;
}
/* Bytes behind their number. */
static lwyi_reader lwyi_get_section(lwyi_reader* in) {
  const uint64_t size = lwyi_get_varint(in);
  const uint8_t* at = lwyi_get_bytes(in, size);
  lwyi_reader section = lwyi_read(in->end, 0);
  section.failed = in->failed;
  if (at) section.at = at, section.end = at + (size_t)size;
  return section;
}

/* Bits in a row, low ones first. */
typedef struct lwyi_bits {
  const uint8_t* at;
  const uint8_t* end;
  uint64_t window; /* bits that were loaded */
  unsigned count;  /* how many */
  int failed;
} lwyi_bits;

static lwyi_bits lwyi_read_bits(const uint8_t* bytes, size_t size) {
  lwyi_bits bits;
  bits.at = bytes, bits.end = bytes + size, bits.window = 0, bits.count = 0, bits.failed = 0;
  return bits;
}
/* At least 56 bits, or all that are left. */
static void lwyi_refill(lwyi_bits* bits) {
  if (bits->end - bits->at >= 8) {
    bits->window |= lwyi_load64(bits->at) << bits->count;
    bits->at += (63 - bits->count) >> 3;
    bits->count |= 56;
  } else {
    while (bits->count <= 56 && bits->at < bits->end) {
      bits->window |= (uint64_t)*bits->at++ << bits->count;
      bits->count += 8;
    }
  }
}
static void lwyi_drop(lwyi_bits* bits, unsigned count) {
  if (count > bits->count) {
    bits->failed = 1;
    bits->window = 0;
    bits->count = 0;
  } else {
    bits->window >>= count;
    bits->count -= count;
  }
}
static uint64_t lwyi_get_few(lwyi_bits* bits, unsigned count) { /* at most 32 */
  uint64_t value;
  if (bits->count < count) lwyi_refill(bits);
  value = bits->window & (((uint64_t)1 << count) - 1);
  lwyi_drop(bits, count);
  return value;
}
static uint64_t lwyi_get_bits(lwyi_bits* bits, unsigned count) { /* at most 63 */
  uint64_t low;
  if (count <= 32) return lwyi_get_few(bits, count);
  low = lwyi_get_few(bits, 32);
  return low | lwyi_get_few(bits, count - 32) << 32;
}
/* Whether all is used up but for zeros in the last byte. */
static int lwyi_bits_end(lwyi_bits* bits) {
  const int whole = bits->at == bits->end && bits->count < 8 && bits->window == 0;
  return !bits->failed && whole;
}

/* ================================================================================================
 * Hash: XXH3-64 with seed 0
 * ================================================================================================
 */

static const uint8_t lwyi_secret[192] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e};

#define LWYI_PRIME32_1 0x9E3779B1u
#define LWYI_PRIME32_2 0x85EBCA77u
#define LWYI_PRIME32_3 0xC2B2AE3Du
#define LWYI_PRIME64_1 0x9E3779B185EBCA87u
#define LWYI_PRIME64_2 0xC2B2AE3D27D4EB4Fu
#define LWYI_PRIME64_3 0x165667B19E3779F9u
#define LWYI_PRIME64_4 0x85EBCA77C2B2AE63u
#define LWYI_PRIME64_5 0x27D4EB2F165667C5u

static uint64_t lwyi_secret_at(size_t at) { return lwyi_load64(lwyi_secret + at); }
static uint64_t lwyi_rotate(uint64_t x, unsigned n) { return x << n | x >> (64 - n); }

/* Both halves of the product of 128 bits, one over the other. */
static uint64_t lwyi_fold(uint64_t a, uint64_t b) {
  const uint64_t low = (a & 0xffffffffu) * (b & 0xffffffffu), cross = (a >> 32) * (b & 0xffffffffu);
  const uint64_t middle = (a & 0xffffffffu) * (b >> 32) + (cross & 0xffffffffu) + (low >> 32);
  const uint64_t high = (a >> 32) * (b >> 32) + (cross >> 32) + (middle >> 32);
  return high ^ (middle << 32 | (low & 0xffffffffu));
}
static uint64_t lwyi_avalanche(uint64_t h) {
  h = (h ^ h >> 37) * 0x165667919E3779F9u;
  return h ^ h >> 32;
}
static uint64_t lwyi_avalanche_short(uint64_t h) {
  h = (h ^ h >> 33) * LWYI_PRIME64_2;
  h = (h ^ h >> 29) * LWYI_PRIME64_3;
  return h ^ h >> 32;
}
static uint64_t lwyi_mix(const uint8_t* p, size_t secret) {
  return lwyi_fold(lwyi_load64(p) ^ lwyi_secret_at(secret),
                   lwyi_load64(p + 8) ^ lwyi_secret_at(secret + 8));
}

static uint64_t lwyi_hash_16(const uint8_t* p, size_t size) { /* of up to 16 bytes */
  if (size > 8) {
    const uint64_t low = lwyi_load64(p) ^ lwyi_secret_at(24) ^ lwyi_secret_at(32);
    const uint64_t high = lwyi_load64(p + size - 8) ^ lwyi_secret_at(40) ^ lwyi_secret_at(48);
    uint64_t swapped = 0;
    unsigned i;
    for (i = 0; i < 8; ++i) swapped = swapped << 8 | (low >> (8 * i) & 0xff);
    return lwyi_avalanche(size + swapped + high + lwyi_fold(low, high));
  }
  if (size >= 4) {
    uint64_t h = (uint64_t)lwyi_load32(p + size - 4) + ((uint64_t)lwyi_load32(p) << 32);
    h ^= lwyi_secret_at(8) ^ lwyi_secret_at(16);
    h ^= lwyi_rotate(h, 49) ^ lwyi_rotate(h, 24);
    h *= 0x9FB21C651E98DF25u;
    h = (h ^ ((h >> 35) + size)) * 0x9FB21C651E98DF25u;
    return h ^ h >> 28;
  }
  if (size > 0) {
    const uint64_t all =
        (uint64_t)p[0] << 16 | (uint64_t)p[size >> 1] << 24 | p[size - 1] | (uint64_t)size << 8;
    return lwyi_avalanche_short(all ^ (lwyi_load32(lwyi_secret) ^ lwyi_load32(lwyi_secret + 4)));
  }
  return lwyi_avalanche_short(lwyi_secret_at(56) ^ lwyi_secret_at(64));
}

static uint64_t lwyi_hash_240(const uint8_t* p, size_t size) { /* of 17 to 240 bytes */
  uint64_t h = size * LWYI_PRIME64_1;
  size_t i;
  if (size <= 128) {
    for (i = (size - 1) / 32 + 1; i-- > 0;)
      h += lwyi_mix(p + 16 * i, 32 * i) + lwyi_mix(p + size - 16 * (i + 1), 32 * i + 16);
    return lwyi_avalanche(h);
  }
  for (i = 0; i < 8; ++i) h += lwyi_mix(p + 16 * i, 16 * i);
  h = lwyi_avalanche(h);
  for (i = 8; i < size / 16; ++i) h += lwyi_mix(p + 16 * i, 16 * (i - 8) + 3);
  return lwyi_avalanche(h + lwyi_mix(p + size - 16, 136 - 17));
}

static void lwyi_hash_stripe(uint64_t* sums, const uint8_t* p, size_t secret) { /* 64 bytes */
  unsigned i;
  for (i = 0; i < 8; i += 2) {
    const uint64_t a = lwyi_load64(p + 8 * i), b = lwyi_load64(p + 8 * i + 8);
    const uint64_t ka = a ^ lwyi_secret_at(secret + 8 * i),
                   kb = b ^ lwyi_secret_at(secret + 8 * i + 8);
    sums[i] += b + (ka & 0xffffffffu) * (ka >> 32);
    sums[i + 1] += a + (kb & 0xffffffffu) * (kb >> 32);
  }
}

static uint64_t lwyi_hash(const void* bytes, size_t size) {
  const uint8_t* p = (const uint8_t*)bytes;
  const uint8_t* last = p + (size >= 64 ? size - 64 : 0);
  uint64_t sums[8] = {LWYI_PRIME32_3, LWYI_PRIME64_1, LWYI_PRIME64_2, LWYI_PRIME64_3,
                      LWYI_PRIME64_4, LWYI_PRIME32_2, LWYI_PRIME64_5, LWYI_PRIME32_1};
  uint64_t h = size * LWYI_PRIME64_1;
  size_t stripes, i, k;
  if (size <= 16) return lwyi_hash_16(p, size);
  if (size <= 240) return lwyi_hash_240(p, size);
  for (stripes = (size - 1) / 64, i = 0; i < stripes; ++i, p += 64) {
    lwyi_hash_stripe(sums, p, 8 * (i % 16));
    if (i % 16 == 15)
      for (k = 0; k < 8; ++k)
        sums[k] = (sums[k] ^ sums[k] >> 47 ^ lwyi_secret_at(128 + 8 * k)) * LWYI_PRIME32_1;
  }
  lwyi_hash_stripe(sums, last, 192 - 64 - 7);
  for (k = 0; k < 4; ++k)
    h += lwyi_fold(sums[2 * k] ^ lwyi_secret_at(11 + 16 * k),
                   sums[2 * k + 1] ^ lwyi_secret_at(19 + 16 * k));
  return lwyi_avalanche(h);
}

/* Whether bytes have this hash. Fuzzers are not kept out: they want to see what lies behind. */
static int lwyi_is_hash(uint64_t hash, const void* bytes, size_t size) {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
  return (void)bytes, (void)size, (void)hash, 1;
#else
  return lwyi_hash(bytes, size) == hash;
#endif
}

/* ================================================================================================
 * Element types. Values stand in memory as the host has them; their bits pass as numbers of 64
 * bits.
 * ================================================================================================
 */

static const char* const lwyi_dtypes[13] = {"",    "f32", "f64", "f16", "bf16", "i8", "i16",
                                            "i32", "i64", "u8",  "u16", "u32",  "u64"};
static const char* const lwyi_bounds[9] = {"",         "abs",   "rel",  "psnr",     "l2",
                                           "lossless", "ratio", "rate", "pointwise"};

static unsigned lwyi_bytes_of(int dtype) {
  static const uint8_t bytes[13] = {0, 4, 8, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8};
  return bytes[dtype];
}
static int lwyi_is_float(int dtype) { return dtype <= LWY_BF16; }
static int lwyi_is_signed(int dtype) { return dtype >= LWY_I8 && dtype <= LWY_I64; }

static void lwyi_put_bits(void* values, unsigned bytes, size_t at, uint64_t bits) {
  uint8_t* to = (uint8_t*)values + at * bytes;
  if (bytes == 4) {
    const uint32_t value = (uint32_t)bits;
    memcpy(to, &value, 4);
  } else if (bytes == 8) {
    memcpy(to, &bits, 8);
  } else if (bytes == 2) {
    const uint16_t value = (uint16_t)bits;
    memcpy(to, &value, 2);
  } else {
    *to = (uint8_t)bits;
  }
}
static uint64_t lwyi_bits_at(const void* values, unsigned bytes, size_t at) {
  const uint8_t* from = (const uint8_t*)values + at * bytes;
  uint64_t bits = *from;
  if (bytes == 4) {
    uint32_t value;
    memcpy(&value, from, 4);
    bits = value;
  } else if (bytes == 8) {
    memcpy(&bits, from, 8);
  } else if (bytes == 2) {
    uint16_t value;
    memcpy(&value, from, 2);
    bits = value;
  }
  return bits;
}

/* From the byte order of streams to that of the host, or back. */
static void lwyi_swap_if_big_endian(void* values, unsigned bytes, size_t count) {
  const uint16_t one = 1;
  uint8_t* p = (uint8_t*)values;
  if (*(const uint8_t*)&one == 1 || bytes == 1) return;
  for (; count > 0; --count, p += bytes) {
    unsigned i;
    for (i = 0; i < bytes / 2; ++i) {
      const uint8_t byte = p[i];
      p[i] = p[bytes - 1 - i];
      p[bytes - 1 - i] = byte;
    }
  }
}

static float lwyi_float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static uint32_t lwyi_bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static double lwyi_double_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static uint64_t lwyi_bits_of_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static double lwyi_power(int exponent) { /* 2^exponent, a normal number */
  return lwyi_double_of((uint64_t)(exponent + 1023) << 52);
}

static float lwyi_from_f16(uint32_t bits) {
  const uint32_t sign = (bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 31) return lwyi_float_of(sign | 0x7f800000 | fraction << 13);
  if (exponent > 0) return lwyi_float_of(sign | (exponent + 112) << 23 | fraction << 13);
  return (sign ? -1.0f : 1.0f) * (float)fraction * lwyi_float_of((127 - 24) << 23);
}
static uint32_t lwyi_to_f16(float value) { /* to the nearest, ties to even */
  const uint32_t bits = lwyi_bits_of_float(value), sign = bits >> 16 & 0x8000,
                 size = bits & 0x7fffffff;
  if (size > 0x7f800000) return sign | 0x7e00;
  if (size >= 0x47800000) return sign | 0x7c00;
  if (size >= 0x38800000) return sign | (size - (112u << 23) + 0xfff + (size >> 13 & 1)) >> 13;
  /* A multiple of 2^-24: adding 1/2 leaves the digits that stay. */
  return sign | (lwyi_bits_of_float(lwyi_float_of(size) + 0.5f) - 0x3f000000);
}
static uint32_t lwyi_to_bf16(float value) {
  const uint32_t bits = lwyi_bits_of_float(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static int64_t lwyi_sign_extend(uint64_t bits, unsigned width) {
  const uint64_t sign = (uint64_t)1 << (width - 1);
  bits &= sign | (sign - 1);
  return (int64_t)((bits ^ sign) - sign);
}

/* The number that bits stand for; integers of 64 bits rounded. */
static double lwyi_number(int dtype, uint64_t bits) {
  switch (dtype) {
    case LWY_F32:
      return lwyi_float_of((uint32_t)bits);
    case LWY_F64:
      return lwyi_double_of(bits);
    case LWY_F16:
      return lwyi_from_f16((uint32_t)bits);
    case LWY_BF16:
      return lwyi_float_of((uint32_t)bits << 16);
    default:
      break;
  }
  if (lwyi_is_signed(dtype)) return (double)lwyi_sign_extend(bits, 8 * lwyi_bytes_of(dtype));
  return (double)bits;
}
/* The nearest of a floating type; of the short ones by way of float. */
static uint64_t lwyi_bits_of(int dtype, double value) {
  switch (dtype) {
    case LWY_F64:
      return lwyi_bits_of_double(value);
    case LWY_F16:
      return lwyi_to_f16((float)value);
    case LWY_BF16:
      return lwyi_to_bf16((float)value);
    default:
      return lwyi_bits_of_float((float)value);
  }
}

/* ================================================================================================
 * Zstandard (RFC 8878): one frame into memory of known size
 * ================================================================================================
 */

#ifdef LEEWAY_DECODE_USE_ZSTD

static int lwyi_unzstd(lwyi_pool* pool, lwyi_reader in, uint8_t* content, size_t size) {
  (void)pool;
  return ZSTD_decompress(content, size, in.at, lwyi_left(&in)) == size;
}

#else

#define LWYI_MOST_BLOCK ((size_t)1 << 17)

/* Bits read from the end of a byte string to its beginning, high ones first; zeros beyond. */
typedef struct lwyi_backward {
  const uint8_t* bytes;
  size_t size;
  int64_t left; /* bits; below 0: more were read than there are */
} lwyi_backward;

/* The highest bit that is set in the last byte marks the end. */
static int lwyi_read_backward(lwyi_backward* bits, const uint8_t* bytes, size_t size) {
  unsigned last, n = 0;
  if (size == 0 || bytes[size - 1] == 0) return 0;
  for (last = bytes[size - 1]; last > 1; last >>= 1) ++n;
  bits->bytes = bytes;
  bits->size = size;
  bits->left = (int64_t)(8 * (size - 1) + n);
  return 1;
}
/* The next `count` bits, at most 32, which stay. */
static uint32_t lwyi_peek_back(const lwyi_backward* bits, unsigned count) {
  const int64_t from = bits->left - (int64_t)count;
  const size_t byte = from < 0 ? 0 : (size_t)(from / 8);
  uint64_t window = bits->size - byte >= 8
                        ? lwyi_load64(bits->bytes + byte)
                        : lwyi_load(bits->bytes + byte, (unsigned)(bits->size - byte));
  if (from < 0) {
    if (from <= -(int64_t)count) return 0;
    window <<= -from;
  } else {
    window >>= from % 8;
  }
  return (uint32_t)(window & (((uint64_t)1 << count) - 1));
}
static uint32_t lwyi_get_back(lwyi_backward* bits, unsigned count) {
  const uint32_t value = lwyi_peek_back(bits, count);
  bits->left -= (int64_t)count;
  return value;
}

static unsigned lwyi_high_bit(uint64_t x) { /* of x > 0 */
  unsigned n = 0;
  while (x >>= 1) ++n;
  return n;
}

/* Finite state entropy. */
typedef struct lwyi_fse {
  unsigned log;        /* of the number of states */
  uint8_t symbol[512]; /* by state */
  uint8_t bits[512];   /* to be read for the next state */
  uint16_t base[512];  /* to be added to them */
} lwyi_fse;

static void lwyi_build_fse(lwyi_fse* table, const int16_t* counts, unsigned symbols, unsigned log) {
  const unsigned size = 1u << log, step = (size >> 1) + (size >> 3) + 3;
  unsigned next[256], high = size, place = 0, s, i;
  table->log = log;
  for (s = 0; s < symbols; ++s) {
    next[s] = counts[s] < 0 ? 1u : (unsigned)counts[s];
    if (counts[s] < 0) table->symbol[--high] = (uint8_t)s; /* less than one state: at the end */
  }
  for (s = 0; s < symbols; ++s)
    for (i = 0; counts[s] > 0 && i < (unsigned)counts[s]; ++i) {
      table->symbol[place] = (uint8_t)s;
      do place = (place + step) & (size - 1);
      while (place >= high);
    }
  for (i = 0; i < size; ++i) {
    const unsigned n = next[table->symbol[i]]++, bits = log - lwyi_high_bit(n);
    table->bits[i] = (uint8_t)bits;
    table->base[i] = (uint16_t)((n << bits) - size);
  }
}

/* A table as it is described; at most `most` bits and `symbols` symbols. */
static int lwyi_read_fse(lwyi_reader* in, lwyi_fse* table, unsigned most, unsigned symbols) {
  lwyi_bits bits = lwyi_read_bits(in->at, lwyi_left(in));
  int16_t counts[256];
  const unsigned log = (unsigned)lwyi_get_bits(&bits, 4) + 5;
  int left = 1 << log;
  unsigned s = 0, repeat;
  size_t unread;
  if (log > most) return 0;
  while (left > 0 && s < symbols) {
    const unsigned width = lwyi_high_bit((uint64_t)left + 1) + 1, low = (1u << (width - 1)) - 1;
    const unsigned spare =
        (1u << width) - 1 - ((unsigned)left + 1); /* numbers that need a bit less */
    unsigned value;
    lwyi_refill(&bits);
    value = (unsigned)(bits.window & low);
    if (value < spare) {
      lwyi_drop(&bits, width - 1);
    } else {
      value = (unsigned)(bits.window & ((low << 1) | 1));
      lwyi_drop(&bits, width);
      if (value > low) value -= spare;
    }
    counts[s] = (int16_t)((int)value - 1);
    left -= counts[s] < 0 ? 1 : counts[s];
    if (counts[s++] != 0) continue;
    do {
      repeat = (unsigned)lwyi_get_bits(&bits, 2);
      if (repeat > symbols - s) return 0;
      memset(counts + s, 0, repeat * sizeof *counts);
      s += repeat;
    } while (repeat == 3);
  }
  unread = bits.count / 8;
  if (bits.failed || left != 0) return 0;
  in->at = bits.at - unread;
  lwyi_build_fse(table, counts, s, log);
  return 1;
}

/* Huffman's code for literals. */
typedef struct lwyi_literal_code {
  unsigned log; /* of the longest code; 0: there is none yet */
  uint8_t symbol[2048];
  uint8_t bits[2048];
} lwyi_literal_code;

/* Weights under FSE, by two states in turn; says how many, 0 if that is impossible. */
static unsigned lwyi_read_weights(lwyi_reader in, uint8_t* weights) {
  lwyi_fse table;
  lwyi_backward bits;
  unsigned states[2], count = 0, turn = 0;
  if (!lwyi_read_fse(&in, &table, 6, 256) || !lwyi_read_backward(&bits, in.at, lwyi_left(&in)))
    return 0;
  states[0] = lwyi_get_back(&bits, table.log);
  states[1] = lwyi_get_back(&bits, table.log);
  if (bits.left < 0) return 0;
  for (; count < 254; turn ^= 1) {
    const unsigned state = states[turn];
    weights[count++] = table.symbol[state];
    states[turn] = table.base[state] + lwyi_get_back(&bits, table.bits[state]);
    if (bits.left >= 0) continue;
    weights[count++] = table.symbol[states[turn ^ 1]];
    return count;
  }
  return 0;
}

static int lwyi_build_literal_code(lwyi_literal_code* code, uint8_t* weights, unsigned count) {
  uint32_t sum = 0, left, place = 0;
  unsigned i, w;
  for (i = 0; i < count; ++i) {
    if (weights[i] > 12) return 0;
    if (weights[i] > 0) sum += 1u << (weights[i] - 1);
  }
  if (sum == 0) return 0;
  code->log = lwyi_high_bit(sum) + 1;
  if (code->log > 11) return 0;
  left = (1u << code->log) - sum; /* is what the last symbol has */
  if (left & (left - 1)) return 0;
  weights[count++] = (uint8_t)(lwyi_high_bit(left) + 1);
  for (w = 1; w <= code->log; ++w)
    for (i = 0; i < count; ++i) {
      if (weights[i] != w) continue;
      memset(code->symbol + place, (int)i, (size_t)1 << (w - 1));
      memset(code->bits + place, (int)(code->log + 1 - w), (size_t)1 << (w - 1));
      place += 1u << (w - 1);
    }
  return 1;
}

static int lwyi_read_literal_code(lwyi_reader* in, lwyi_literal_code* code) {
  uint8_t weights[256];
  const unsigned head = lwyi_get_byte(in);
  unsigned count, i;
  if (in->failed) return 0;
  code->log = 0;
  if (head < 128) {
    const uint8_t* at = lwyi_get_bytes(in, head);
    count = at ? lwyi_read_weights(lwyi_read(at, head), weights) : 0;
  } else {
    const uint8_t* at = lwyi_get_bytes(in, (head - 127 + 1) / 2);
    count = at ? head - 127 : 0;
    for (i = 0; i < count; ++i) weights[i] = i % 2 ? at[i / 2] & 15 : at[i / 2] >> 4;
  }
  return count > 0 && lwyi_build_literal_code(code, weights, count);
}

static int lwyi_decode_literals(const lwyi_literal_code* code, const uint8_t* bytes, size_t size,
                                uint8_t* to, size_t count) {
  lwyi_backward bits;
  size_t i = 0;
  if (!lwyi_read_backward(&bits, bytes, size)) return 0;
  while (i + 4 <= count && bits.left >= 64) { /* four codes have at most 44 bits */
    const size_t byte = (size_t)(bits.left - 57) / 8;
    const uint64_t window = lwyi_load64(bytes + byte);
    unsigned at = (unsigned)(bits.left - (int64_t)(8 * byte)), k;
    for (k = 0; k < 4; ++k) {
      const unsigned slot = (unsigned)(window >> (at - code->log)) & ((1u << code->log) - 1);
      to[i++] = code->symbol[slot];
      at -= code->bits[slot];
    }
    bits.left = (int64_t)(8 * byte + at);
  }
  for (; i < count; ++i) {
    const unsigned slot = lwyi_peek_back(&bits, code->log);
    to[i] = code->symbol[slot];
    bits.left -= code->bits[slot];
    if (bits.left < 0) return 0;
  }
  return bits.left == 0;
}

static int lwyi_decode_four(const lwyi_literal_code* code, lwyi_reader in, uint8_t* to,
                            size_t count) {
  const size_t part = (count + 3) / 4;
  size_t sizes[4], k, n;
  const uint8_t* at;
  for (k = 0; k < 3; ++k) sizes[k] = (size_t)lwyi_get(&in, 2);
  if (in.failed || 3 * part > count || sizes[0] + sizes[1] + sizes[2] > lwyi_left(&in)) return 0;
  sizes[3] = lwyi_left(&in) - sizes[0] - sizes[1] - sizes[2];
  for (k = 0; k < 4; ++k) {
    n = k < 3 ? part : count - 3 * part;
    at = lwyi_get_bytes(&in, sizes[k]);
    if (!at || !lwyi_decode_literals(code, at, sizes[k], to + k * part, n)) return 0;
  }
  return 1;
}

/* What one sequence field needs: lengths of literals, offsets, lengths of matches. */
typedef struct lwyi_field {
  lwyi_fse table;
  int ready;
} lwyi_field;

typedef struct lwyi_unpacker {
  lwyi_literal_code code;
  lwyi_field fields[3];
  uint64_t offsets[3]; /* those used last */
  uint8_t literals[(size_t)1 << 17];
  size_t literal_count;
  uint8_t* content;
  size_t size, done;
} lwyi_unpacker;

static int lwyi_read_literals(lwyi_unpacker* u, lwyi_reader* in) {
  const unsigned head = lwyi_get_byte(in), kind = head & 3, form = head >> 2 & 3;
  uint64_t sizes;
  unsigned width;
  size_t packed;
  const uint8_t* at;
  if (kind < 2) {
    static const uint8_t more[4] = {0, 1, 0, 2};
    sizes = (head | lwyi_get(in, more[form]) << 8) >> (form & 1 ? 4 : 3);
    u->literal_count = (size_t)sizes;
    if (u->literal_count > LWYI_MOST_BLOCK) return 0;
    at = lwyi_get_bytes(in, kind == 0 ? u->literal_count : 1);
    if (!at) return 0;
    if (kind == 0)
      memcpy(u->literals, at, u->literal_count);
    else
      memset(u->literals, *at, u->literal_count);
    return 1;
  }
  width = form < 2 ? 10 : form == 2 ? 14 : 18;
  sizes = (head | lwyi_get(in, form < 2 ? 2 : form + 1) << 8) >> 4;
  u->literal_count = (size_t)(sizes & (((uint64_t)1 << width) - 1));
  packed = (size_t)(sizes >> width);
  at = lwyi_get_bytes(in, packed);
  if (!at || u->literal_count > LWYI_MOST_BLOCK) return 0;
  {
    lwyi_reader part = lwyi_read(at, packed);
    if (kind == 2 && !lwyi_read_literal_code(&part, &u->code)) return 0;
    if (u->code.log == 0) return 0;
    return form == 0 ? lwyi_decode_literals(&u->code, part.at, lwyi_left(&part), u->literals,
                                            u->literal_count)
                     : lwyi_decode_four(&u->code, part, u->literals, u->literal_count);
  }
}

static int lwyi_read_field(lwyi_field* field, lwyi_reader* in, unsigned mode, unsigned which) {
  static const uint8_t logs[3] = {6, 5, 6}, most[3] = {9, 8, 9}, symbols[3] = {36, 32, 53},
                       usual_symbols[3] = {36, 29, 53};
  static const int16_t usual[3][53] = {
      {4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
       2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1},
      {1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1},
      {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1}};
  if (mode == 3) return field->ready;
  field->ready = 1;
  if (mode == 0) {
    lwyi_build_fse(&field->table, usual[which], usual_symbols[which], logs[which]);
  } else if (mode == 1) {
    field->table.log = 0;
    field->table.symbol[0] = (uint8_t)lwyi_get_byte(in);
    field->table.bits[0] = 0;
    field->table.base[0] = 0;
    field->ready = !in->failed && field->table.symbol[0] < symbols[which];
  } else {
    field->ready = lwyi_read_fse(in, &field->table, most[which], symbols[which]);
  }
  return field->ready;
}

/* The distance that an offset stands for; 0 if that is impossible. */
static uint64_t lwyi_distance(uint64_t* last, uint64_t offset, int without_literals) {
  uint64_t distance;
  unsigned which;
  if (offset > 3) {
    distance = offset - 3;
    which = 2;
  } else {
    which = (unsigned)offset - 1 + (without_literals ? 1 : 0);
    distance = which < 3 ? last[which] : last[0] - 1;
    if (which == 3) which = 2;
  }
  for (; which > 0; --which) last[which] = last[which - 1];
  last[0] = distance;
  return distance;
}

/* Literals, then a match. */
static int lwyi_put_sequence(lwyi_unpacker* u, size_t* literal, size_t literals, size_t match,
                             uint64_t distance) {
  uint8_t* to = u->content + u->done;
  size_t i;
  if (literals > u->literal_count - *literal || literals > u->size - u->done) return 0;
  memcpy(to, u->literals + *literal, literals);
  *literal += literals;
  u->done += literals;
  to += literals;
  if (match > u->size - u->done || distance == 0 || distance > u->done) return 0;
  if (distance >= match)
    memcpy(to, to - (size_t)distance, match);
  else
    for (i = 0; i < match; ++i) to[i] = to[(ptrdiff_t)i - (ptrdiff_t)distance];
  u->done += match;
  return 1;
}

static int lwyi_run_sequences(lwyi_unpacker* u, lwyi_reader in, size_t count) {
  static const uint8_t literal_bits[36] = {0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0,  0,
                                           0, 0, 0, 0, 1, 1,  1,  1,  2,  2,  3,  3,
                                           4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  static const uint8_t match_bits[53] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0,  0, 0,
                                         0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  1,  1,  1, 1,
                                         2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  uint32_t literal_base[36], match_base[53];
  lwyi_backward bits;
  unsigned states[3], i;
  size_t literal = 0, n;
  for (i = 0, literal_base[0] = 0; i < 35; ++i)
    literal_base[i + 1] = literal_base[i] + (1u << literal_bits[i]);
  for (i = 0, match_base[0] = 3; i < 52; ++i)
    match_base[i + 1] = match_base[i] + (1u << match_bits[i]);
  if (count > 0) {
    if (!lwyi_read_backward(&bits, in.at, lwyi_left(&in))) return 0;
    for (i = 0; i < 3; ++i) states[i] = lwyi_get_back(&bits, u->fields[i].table.log);
  }
  for (n = 0; n < count; ++n) {
    const unsigned literal_code = u->fields[0].table.symbol[states[0]],
                   match_code = u->fields[2].table.symbol[states[2]];
    const unsigned offset_bits = u->fields[1].table.symbol[states[1]];
    const uint64_t offset = ((uint64_t)1 << offset_bits) + lwyi_get_back(&bits, offset_bits);
    const size_t match = match_base[match_code] + lwyi_get_back(&bits, match_bits[match_code]);
    const size_t literals =
        literal_base[literal_code] + lwyi_get_back(&bits, literal_bits[literal_code]);
    if (!lwyi_put_sequence(u, &literal, literals, match,
                           lwyi_distance(u->offsets, offset, literals == 0)))
      return 0;
    if (n + 1 == count) break;
    for (i = 0; i < 3; ++i) { /* lengths of literals, of matches, offsets */
      static const uint8_t order[3] = {0, 2, 1};
      const lwyi_fse* table = &u->fields[order[i]].table;
      const unsigned state = states[order[i]];
      states[order[i]] = table->base[state] + lwyi_get_back(&bits, table->bits[state]);
    }
    if (bits.left < 0) return 0;
  }
  if (count > 0 && bits.left != 0) return 0;
  n = u->literal_count - literal;
  if (n > u->size - u->done) return 0;
  memcpy(u->content + u->done, u->literals + literal, n);
  u->done += n;
  return 1;
}

static int lwyi_unpack_block(lwyi_unpacker* u, lwyi_reader in) {
  size_t count;
  unsigned modes, i;
  if (!lwyi_read_literals(u, &in)) return 0;
  count = lwyi_get_byte(&in);
  if (count >= 255)
    count = (size_t)lwyi_get(&in, 2) + 0x7f00;
  else if (count >= 128)
    count = (count - 128) << 8 | lwyi_get_byte(&in);
  if (in.failed) return 0;
  if (count > 0) {
    modes = lwyi_get_byte(&in);
    if (in.failed || modes & 3) return 0;
    for (i = 0; i < 3; ++i)
      if (!lwyi_read_field(&u->fields[i], &in, modes >> (6 - 2 * i) & 3, i)) return 0;
  } else if (!lwyi_is_used_up(&in)) {
    return 0;
  }
  return lwyi_run_sequences(u, in, count);
}

/* Leaves `in` behind the head of the frame; says whether that is one of content of so many bytes.
 */
static int lwyi_read_zstd_head(lwyi_reader* in, size_t size, int* has_checksum) {
  static const uint8_t id_bytes[4] = {0, 1, 2, 4}, size_bytes[4] = {0, 2, 4, 8};
  const uint64_t magic = lwyi_get(in, 4);
  const unsigned head = lwyi_get_byte(in), is_single = head >> 5 & 1;
  unsigned stated = size_bytes[head >> 6];
  uint64_t content;
  if (magic != 0xFD2FB528u || head & 8) return 0;
  *has_checksum = head >> 2 & 1;
  if (!is_single) lwyi_get_byte(in);                   /* the window: all of the content is there */
  if (lwyi_get(in, id_bytes[head & 3]) != 0) return 0; /* a dictionary */
  if (is_single && stated == 0) stated = 1;
  content = lwyi_get(in, stated) + (stated == 2 ? 256 : 0);
  return !in->failed && (stated == 0 || content == size);
}

static int lwyi_unzstd(lwyi_pool* pool, lwyi_reader in, uint8_t* content, size_t size) {
  lwyi_unpacker* u = (lwyi_unpacker*)lwyi_take(pool, 1, sizeof *u);
  int has_checksum, is_last = 0;
  if (!u || !lwyi_read_zstd_head(&in, size, &has_checksum)) return 0;
  u->content = content, u->size = size, u->done = 0;
  u->offsets[0] = 1, u->offsets[1] = 4, u->offsets[2] = 8;
  while (!is_last) {
    const uint32_t head = (uint32_t)lwyi_get(&in, 3), kind = head >> 1 & 3;
    const size_t bytes = head >> 3;
    const uint8_t* at = lwyi_get_bytes(&in, kind == 1 ? 1 : bytes);
    if (!at || bytes > LWYI_MOST_BLOCK || kind == 3) return 0;
    is_last = (int)(head & 1);
    if (kind == 2) {
      if (!lwyi_unpack_block(u, lwyi_read(at, bytes))) return 0;
      continue;
    }
    if (bytes > size - u->done) return 0;
    if (kind == 0)
      memcpy(content + u->done, at, bytes);
    else
      memset(content + u->done, *at, bytes);
    u->done += bytes;
  }
  /* The chunks of a stream have checksums of their own; that of a frame is passed over. */
  if (has_checksum) lwyi_get_bytes(&in, 4);
  return u->done == size && lwyi_is_used_up(&in);
}

#endif /* LEEWAY_DECODE_USE_ZSTD */

/* What the stage zstd made (zstd.md): content as it is, or packed. */
static int lwyi_unpack(lwyi_pool* pool, lwyi_reader in, uint64_t limit, lwyi_reader* content) {
  const unsigned method = lwyi_get_byte(&in);
  uint64_t size;
  uint8_t* bytes;
  int is_whole;
  lwyi_pool scratch = lwyi_new_pool(pool->s);
  *content = in;
  if (in.failed || method > 1) return lwyi_corrupt(pool->s, "unknown way of packing");
  if (method == 0) return 1;
  size = lwyi_get_varint(&in);
  if (in.failed || size > limit) return lwyi_corrupt(pool->s, "packed content too large");
  bytes = (uint8_t*)lwyi_take(pool, (size_t)size, 1);
  if (!bytes) return 0;
  is_whole = lwyi_unzstd(&scratch, in, bytes, (size_t)size);
  lwyi_free_pool(&scratch);
  *content = lwyi_read(bytes, (size_t)size);
  return is_whole || lwyi_corrupt(pool->s, "packed bytes are damaged");
}

/* ================================================================================================
 * Recipe: which stages, with which parameters
 * ================================================================================================
 */

enum { LWYI_PREPROCESSOR, LWYI_PREDICTOR, LWYI_QUANTIZER, LWYI_ENCODER, LWYI_LOSSLESS_STAGE };
enum {
  LWYI_NONE,
  LWYI_LOG,
  LWYI_LORENZO,
  LWYI_BLOCKS,
  LWYI_INTERP,
  LWYI_PYRAMID,
  LWYI_WAVELET,
  LWYI_LINEAR,
  LWYI_EXACT,
  LWYI_TRUNCATE,
  LWYI_HUFFMAN,
  LWYI_RANS,
  LWYI_PACK,
  LWYI_FIXED,
  LWYI_RAW,
  LWYI_ZSTD,
  LWYI_STORE
};
/* Parameters that a decoder needs; the others are only checked. */
enum {
  LWYI_UNUSED,
  LWYI_ORDER,
  LWYI_AXES,
  LWYI_SIZE,
  LWYI_EVERY,
  LWYI_ALPHA,
  LWYI_BETA,
  LWYI_STEP,
  LWYI_BINS,
  LWYI_BEYOND,
  LWYI_RANGE,
  LWYI_BITS,
  LWYI_BLOCK,
  LWYI_OUTLIER,
  LWYI_HEAD,
  LWYI_PARAMETERS
};

typedef struct lwyi_stage {
  const char* name;
  int id, kind;
} lwyi_stage;
static const lwyi_stage lwyi_stages[] = {
    {"log", LWYI_LOG, LWYI_PREPROCESSOR},
    {"lorenzo", LWYI_LORENZO, LWYI_PREDICTOR},
    {"blocks", LWYI_BLOCKS, LWYI_PREDICTOR},
    {"interp", LWYI_INTERP, LWYI_PREDICTOR},
    {"pyramid", LWYI_PYRAMID, LWYI_PREDICTOR},
    {"wavelet", LWYI_WAVELET, LWYI_PREDICTOR},
    {"linear", LWYI_LINEAR, LWYI_QUANTIZER},
    {"exact", LWYI_EXACT, LWYI_QUANTIZER},
    {"truncate", LWYI_TRUNCATE, LWYI_QUANTIZER},
    {"huffman", LWYI_HUFFMAN, LWYI_ENCODER},
    {"rans", LWYI_RANS, LWYI_ENCODER},
    {"pack", LWYI_PACK, LWYI_ENCODER},
    {"fixed", LWYI_FIXED, LWYI_ENCODER},
    {"raw", LWYI_RAW, LWYI_ENCODER},
    {"zstd", LWYI_ZSTD, LWYI_LOSSLESS_STAGE},
    {"store", LWYI_STORE, LWYI_LOSSLESS_STAGE},
};

typedef struct lwyi_parameter {
  int stage;
  const char* name;
  double usual, lowest, highest;
  const char* words; /* the names of 0 and 1, if it has names */
  int id;
} lwyi_parameter;
static const lwyi_parameter lwyi_parameters[] = {
    {LWYI_LORENZO, "order", 1, 1, 4, NULL, LWYI_ORDER},
    {LWYI_LORENZO, "axes", 8, 0, 8, NULL, LWYI_AXES},
    {LWYI_BLOCKS, "axes", 1, 1, 3, NULL, LWYI_AXES},
    {LWYI_BLOCKS, "size", 32, 8, 64, NULL, LWYI_SIZE},
    {LWYI_INTERP, "cubic", -1, -1, 1, NULL, LWYI_UNUSED},
    {LWYI_INTERP, "reverse", -1, -1, 1, NULL, LWYI_UNUSED},
    {LWYI_INTERP, "alpha", 0, 0, 4, NULL, LWYI_ALPHA},
    {LWYI_INTERP, "beta", 2, 1, 16, NULL, LWYI_BETA},
    {LWYI_PYRAMID, "frozen", -1, -1, 255, NULL, LWYI_UNUSED},
    {LWYI_PYRAMID, "tight", -1, -1, 2, NULL, LWYI_UNUSED},
    {LWYI_PYRAMID, "taps", 12, 0, 64, NULL, LWYI_UNUSED},
    {LWYI_PYRAMID, "every", 8, 1, 64, NULL, LWYI_EVERY},
    {LWYI_PYRAMID, "gain", 4, 0, 99, NULL, LWYI_UNUSED},
    {LWYI_PYRAMID, "tile", -1, -1, 40, NULL, LWYI_UNUSED},
    {LWYI_WAVELET, "filter", -1, -1, 1, NULL, LWYI_UNUSED},
    {LWYI_WAVELET, "order", -1, -1, 2, NULL, LWYI_UNUSED},
    {LWYI_WAVELET, "trade", 8, 0, 50, NULL, LWYI_UNUSED},
    {LWYI_WAVELET, "reach", 0, 0, 160, NULL, LWYI_UNUSED},
    {LWYI_LINEAR, "step", 0, 0, 1, "short pow2", LWYI_STEP},
    {LWYI_LINEAR, "bins", 0, 0, 1073741824, NULL, LWYI_BINS},
    {LWYI_LINEAR, "beyond", 0, 0, 2, "exact planes cut", LWYI_BEYOND},
    {LWYI_LINEAR, "second", 1, 0, 1, NULL, LWYI_UNUSED},
    {LWYI_LINEAR, "range", 0, 0, 1, NULL, LWYI_RANGE},
    {LWYI_TRUNCATE, "bits", 0, 0, 64, NULL, LWYI_BITS},
    {LWYI_FIXED, "block", 32, 8, 64, NULL, LWYI_BLOCK},
    {LWYI_FIXED, "outlier", 1, 0, 1, NULL, LWYI_OUTLIER},
    {LWYI_FIXED, "head", 1, 1, 4, NULL, LWYI_HEAD},
    {LWYI_ZSTD, "level", 1, -50, 22, NULL, LWYI_UNUSED},
};

typedef struct lwyi_recipe {
  int preprocessors;
  int preprocessor_id[4];
  int predictor, quantizer, encoder;
  int predicts_first;
  int lossless;       /* how many stages */
  int lossless_id[4]; /* in the order of the recipe */
  double parameter[LWYI_PARAMETERS];
} lwyi_recipe;

typedef struct lwyi_text {
  const char* at;
  size_t size;
} lwyi_text;

static lwyi_text lwyi_text_of(const char* words) {
  lwyi_text text;
  text.at = words, text.size = strlen(words);
  return text;
}

/* Cuts off what stands before the first `mark`, or all. */
static lwyi_text lwyi_cut(lwyi_text* text, char mark) {
  lwyi_text part = *text;
  size_t i = 0;
  while (i < text->size && text->at[i] != mark) ++i;
  part.size = i;
  i += i < text->size;
  text->at += i;
  text->size -= i;
  return part;
}
static int lwyi_is(lwyi_text text, const char* word) {
  return strlen(word) == text.size && memcmp(text.at, word, text.size) == 0;
}

/* A number of few digits, so that the result is exact: 12, -1, 1.25. */
static int lwyi_parse_number(lwyi_text text, double* value) {
  double digits = 0, scale = 1;
  size_t i = 0, count = 0;
  int is_negative = 0, is_fraction = 0;
  if (text.size > 0 && text.at[0] == '-') is_negative = 1, i = 1;
  for (; i < text.size; ++i) {
    const char c = text.at[i];
    if (c == '.' && !is_fraction) {
      is_fraction = 1;
    } else if (c >= '0' && c <= '9' && count < 15) {
      digits = 10 * digits + (c - '0');
      scale *= is_fraction ? 10 : 1;
      ++count;
    } else {
      return 0;
    }
  }
  *value = (is_negative ? -digits : digits) / scale;
  return count > 0;
}

static int lwyi_set_parameter(lwyi_recipe* recipe, int stage, lwyi_text assignment) {
  const lwyi_text name = lwyi_cut(&assignment, '=');
  size_t i;
  for (i = 0; i < sizeof lwyi_parameters / sizeof *lwyi_parameters; ++i) {
    const lwyi_parameter* p = &lwyi_parameters[i];
    double value = 0;
    if (p->stage != stage || !lwyi_is(name, p->name)) continue;
    if (p->words) {
      lwyi_text words;
      words.at = p->words, words.size = strlen(p->words);
      while (words.size > 0) {
        const lwyi_text word = lwyi_cut(&words, ' ');
        if (word.size == assignment.size && memcmp(word.at, assignment.at, word.size) == 0) break;
        ++value;
      }
    } else if (!lwyi_parse_number(assignment, &value)) {
      return 0;
    }
    recipe->parameter[p->id] = value;
    return value >= p->lowest && value <= p->highest;
  }
  return 0;
}

/* Notes a stage; says whether it may stand behind the one before, `place`. */
static int lwyi_add_stage(lwyi_recipe* recipe, const lwyi_stage* stage, int* place) {
  const int here = stage->kind == LWYI_QUANTIZER ? LWYI_PREDICTOR : stage->kind;
  int* only = stage->kind == LWYI_PREDICTOR   ? &recipe->predictor
              : stage->kind == LWYI_QUANTIZER ? &recipe->quantizer
                                              : &recipe->encoder;
  if (here < *place) return 0;
  *place = here;
  if (stage->kind == LWYI_PREPROCESSOR) {
    if (recipe->preprocessors == 4) return 0;
    recipe->preprocessor_id[recipe->preprocessors++] = stage->id;
    return 1;
  }
  if (stage->kind == LWYI_LOSSLESS_STAGE) {
    if (recipe->lossless == 4) return 0;
    recipe->lossless_id[recipe->lossless++] = stage->id;
    return 1;
  }
  if (*only != LWYI_NONE) return 0;
  *only = stage->id;
  if (stage->kind == LWYI_QUANTIZER) recipe->predicts_first = recipe->predictor != LWYI_NONE;
  return 1;
}

static int lwyi_parse_recipe(lwy_stream* s, lwyi_text text, lwyi_recipe* recipe) {
  int place = LWYI_PREPROCESSOR;
  size_t i;
  memset(recipe, 0, sizeof *recipe);
  for (i = 0; i < sizeof lwyi_parameters / sizeof *lwyi_parameters; ++i)
    recipe->parameter[lwyi_parameters[i].id] = lwyi_parameters[i].usual;
  recipe->parameter[LWYI_AXES] = 8;
  while (text.size > 0) {
    lwyi_text call = lwyi_cut(&text, '+');
    const lwyi_text name = lwyi_cut(&call, ':');
    const lwyi_stage* stage = NULL;
    for (i = 0; i < sizeof lwyi_stages / sizeof *lwyi_stages; ++i)
      if (lwyi_is(name, lwyi_stages[i].name)) stage = &lwyi_stages[i];
    if (!stage)
      return lwyi_fail_with(s, LWY_UNSUPPORTED, "this small decoder does not know the stage '",
                            name.at, name.size, "' of the stream; the leeway library does");
    if (stage->id == LWYI_BLOCKS) recipe->parameter[LWYI_AXES] = 1;
    while (call.size > 0)
      if (!lwyi_set_parameter(recipe, stage->id, lwyi_cut(&call, ',')))
        return lwyi_fail_with(s, LWY_CORRUPT, "an impossible parameter of the stage '", name.at,
                              name.size, "'");
    if (!lwyi_add_stage(recipe, stage, &place))
      return lwyi_corrupt(s, "stages in an impossible order");
  }
  return 1;
}

/* Whether these stages go together, and are in here together. */
static int lwyi_check_recipe(lwy_stream* s, const lwyi_recipe* r, int dtype) {
  const int is_walk = r->predictor == LWYI_INTERP || r->predictor == LWYI_PYRAMID;
  const double* p = r->parameter;
  int i, logs = 0;
  for (i = 0; i < r->preprocessors; ++i) logs += r->preprocessor_id[i] == LWYI_LOG;
  if (p[LWYI_BEYOND] == 1)
    return lwyi_fail(s, LWY_UNSUPPORTED, "this small decoder does not know linear:beyond=planes");
  if (r->predictor == LWYI_LORENZO && r->predicts_first)
    return lwyi_fail(s, LWY_UNSUPPORTED,
                     "this small decoder does not know lorenzo before the quantizer");
  if (is_walk && !r->predicts_first)
    return lwyi_fail(s, LWY_UNSUPPORTED,
                     "this small decoder does not know interp and pyramid behind the quantizer");
  if ((r->predictor == LWYI_BLOCKS && r->predicts_first) ||
      (is_walk && r->quantizer == LWYI_TRUNCATE) ||
      (r->predictor == LWYI_PYRAMID && r->quantizer != LWYI_LINEAR) ||
      (r->predictor == LWYI_WAVELET &&
       (!r->predicts_first || r->quantizer != LWYI_LINEAR || p[LWYI_STEP] != 0 ||
        p[LWYI_BINS] != 0 || p[LWYI_RANGE] != 0)) ||
      (logs > 0 && !lwyi_is_float(dtype)) ||
      (p[LWYI_SIZE] != 8 && p[LWYI_SIZE] != 16 && p[LWYI_SIZE] != 32 && p[LWYI_SIZE] != 64) || (p[LWYI_HEAD] != 1 && p[LWYI_HEAD] != 4) ||
      (p[LWYI_BLOCK] != 8 && p[LWYI_BLOCK] != 16 && p[LWYI_BLOCK] != 32 && p[LWYI_BLOCK] != 64))
    return lwyi_corrupt(s, "an impossible recipe");
  return 1;
}

/* ================================================================================================
 * A chunk, patches, steps of quantizers
 * ================================================================================================
 */

typedef struct lwyi_chunk {
  lwy_stream* s;
  const lwyi_recipe* recipe;
  int dtype;
  unsigned bytes;              /* of a value */
  unsigned width;              /* of a code: 16, 32 or 64 bits */
  size_t rank;                 /* without axes of extent 1 */
  size_t shape[LWY_MAX_RANK];  /* the slowest first */
  size_t stride[LWY_MAX_RANK]; /* in values */
  size_t size;                 /* values */
  double bound;
  void* values;
  uint64_t low, high; /* bits of the range that values are kept in, if the quantizer has one */
  /* What is wanted of it. */
  unsigned last_level; /* of a pyramid */
  int has_box;
  size_t box_first[LWY_MAX_RANK], box_end[LWY_MAX_RANK];
  int is_complete; /* whether nothing was left out */
} lwyi_chunk;

/* Values kept exactly (patches.md). */
typedef struct lwyi_run {
  uint32_t first, count;
  uint64_t bits;
} lwyi_run;
typedef struct lwyi_patches {
  lwyi_run* runs;
  size_t count;
  size_t next; /* those before were passed */
} lwyi_patches;

static int lwyi_read_runs(const lwyi_chunk* c, lwyi_reader* in, lwyi_patches* patches,
                          size_t count) {
  uint64_t palette[16];
  size_t position = 0, i;
  const unsigned entries = lwyi_get_byte(in);
  if (entries > 16) return 0;
  for (i = 0; i < entries; ++i) palette[i] = lwyi_get(in, c->bytes);
  for (i = 0; i < count; ++i) {
    const uint64_t gap = lwyi_get_varint(in), more = lwyi_get_varint(in);
    const unsigned entry = lwyi_get_byte(in);
    const uint64_t bits = entry < entries ? palette[entry] : lwyi_get(in, c->bytes);
    if (in->failed || entry > entries || gap >= c->size - position ||
        more >= c->size - position - gap)
      return 0;
    position += (size_t)gap;
    patches->runs[i].first = (uint32_t)position;
    patches->runs[i].count = (uint32_t)(more + 1);
    patches->runs[i].bits = bits;
    position += (size_t)more + 1;
  }
  return 1;
}

static int lwyi_read_patches(const lwyi_chunk* c, lwyi_pool* pool, lwyi_reader section,
                             lwyi_patches* patches) {
  lwyi_reader in;
  uint64_t count;
  memset(patches, 0, sizeof *patches);
  if (section.failed) return lwyi_corrupt(c->s, "a chunk ends too early");
  if (lwyi_left(&section) == 0) return 1;
  if (!lwyi_unpack(pool, section, (uint64_t)c->size * (3 + c->bytes) + 16 * c->bytes + 11, &in))
    return 0;
  count = lwyi_get_varint(&in);
  if (count > c->size || count > lwyi_left(&in) / 3) return lwyi_corrupt(c->s, "too many patches");
  if (count > 0) {
    patches->runs = (lwyi_run*)lwyi_take(pool, (size_t)count, sizeof(lwyi_run));
    if (!patches->runs) return 0;
    if (!lwyi_read_runs(c, &in, patches, (size_t)count))
      return lwyi_corrupt(c->s, "impossible patches");
  }
  patches->count = (size_t)count;
  return lwyi_is_used_up(&in) || lwyi_corrupt(c->s, "bytes left over behind patches");
}

static void lwyi_apply_patches(const lwyi_chunk* c, const lwyi_patches* patches) {
  size_t i, k;
  for (i = 0; i < patches->count; ++i)
    for (k = 0; k < patches->runs[i].count; ++k)
      lwyi_put_bits(c->values, c->bytes, patches->runs[i].first + k, patches->runs[i].bits);
}

/* The patch at a place, 0 if there is none; places must ascend. */
static uint64_t lwyi_patch_at(lwyi_patches* patches, size_t place) {
  const lwyi_run* run;
  while (patches->next < patches->count &&
         (size_t)patches->runs[patches->next].first + patches->runs[patches->next].count <= place)
    ++patches->next;
  if (patches->next == patches->count) return 0;
  run = &patches->runs[patches->next];
  return run->first <= place ? run->bits : 0;
}

/* m and n of value = m * 2^n with 1/2 <= m < 1, of a positive number. */
static double lwyi_fraction(double value, int* exponent) {
  uint64_t bits;
  *exponent = 0;
  if (value < lwyi_power(-1022)) {
    value *= lwyi_power(64);
    *exponent = -64;
  }
  bits = lwyi_bits_of_double(value);
  *exponent += (int)(bits >> 52) - 1022;
  return lwyi_double_of((bits & 0xfffffffffffffu) | (uint64_t)1022 << 52);
}
/* value * 2^exponent, in two steps of which only the second may round. */
static double lwyi_scaled(double value, int exponent) {
  return value * lwyi_power(exponent / 2) * lwyi_power(exponent - exponent / 2);
}

/* How values are recovered from predictions and codes, at one bound. */
typedef struct lwyi_grid {
  int dtype, quantizer;
  double step;      /* of floating types */
  float short_step; /* the same for sums in float; 0 if it is not for them */
  uint64_t whole_step;
  int is_identity;    /* codes are values, if nothing is predicted */
  int has_range;      /* values are kept from low to high: */
  double low, high;   /* of floating types */
  uint64_t whole_low, whole_high;
  unsigned low_zeros; /* truncate: bits below the code */
} lwyi_grid;

static lwyi_grid lwyi_grid_at(const lwyi_chunk* c, double bound) {
  const lwyi_recipe* recipe = c->recipe;
  const int dtype = c->dtype;
  const int is_binary = recipe->parameter[LWYI_STEP] != 0;
  const unsigned bits = (unsigned)recipe->parameter[LWYI_BITS], width = 8 * lwyi_bytes_of(dtype);
  lwyi_grid grid;
  int exponent;
  memset(&grid, 0, sizeof grid);
  grid.dtype = dtype;
  grid.quantizer = recipe->quantizer == LWYI_NONE ? LWYI_EXACT : recipe->quantizer;
  grid.low_zeros = bits > 0 && bits < width ? width - bits : 0;
  if (grid.quantizer != LWYI_LINEAR) return grid;
  grid.has_range = recipe->parameter[LWYI_RANGE] != 0;
  grid.low = lwyi_is_float(dtype) ? lwyi_number(dtype, c->low) : 0;
  grid.high = lwyi_is_float(dtype) ? lwyi_number(dtype, c->high) : 0;
  grid.whole_low = c->low, grid.whole_high = c->high;
  if (lwyi_is_float(dtype)) {
    const double fraction = lwyi_fraction(is_binary ? bound : bound * (2 - 1.0 / 256), &exponent);
    grid.step = is_binary ? lwyi_scaled(1, exponent)
                          : lwyi_scaled((double)(int)(fraction * 256), exponent - 8);
    if (grid.step > lwyi_power(-100) && grid.step < lwyi_power(100))
      grid.short_step = (float)grid.step;
  } else {
    const uint64_t half = bound < lwyi_power(60) ? (uint64_t)bound : (uint64_t)1 << 60;
    grid.whole_step = 2 * half + 1;
    if (is_binary)
      while (grid.whole_step & (grid.whole_step - 1)) grid.whole_step &= grid.whole_step - 1;
    grid.is_identity = half == 0 && recipe->parameter[LWYI_BINS] == 0;
  }
  return grid;
}

/* What a prediction means to integers: rounded, halves up, and kept in the range of the type. */
static uint64_t lwyi_rounded(int dtype, double p) {
  const unsigned width = 8 * lwyi_bytes_of(dtype);
  const int is_signed = lwyi_is_signed(dtype);
  const uint64_t lowest = is_signed ? (uint64_t)0 - ((uint64_t)1 << (width - 1)) : 0;
  const uint64_t highest =
      ((uint64_t)1 << (width - 1)) - 1 + (is_signed ? 0 : (uint64_t)1 << (width - 1));
  const double low = is_signed ? -lwyi_power((int)width - 1) : 0, high = (double)highest;
  double down;
  if (!(p > low)) return lowest;
  if (!(p < high)) return highest;
  if (is_signed) {
    int64_t whole = (int64_t)p;
    if ((double)whole > p) --whole;
    down = (double)whole;
    return (uint64_t)(p - down < 0.5 ? whole : whole + 1);
  }
  down = (double)(uint64_t)p;
  return p - down < 0.5 ? (uint64_t)p : (uint64_t)p + 1;
}

/* Kept in the range, if there is one. */
static double lwyi_in_range(const lwyi_grid* grid, double value) {
  if (!grid->has_range) return value;
  return value < grid->low ? grid->low : grid->high < value ? grid->high : value;
}
static int lwyi_is_less(int dtype, uint64_t a, uint64_t b) {
  return lwyi_is_signed(dtype) ? (int64_t)a < (int64_t)b : a < b;
}
static uint64_t lwyi_whole_in_range(const lwyi_grid* grid, uint64_t value) {
  if (!grid->has_range) return value;
  if (lwyi_is_less(grid->dtype, value, grid->whole_low)) return grid->whole_low;
  return lwyi_is_less(grid->dtype, grid->whole_high, value) ? grid->whole_high : value;
}

/* The range that values are kept in, before the predictor's notes. */
static int lwyi_read_range(lwyi_chunk* c, lwyi_reader* side) {
  const unsigned width = 8 * c->bytes;
  if (c->recipe->quantizer != LWYI_LINEAR || c->recipe->parameter[LWYI_RANGE] == 0) return 1;
  c->low = lwyi_get(side, c->bytes);
  c->high = lwyi_get(side, c->bytes);
  if (lwyi_is_signed(c->dtype)) {
    c->low = (uint64_t)lwyi_sign_extend(c->low, width);
    c->high = (uint64_t)lwyi_sign_extend(c->high, width);
  }
  return (!side->failed && (lwyi_is_float(c->dtype)
                                ? lwyi_number(c->dtype, c->low) <= lwyi_number(c->dtype, c->high)
                                : !lwyi_is_less(c->dtype, c->high, c->low))) ||
         lwyi_corrupt(c->s, "a range that begins above its end");
}

static float lwyi_recover_f32(const lwyi_grid* grid, float p, int64_t q) {
  float value;
  if (grid->short_step > 0 && q >= -65536 && q <= 65536)
    value = p + (float)q * grid->short_step;
  else
    value = (float)((double)p + (double)q * grid->step);
  return (float)lwyi_in_range(grid, value);
}
static double lwyi_recover_f64(const lwyi_grid* grid, double p, int64_t q) {
  return lwyi_in_range(grid, p + (double)q * grid->step);
}

static uint64_t lwyi_recover_whole(const lwyi_grid* grid, uint64_t p, int64_t q) {
  const unsigned width = 8 * lwyi_bytes_of(grid->dtype);
  const uint64_t sum = p + (uint64_t)q * grid->whole_step;
  const int64_t value = (int64_t)sum;
  int64_t lowest = 0, highest;
  if (width == 64) return lwyi_whole_in_range(grid, sum);
  highest = ((int64_t)1 << (width - 1)) - 1;
  if (lwyi_is_signed(grid->dtype))
    lowest = -highest - 1;
  else
    highest = 2 * highest + 1;
  return lwyi_whole_in_range(
      grid, (uint64_t)(value < lowest ? lowest : value > highest ? highest : value));
}

/* Bits of integers in the order of the values they stand for, and back (exact.md). */
static int64_t lwyi_flip(int dtype, uint64_t bits) {
  const unsigned width = 8 * lwyi_bytes_of(dtype);
  const int64_t order = lwyi_sign_extend(bits, width);
  return lwyi_is_float(dtype) && order < 0 ? order ^ (int64_t)(((uint64_t)1 << (width - 1)) - 1)
                                           : order;
}

/* The bits of a value; `has_prediction` is 0 where nothing is predicted, and p too. */
static uint64_t lwyi_recover(const lwyi_grid* grid, int has_prediction, double p, int64_t q) {
  const int dtype = grid->dtype, is_float = lwyi_is_float(dtype);
  uint64_t near;
  if (grid->quantizer == LWYI_TRUNCATE) {
    const uint64_t size = (is_float && q < 0 ? (uint64_t)0 - (uint64_t)q : (uint64_t)q)
                          << grid->low_zeros;
    return is_float && q < 0 ? size | (uint64_t)1 << (8 * lwyi_bytes_of(dtype) - 1) : size;
  }
  if (grid->quantizer == LWYI_EXACT) {
    if (!has_prediction || p != p) return (uint64_t)lwyi_flip(dtype, (uint64_t)q);
    near = is_float ? lwyi_bits_of(dtype, p) : lwyi_rounded(dtype, p);
    return (uint64_t)lwyi_flip(dtype, (uint64_t)lwyi_flip(dtype, near) + (uint64_t)q);
  }
  if (dtype == LWY_F32) return lwyi_bits_of_float(lwyi_recover_f32(grid, (float)p, q));
  if (dtype == LWY_F64) return lwyi_bits_of(dtype, lwyi_recover_f64(grid, p, q));
  if (is_float) /* rounded first: a zero keeps its sign */
    return lwyi_bits_of(
        dtype, lwyi_in_range(
                   grid, lwyi_number(dtype, lwyi_bits_of(dtype, p + (double)q * grid->step))));
  if (!has_prediction && grid->is_identity) return (uint64_t)q;
  return lwyi_recover_whole(grid, has_prediction ? lwyi_rounded(dtype, p) : 0, q);
}

/* The bound of a level as a part of the finest one's (pyramid.md, interp.md). */
static double lwyi_level_factor(unsigned level, double alpha, double beta) {
  double factor = 1;
  for (; level > 0 && factor < beta; --level) factor *= alpha;
  return 1 / (factor < beta ? factor : beta);
}

/* ================================================================================================
 * Huffman: canonical codes of at most 12 bits, one stream or four (huffman.md)
 * ================================================================================================
 */

#define LWYI_CODE_BITS 12

/* By the next 12 bits: the token, and the length of its code above it. */
static int lwyi_build_huffman(const uint8_t* lengths, unsigned count, uint16_t* table) {
  unsigned length, token, code = 0, used = 0;
  for (token = 0; token < count; ++token) {
    if (lengths[token] > LWYI_CODE_BITS) return 0;
    if (lengths[token] > 0) used += (1u << LWYI_CODE_BITS) >> lengths[token];
  }
  if (used != 1u << LWYI_CODE_BITS) return 0;
  for (length = 1; length <= LWYI_CODE_BITS; ++length, code <<= 1)
    for (token = 0; token < count; ++token) {
      unsigned reversed = 0, bit, place;
      if (lengths[token] != length) continue;
      for (bit = 0; bit < length; ++bit) reversed |= (code >> bit & 1) << (length - 1 - bit);
      for (place = reversed; place < 1u << LWYI_CODE_BITS; place += 1u << length)
        table[place] = (uint16_t)(length << 8 | token);
      ++code;
    }
  return 1;
}

static uint8_t lwyi_next_token(lwyi_bits* bits, const uint16_t* table) {
  const unsigned entry = table[bits->window & ((1u << LWYI_CODE_BITS) - 1)];
  lwyi_drop(bits, entry >> 8);
  return (uint8_t)entry;
}

static int lwyi_decode_huffman(lwyi_reader* in, const uint16_t* table, uint8_t* tokens,
                               size_t count) {
  const size_t part = (count + 3) / 4;
  uint64_t sizes[4];
  lwyi_bits streams[4];
  size_t done[4] = {0, 0, 0, 0}, counts[4], k, i;
  for (k = 0; k < 4; ++k) sizes[k] = lwyi_get_varint(in);
  for (k = 0; k < 4; ++k) {
    const uint8_t* at = lwyi_get_bytes(in, sizes[k]);
    if (!at) return 0;
    streams[k] = lwyi_read_bits(at, (size_t)sizes[k]);
    counts[k] = lwyi_min((k + 1) * part, count) - lwyi_min(k * part, count);
  }
  /* All four side by side as long as each has enough: they do not wait for each other. */
  for (i = 0; i + 4 <= counts[3]; i += 4) {
    size_t n;
    for (k = 0; k < 4 && streams[k].end - streams[k].at >= 8; ++k) lwyi_refill(&streams[k]);
    if (k < 4) break;
    for (n = 0; n < 4; ++n)
      for (k = 0; k < 4; ++k) tokens[k * part + i + n] = lwyi_next_token(&streams[k], table);
  }
  for (k = 0; k < 4; ++k) {
    for (done[k] = i; done[k] < counts[k]; ++done[k]) {
      lwyi_refill(&streams[k]);
      tokens[k * part + done[k]] = lwyi_next_token(&streams[k], table);
    }
    if (!lwyi_bits_end(&streams[k])) return 0;
  }
  return 1;
}

/* Lengths of codes, of all tokens up to the last that has one. Returns their number; 0: damaged. */
static unsigned lwyi_plain_lengths(lwyi_reader* in, uint8_t* lengths) {
  const unsigned highest = lwyi_get_byte(in);
  const uint8_t* packed = lwyi_get_bytes(in, highest / 2 + 1);
  unsigned i;
  if (!packed || (highest % 2 == 0 && packed[highest / 2] >> 4)) return 0;
  for (i = 0; i <= highest; ++i) lengths[i] = i % 2 ? packed[i / 2] >> 4 : packed[i / 2] & 15;
  return highest + 1;
}

/* Half a byte after the other. */
typedef struct lwyi_nibbles {
  lwyi_reader* in;
  unsigned byte, is_half; /* whether the high half of the byte is left */
} lwyi_nibbles;
static unsigned lwyi_get_nibble(lwyi_nibbles* nibbles) {
  nibbles->is_half = !nibbles->is_half;
  if (!nibbles->is_half) return nibbles->byte >> 4;
  nibbles->byte = lwyi_get_byte(nibbles->in);
  return nibbles->byte & 15;
}

/* The same where most tokens have none: up to the one that completes the code. */
static unsigned lwyi_sparse_lengths(lwyi_reader* in, uint8_t* lengths) {
  lwyi_nibbles nibbles = {in, 0, 0};
  unsigned count = 0, used = 0;
  while (used < 1u << LWYI_CODE_BITS) {
    const unsigned n = lwyi_get_nibble(&nibbles);
    unsigned skipped = 0;
    if (in->failed || n > 14) return 0;
    if (n == 13) skipped = lwyi_get_nibble(&nibbles) + 2;
    if (n == 14) {
      skipped = lwyi_get_nibble(&nibbles) + 18;
      skipped += lwyi_get_nibble(&nibbles) * 16;
    }
    if (count + (n > 12 ? skipped : 1) > 256) return 0;
    for (; skipped > 0; --skipped) lengths[count++] = 0;
    if (n > 12) continue;
    lengths[count++] = (uint8_t)n;
    if (n > 0) used += (1u << LWYI_CODE_BITS) >> n;
  }
  return nibbles.is_half && nibbles.byte >> 4 ? 0 : count;
}

static int lwyi_decode_one_stream(lwyi_reader* in, const uint16_t* table, uint8_t* tokens,
                                  size_t count) {
  lwyi_bits bits = lwyi_read_bits(in->at, lwyi_left(in));
  size_t i;
  in->at = in->end;
  for (i = 0; i < count; ++i) {
    lwyi_refill(&bits);
    tokens[i] = lwyi_next_token(&bits, table);
  }
  return lwyi_bits_end(&bits);
}

/* The tokens, and where their raw bits are. */
static int lwyi_read_huffman(lwyi_pool* pool, lwyi_reader* in, uint8_t* tokens, size_t count,
                             lwyi_bits* raw) {
  enum { CONSTANT, CODED, FEW };
  const lwyi_reader section = lwyi_get_section(in);
  const unsigned mode = lwyi_get_byte(in);
  uint8_t lengths[256];
  unsigned known;
  uint16_t* table;
  *raw = lwyi_read_bits(section.at, lwyi_left(&section));
  if (in->failed || mode > FEW) return lwyi_corrupt(pool->s, "a Huffman code of an unknown kind");
  if (mode == CONSTANT) {
    memset(tokens, (int)lwyi_get_byte(in), count);
    return !in->failed || lwyi_corrupt(pool->s, "a Huffman code ends too early");
  }
  table = (uint16_t*)lwyi_take(pool, (size_t)1 << LWYI_CODE_BITS, sizeof *table);
  if (!table) return 0;
  known = mode == FEW ? lwyi_sparse_lengths(in, lengths) : lwyi_plain_lengths(in, lengths);
  if (known == 0 || !lwyi_build_huffman(lengths, known, table) ||
      !(mode == FEW ? lwyi_decode_one_stream : lwyi_decode_huffman)(in, table, tokens, count))
    return lwyi_corrupt(pool->s, "a damaged Huffman code");
  return 1;
}

/* ================================================================================================
 * rANS: interleaved, with a table of frequencies by context (rans.md)
 * ================================================================================================
 */

#define LWYI_MOST_CODES 2048 /* that are decoded at a time */
#define LWYI_SLOTS 4096      /* of a table: the sum of its frequencies */

typedef struct lwyi_rans {
  lwy_stream* s;
  int is_first_form;     /* of its head and its segments */
  unsigned width;        /* of a code */
  uint8_t table_of[256]; /* by context */
  uint32_t* slots;  /* table by table: token, its frequency less one, the slot's place among the
                       token's own */
  lwyi_reader rest; /* segments to come */
  uint32_t states[32];
  size_t mask; /* number of states less one */
  const uint8_t* next;
  const uint8_t* end; /* of the segment's words */
  lwyi_bits raw;
  size_t done, count; /* codes of the segment */
} lwyi_rans;

static uint64_t lwyi_quarter_octave(unsigned k) { return (uint64_t)(4 + k % 4) << (k / 4); }
static uint64_t lwyi_fall(uint64_t ratio, uint64_t n) { /* ratio^n, in parts of 2^32 */
  uint64_t result = (uint64_t)1 << 32;
  for (; n > 0; n >>= 1, ratio = ratio * ratio >> 32)
    if (n & 1) result = result * ratio >> 32;
  return result;
}

/* Frequencies from four numbers (rans.md, "Curves"). */
static void lwyi_curve(lwyi_bits* bits, unsigned mantissa, uint32_t* frequencies) {
  static const uint8_t shares[4] = {0, 3, 3, 6}, slower[4] = {0, 8, 12, 8};
  const unsigned last = (unsigned)lwyi_get_bits(bits, 8), zeros = (unsigned)lwyi_get_bits(bits, 6);
  const unsigned mean = (unsigned)lwyi_get_bits(bits, 6), tail = (unsigned)lwyi_get_bits(bits, 2);
  const uint64_t slow = lwyi_quarter_octave(mean + slower[tail] < 63 ? mean + slower[tail] : 63);
  const uint64_t quick = lwyi_quarter_octave(mean), none = lwyi_quarter_octave(zeros);
  const uint64_t ra = (quick << 32) / (quick + 256), rb = (slow << 32) / (slow + 256);
  const uint64_t one = (uint64_t)1 << 32, zero = (none << 32) / (none + 1024), others = one - zero;
  const uint64_t share = shares[tail], spare = LWYI_SLOTS - (last + 1);
  uint64_t a = one, b = one, mass = zero;
  uint32_t sum = 0, top = 0;
  unsigned t;
  for (t = 0; t <= last; ++t) {
    if (t > 127) {
      const uint64_t leading = ((uint64_t)1 << mantissa) + ((t - 128) & ((1u << mantissa) - 1));
      const unsigned octave = ((t - 128) >> mantissa) + 7 - mantissa,
                     shift = octave < 55 ? octave : 55;
      const uint64_t first = (leading << shift >> 1) - 1, end = ((leading + 1) << shift >> 1) - 1;
      mass = (16 - share) * (lwyi_fall(ra, first) - lwyi_fall(ra, end)) +
             share * (lwyi_fall(rb, first) - lwyi_fall(rb, end));
      mass = (mass >> 4) * others >> 32;
    } else if (t % 2 == 1) { /* the same for both signs */
      const uint64_t next_a = a * ra >> 32, next_b = b * rb >> 32;
      mass = (((16 - share) * (a - next_a) + share * (b - next_b)) >> 4) * others >> 33;
      a = next_a, b = next_b;
    }
    frequencies[t] = 1 + (uint32_t)(mass * spare >> 32);
    sum += frequencies[t];
    if (frequencies[t] > frequencies[top]) top = t;
  }
  frequencies[top] += LWYI_SLOTS - sum;
}

static int lwyi_get_gamma(lwyi_bits* bits) { /* a signed number in Elias' gamma code */
  unsigned n = 0, z;
  while (lwyi_get_bits(bits, 1) == 0)
    if (++n > 8 || bits->failed) {
      bits->failed = 1;
      return 0;
    }
  z = (1u << n | (unsigned)lwyi_get_bits(bits, n)) - 1;
  return z & 1 ? -(int)((z + 1) / 2) : (int)(z / 2);
}

static void lwyi_frequency_list(lwyi_bits* bits, uint32_t* frequencies) {
  const unsigned top = (unsigned)lwyi_get_bits(bits, 8), count = (unsigned)lwyi_get_bits(bits, 9);
  int levels[256];
  uint32_t sum = 0;
  unsigned t;
  if (count > 256) bits->failed = 1;
  for (t = 0; t < count && !bits->failed; ++t) {
    int level = t < 2 ? 24 : levels[t - 2];
    if (t >= 4) level = 2 * levels[t - 2] - levels[t - 4];
    level = level < 0 ? 0 : level > 43 ? 43 : level;
    if (t != top) {
      level += lwyi_get_gamma(bits);
      if (level < 0 || level > 43) {
        bits->failed = 1;
        return;
      }
      frequencies[t] =
          level < 4 ? (uint32_t)level : (uint32_t)lwyi_quarter_octave((unsigned)level - 4);
      sum += frequencies[t];
    }
    levels[t] = level;
  }
  if (sum >= LWYI_SLOTS) bits->failed = 1;
  frequencies[top] = LWYI_SLOTS - sum;
}

/* Which context has which table. Returns the number of the last one. */
static unsigned lwyi_read_contexts(lwyi_rans* r, lwyi_bits* bits) {
  const unsigned number = (unsigned)lwyi_get_bits(bits, 8);
  unsigned table = 0, first = 0, c;
  if (r->is_first_form) { /* the number is that of the highest context */
    for (c = 1; c < 256; ++c) {
      if (c <= number) table += (unsigned)lwyi_get_bits(bits, 1);
      r->table_of[c] = (uint8_t)table;
    }
    return table;
  }
  for (table = 1; table <= number; ++table) {
    const unsigned before = first;
    first = (unsigned)lwyi_get_bits(bits, 8);
    if (first <= before) bits->failed = 1;
    for (c = first; c < 256; ++c) r->table_of[c] = (uint8_t)table;
  }
  return number;
}

static int lwyi_start_rans(lwyi_rans* r, lwyi_pool* pool, lwyi_reader* in, unsigned width,
                           size_t codes) {
  const uint64_t form = lwyi_get_varint(in), bytes = form ? form : lwyi_get_varint(in);
  const uint8_t* head = lwyi_get_bytes(in, bytes);
  lwyi_bits bits;
  unsigned table, c, t, k;
  uint32_t* slot;
  memset(r, 0, sizeof *r);
  r->s = pool->s;
  r->is_first_form = form != 0;
  r->width = width;
  if (!head) return lwyi_corrupt(r->s, "tables of frequencies end too early");
  bits = lwyi_read_bits(head, (size_t)bytes);
  table = lwyi_read_contexts(r, &bits);
  if (in->failed || bits.failed || table >= codes)
    return lwyi_corrupt(r->s, "impossible tables of frequencies");
  slot = r->slots = (uint32_t*)lwyi_take(pool, (size_t)(table + 1) * LWYI_SLOTS, sizeof *slot);
  if (!slot) return 0;
  for (c = 0; c <= table; ++c) {
    uint32_t frequencies[256] = {0};
    if (lwyi_get_bits(&bits, 1))
      lwyi_curve(&bits, width == 64 ? 1 : 2, frequencies);
    else
      lwyi_frequency_list(&bits, frequencies);
    if (bits.failed) break;
    for (t = 0; t < 256; ++t)
      for (k = 0; k < frequencies[t]; ++k)
        *slot++ = (uint32_t)t << 24 | (frequencies[t] - 1) << 12 | k;
  }
  if (!lwyi_bits_end(&bits)) return lwyi_corrupt(r->s, "damaged tables of frequencies");
  r->rest = *in;
  in->at = in->end;
  return 1;
}

/* The next `count` codes can be decoded without those before. */
static int lwyi_next_segment(lwyi_rans* r, size_t count) {
  lwyi_reader* in = &r->rest;
  static const unsigned numbers[4] = {1, 8, 32, 0};
  const uint64_t raw_bytes = lwyi_get_varint(in), both = lwyi_get_varint(in);
  const uint64_t words = r->is_first_form ? both >> 1 : both >> 2;
  const unsigned states = numbers[r->is_first_form ? 1 + (both & 1) : both & 3];
  const uint8_t* raw;
  unsigned i;
  if (states == 0) return lwyi_corrupt(r->s, "an unknown number of states");
  for (i = 0; i < states; ++i) r->states[i] = (uint32_t)lwyi_get(in, 4);
  raw = lwyi_get_bytes(in, raw_bytes);
  r->next = words > lwyi_left(in) ? NULL : lwyi_get_bytes(in, words * 2);
  if (!raw || !r->next) return lwyi_corrupt(r->s, "a segment of codes ends too early");
  r->raw = lwyi_read_bits(raw, (size_t)raw_bytes);
  r->end = r->next + (size_t)(words * 2);
  r->mask = states - 1;
  r->done = 0;
  r->count = count;
  return 1;
}

/* A state without its token, and the token; the state may need another word. */
static uint32_t lwyi_advance(const lwyi_rans* r, uint32_t x, unsigned context, uint8_t* token) {
  const uint32_t slot =
      r->slots[(size_t)r->table_of[context] * LWYI_SLOTS + (x & (LWYI_SLOTS - 1))];
  *token = (uint8_t)(slot >> 24);
  return ((slot >> 12 & 0xfff) + 1) * (x >> 12) + (slot & 0xfff);
}

/* The next tokens, at most LWYI_MOST_CODES. */
static int lwyi_rans_tokens(lwyi_rans* r, const uint8_t* contexts, size_t count, uint8_t* tokens) {
  const uint8_t* next = r->next;
  const int is_near_end = (size_t)(r->end - next) < 2 * count + 2;
  size_t i;
  for (i = 0; i < count; ++i) {
    uint32_t* state = &r->states[(r->done + i) & r->mask];
    const uint32_t x = lwyi_advance(r, *state, contexts[i], &tokens[i]);
    const unsigned is_short = x < 1u << 16;
    if (is_near_end && is_short && next == r->end) return lwyi_corrupt(r->s, "codes end too early");
    if (is_near_end && !is_short) {
      *state = x;
    } else { /* without a branch where there are words enough */
      *state = is_short ? x << 16 | lwyi_load16(next) : x;
      next += 2 * is_short;
    }
  }
  r->next = next;
  r->done += count;
  return 1;
}

/* To be called when the codes of a segment have been decoded. */
static int lwyi_end_segment(lwyi_rans* r) {
  size_t i;
  int is_whole = r->next == r->end && lwyi_bits_end(&r->raw);
  if (r->count == 0) return 1;
  for (i = 0; i <= r->mask; ++i) is_whole = is_whole && r->states[i] == 1u << 16;
  return is_whole || lwyi_corrupt(r->s, "codes left over");
}

/* Contexts of codes that stand in the order of an array (lorenzo.md): `sizes` are those of the
 * codes before. */
static void lwyi_causal_contexts(const uint8_t* sizes, size_t row, size_t plane, size_t count,
                                 uint8_t* contexts) {
  size_t i;
  for (i = 0; i < count; ++i) {
    const uint8_t* a = sizes + i - row;
    unsigned sum = 2u * a[0] + a[-1] + a[1];
    if (plane > 0) {
      a = sizes + i - plane;
      sum += 2u * a[0] + a[-1] + a[1];
    }
    contexts[i] = (uint8_t)((lwyi_bits_of_float((float)(sum + 1)) >> 22) - 254);
  }
}

/* ================================================================================================
 * Pyramid: what does not depend on the arithmetic (pyramid.md)
 * ================================================================================================
 */

#define LWYI_MOST_ACTIVE 4
#define LWYI_MOST_TAPS 64
#define LWYI_ROOM 4 /* values beside a row */

/* Along an active axis a step extends from `first` to `last`, or lies on a cut. */
typedef struct lwyi_piece {
  size_t first, last;
  int is_open, is_cut_low, is_cut_high;
} lwyi_piece;

/* The values of a step with the same coordinates odd; rows stand one behind the other, with room on
 * both sides. */
typedef struct lwyi_part {
  unsigned odd; /* by axis */
  size_t extents[LWYI_MOST_ACTIVE];
  size_t first; /* of its first row in a slice */
  size_t pitch; /* from row to row */
} lwyi_part;

/* How the values of a step lie, in the array and in the storage of the step. */
typedef struct lwyi_layout {
  unsigned level;
  int is_top;
  size_t rank; /* of a slice; the last axis is along rows */
  size_t extents[LWYI_MOST_ACTIVE], stride[LWYI_MOST_ACTIVE];
  int is_cut_low[LWYI_MOST_ACTIVE], is_cut_high[LWYI_MOST_ACTIVE];
  size_t origin; /* of the step in the array */
  size_t frozen; /* axes */
  size_t slices[LWY_MAX_RANK], slice_stride[LWY_MAX_RANK];
  size_t slice_count, slice_size; /* the size: in the storage */
  size_t parts;
  lwyi_part part[1 << LWYI_MOST_ACTIVE]; /* in the order of visiting; the first is the grid, or all
                                            of the top */
  int place[1 << LWYI_MOST_ACTIVE];      /* by odd axes: which part; -1: it has no points */
} lwyi_layout;

typedef struct lwyi_tap {
  unsigned odd;
  int shift[LWYI_MOST_ACTIVE];
  int back[LWY_MAX_RANK];
} lwyi_tap;

/* A pyramid's settings, and where it is. */
typedef struct lwyi_pyramid {
  lwyi_chunk* c;
  unsigned frozen, tight, taps, tile, every;
  size_t rank; /* of the active axes */
  size_t axes[LWYI_MOST_ACTIVE];
  unsigned levels;
  size_t cuts[LWYI_MOST_ACTIVE]; /* how many, along an active axis */
  size_t edge[LWYI_MOST_ACTIVE]; /* how far apart */
  uint8_t* sizes;                /* of codes, in the places of the array */
  lwyi_patches* patches;
  size_t done; /* values visited */
} lwyi_pyramid;

static unsigned lwyi_popcount(unsigned x) {
  unsigned n = 0;
  for (; x; x &= x - 1) ++n;
  return n;
}

/* Sets of axes by how many they are, then by number. */
static unsigned lwyi_next_set(unsigned set, unsigned all) {
  unsigned n = lwyi_popcount(set), next;
  for (; n <= lwyi_popcount(all); ++n, set = 0)
    for (next = set + (n > lwyi_popcount(set) ? 0 : 1); next <= all; ++next)
      if (lwyi_popcount(next) == n) return next;
  return all + 1;
}

static int lwyi_read_pyramid(lwyi_pyramid* p, lwyi_chunk* c, lwyi_reader* side) {
  size_t axis, k;
  memset(p, 0, sizeof *p);
  p->c = c;
  p->frozen = lwyi_get_byte(side);
  p->tight = lwyi_get_byte(side);
  p->taps = lwyi_get_byte(side);
  p->tile = lwyi_get_byte(side);
  p->every = (unsigned)c->recipe->parameter[LWYI_EVERY];
  if (side->failed || p->frozen >> c->rank || p->tight > 2 || p->taps > LWYI_MOST_TAPS ||
      p->tile > 40)
    return lwyi_corrupt(c->s, "impossible settings of the pyramid");
  for (axis = c->rank; axis-- > 0 && p->rank < LWYI_MOST_ACTIVE;)
    if (!(p->frozen >> axis & 1)) p->axes[p->rank++] = axis;
  for (k = 0; k < p->rank / 2; ++k) {
    axis = p->axes[k];
    p->axes[k] = p->axes[p->rank - 1 - k];
    p->axes[p->rank - 1 - k] = axis;
  }
  for (k = 0; k < p->rank; ++k) {
    const size_t n = c->shape[p->axes[k]], coarse = ((n - 1) >> 2) + 1;
    const size_t bits = lwyi_max((p->tile + k) / p->rank, 3),
                 margin = bits > 4 ? (size_t)1 << lwyi_min(bits - 3, 26) : 2;
    while ((n - 1) >> p->levels) ++p->levels;
    p->edge[k] = (size_t)1 << lwyi_min(bits, 29); /* longer ones cut nothing */
    p->cuts[k] = p->tile > 0 && coarse > margin ? 4 * (coarse - margin) / p->edge[k] : 0;
  }
  return 1;
}

static double lwyi_tightening(const lwyi_pyramid* p, unsigned level) {
  static const double alpha[3] = {1, 1.25, 1.5}, beta[3] = {1, 2, 3};
  return lwyi_level_factor(level, alpha[p->tight], beta[p->tight]);
}

/* A cell: along each axis, the numbers of the cuts before it and behind it, or of the one it lies
 * on. */
static void lwyi_cell(const lwyi_pyramid* p, unsigned open, const size_t* index,
                      lwyi_piece* pieces) {
  size_t k;
  for (k = 0; k < p->rank; ++k) {
    lwyi_piece* piece = &pieces[k];
    piece->is_open = open >> k & 1;
    piece->is_cut_low = piece->is_open && index[k] > 0;
    piece->is_cut_high = piece->is_open && index[k] < p->cuts[k];
    if (!piece->is_open) {
      piece->first = piece->last = (index[k] + 1) * p->edge[k];
    } else {
      piece->first = index[k] * p->edge[k];
      piece->last = piece->is_cut_high ? (index[k] + 1) * p->edge[k] : p->c->shape[p->axes[k]] - 1;
    }
  }
}

/* Counts like an odometer, the last axis fastest; says 0 behind the last. */
static int lwyi_count_on(size_t* index, const size_t* extents, size_t rank) {
  while (rank-- > 0) {
    if (++index[rank] < extents[rank]) return 1;
    index[rank] = 0;
  }
  return 0;
}

static void lwyi_find_parts(lwyi_layout* l) {
  const unsigned all = (1u << l->rank) - 1;
  unsigned odd;
  size_t k, rows;
  for (odd = 0; odd <= all; odd++) l->place[odd] = -1;
  for (odd = 0; odd <= all; odd = lwyi_next_set(odd, all)) {
    lwyi_part* part = &l->part[l->parts];
    int has_points = odd == 0 || !l->is_top;
    for (k = 0; k < l->rank; ++k) has_points = has_points && (!(odd >> k & 1) || l->extents[k] > 1);
    if (!has_points) continue;
    l->place[odd] = (int)l->parts++;
    part->odd = odd;
    for (rows = 1, k = 0; k < l->rank; ++k) {
      part->extents[k] = l->is_top ? l->extents[k] : (l->extents[k] + (odd >> k & 1 ? 0 : 1)) / 2;
      if (k + 1 < l->rank) rows *= part->extents[k];
    }
    part->pitch = part->extents[l->rank - 1] + 2 * LWYI_ROOM;
    part->first = l->slice_size + LWYI_ROOM;
    l->slice_size += rows * part->pitch;
  }
}

/* Frozen axes number slices; if all are frozen, rows run along the last one. */
static lwyi_layout lwyi_lay_out(const lwyi_pyramid* p, unsigned level, int is_top,
                                const lwyi_piece* pieces) {
  const lwyi_chunk* c = p->c;
  lwyi_layout l;
  size_t axis, k = 0;
  memset(&l, 0, sizeof l);
  l.level = level;
  l.is_top = is_top;
  for (axis = 0; axis < c->rank; ++axis) {
    if (k < p->rank && p->axes[k] == axis) {
      const lwyi_piece* piece = &pieces[k++];
      l.origin += piece->first * c->stride[axis];
      if (!piece->is_open) continue;
      l.extents[l.rank] = ((piece->last - piece->first) >> level) + 1;
      l.stride[l.rank] = c->stride[axis] << level;
      l.is_cut_low[l.rank] = piece->is_cut_low;
      l.is_cut_high[l.rank++] = piece->is_cut_high;
    } else if (p->rank == 0 && axis + 1 == c->rank) {
      l.extents[l.rank] = c->shape[axis];
      l.stride[l.rank++] = c->stride[axis];
    } else {
      l.slices[l.frozen] = c->shape[axis];
      l.slice_stride[l.frozen++] = c->stride[axis];
    }
  }
  if (l.rank == 0) l.rank = 1, l.extents[0] = 1, l.stride[0] = 1; /* a single value */
  for (l.slice_count = 1, k = 0; k < l.frozen; ++k) l.slice_count *= l.slices[k];
  lwyi_find_parts(&l);
  return l;
}

/* How many values the step adds. */
static size_t lwyi_step_size(const lwyi_layout* l) {
  size_t every = l->slice_count, grid = l->slice_count, k;
  for (k = 0; k < l->rank; ++k) {
    const size_t ends = (size_t)l->is_cut_low[k] + (size_t)l->is_cut_high[k];
    every *= l->extents[k] - ends;
    grid *= (l->extents[k] + 1) / 2 - ends;
  }
  return l->is_top ? every : every - grid;
}

/* -1 if a move goes back along the first axis where it goes anywhere. */
static int lwyi_direction(const int* move, size_t axes) {
  size_t k;
  for (k = 0; k < axes; ++k)
    if (move[k] != 0) return move[k] < 0 ? -1 : 1;
  return 0;
}
static int lwyi_move_on(int* move, const int* reach, size_t axes) {
  while (axes-- > 0) {
    if (++move[axes] <= reach[axes]) return 1;
    move[axes] = -reach[axes];
  }
  return 0;
}

/* Whether a point is known before the rows of a part; notes which it is, and how far. */
static int lwyi_judge_tap(const lwyi_layout* l, const lwyi_part* part, int slice, const int* move,
                          lwyi_tap* tap, int* distance) {
  const int is_flat = l->parts == 1;
  unsigned along = 0, straight = 0;
  size_t k;
  int place;
  *distance = 0;
  tap->odd = part->odd;
  for (k = 0; k < l->rank; ++k) {
    if (!is_flat && move[k] & 1) tap->odd ^= 1u << k;
    *distance += 20 * move[k] * move[k];
    if (move[k] != 0) ++along, straight = part->odd >> k & 1;
  }
  place = l->place[tap->odd];
  if (place < 0) return 0;
  if (slice == 0) {
    if (is_flat) return 0;
    if (tap->odd == part->odd ? lwyi_direction(move, l->rank - 1) >= 0
                              : place > l->place[part->odd])
      return 0;
    if (along == 1 && straight) *distance = *distance * 7 / 20;
  }
  for (k = 0; k < l->rank; ++k)
    tap->shift[k] =
        is_flat ? move[k] : (move[k] + (int)(part->odd >> k & 1) - (int)(tap->odd >> k & 1)) / 2;
  return 1;
}

/* The nearest known points (pyramid.md, "Taps"); says how many. */
static size_t lwyi_find_taps(const lwyi_layout* l, const lwyi_part* part, size_t most,
                             lwyi_tap* taps) {
  const int is_flat = l->parts == 1;
  int distances[LWYI_MOST_TAPS], reach[LWYI_MOST_ACTIVE], far[LWY_MAX_RANK] = {0};
  int move[LWYI_MOST_ACTIVE], back[LWY_MAX_RANK] = {0};
  size_t count = 0, k, at;
  for (k = 0; k < l->rank; ++k) reach[k] = l->rank < 4 ? 3 : 2;
  for (k = l->frozen > 3 ? l->frozen - 3 : 0; k < l->frozen; ++k)
    far[k] = is_flat && l->frozen == 1 ? 8 : 2;
  for (k = 0; k < l->frozen; ++k) back[k] = -far[k];
  do {
    const int slice = lwyi_direction(back, l->frozen);
    if (slice > 0) break; /* all that follow go forward, too */
    for (k = 0; k < l->rank; ++k) move[k] = -reach[k];
    do {
      lwyi_tap tap;
      int distance;
      memset(&tap, 0, sizeof tap);
      if (!lwyi_judge_tap(l, part, slice, move, &tap, &distance)) continue;
      for (k = 0; k < l->frozen; ++k) distance += 20 * back[k] * back[k];
      if (count == most && distance >= distances[most - 1]) continue;
      memcpy(tap.back, back, sizeof back);
      for (at = count < most ? count++ : most - 1; at > 0 && distances[at - 1] > distance; --at) {
        distances[at] = distances[at - 1];
        taps[at] = taps[at - 1];
      }
      distances[at] = distance;
      taps[at] = tap;
    } while (lwyi_move_on(move, reach, l->rank));
  } while (lwyi_move_on(back, far, l->frozen));
  return count;
}

/* ================================================================================================
 * Wavelet: what does not depend on the arithmetic (wavelet.md)
 * ================================================================================================
 */

#define LWYI_MOST_DEPTH 12

typedef struct lwyi_band {
  uint8_t depth[LWY_MAX_RANK];
  unsigned high, level;
  size_t first[LWY_MAX_RANK], extents[LWY_MAX_RANK];
  size_t size;
  uint8_t* sizes; /* of its codes, in row-major order */
  double norm;
  size_t siblings, sibling; /* bands before it of the same depths: how many, and the last */
  size_t parents, parent[2];
  uint8_t shift[2][LWY_MAX_RANK];
} lwyi_band;

typedef struct lwyi_wavelet {
  size_t rank, shape[LWY_MAX_RANK], stride[LWY_MAX_RANK];
  int is_wide, has_repairs, ends_repairs;
  double step, middle;
  uint64_t low, high; /* bits */
  unsigned filter, order;
  uint8_t depth[LWY_MAX_RANK];
  unsigned groups, group[LWYI_MOST_ACTIVE]; /* sets of axes */
  lwyi_band* bands;
  size_t count;
  int has_weights[3][256];
  int8_t weights[3][256][8];
} lwyi_wavelet;

static size_t lwyi_halved(size_t extent, unsigned depth) {
  for (; depth > 0; --depth) extent = (extent + 1) / 2;
  return extent;
}

static int lwyi_read_wavelet_head(lwyi_wavelet* w, const lwyi_chunk* c, lwyi_reader* side) {
  const unsigned form = lwyi_get_byte(side);
  unsigned head, active = 0, all = 0, k;
  w->rank = lwyi_max(c->rank, 1);
  w->shape[0] = 1;
  for (k = 0; k < c->rank; ++k) w->shape[k] = c->shape[k];
  for (w->stride[w->rank - 1] = 1, k = (unsigned)w->rank - 1; k-- > 0;)
    w->stride[k] = w->stride[k + 1] * w->shape[k + 1];
  w->is_wide = form & 1, w->has_repairs = form >> 1 & 1, w->ends_repairs = form >> 2 & 1;
  w->step = lwyi_get_double(side);
  w->middle = lwyi_get_double(side);
  w->low = lwyi_get(side, c->bytes);
  w->high = lwyi_get(side, c->bytes);
  head = lwyi_get_byte(side);
  w->filter = head & 1, w->order = head >> 1;
  for (k = 0; k < w->rank; ++k) {
    w->depth[k] = (uint8_t)lwyi_get_byte(side);
    if (w->depth[k] == 0) continue;
    if (w->depth[k] > LWYI_MOST_DEPTH || lwyi_halved(w->shape[k], w->depth[k] - 1u) < 2) return 0;
    all |= 1u << k;
    ++active;
  }
  if (side->failed || form > 3 || (w->ends_repairs && !w->has_repairs) || w->order > 2 ||
      active > LWYI_MOST_ACTIVE || !(w->step > 0 && w->step <= DBL_MAX) ||
      !(fabs(w->middle) <= DBL_MAX) ||
      !(lwyi_number(c->dtype, w->low) <= lwyi_number(c->dtype, w->high)))
    return 0;
  for (k = 0; k < w->rank && all; ++k) { /* axes that are halved alone */
    if (!(all >> k & 1) || w->groups == (w->order == 0 ? 0 : w->order == 1 ? 1 : active)) continue;
    w->group[w->groups++] = 1u << k;
    all &= ~(1u << k);
  }
  if (all) w->group[w->groups++] = all;
  return 1;
}

/* The parts that a group of axes falls into, from coarse to fine; NULL to count them. */
static size_t lwyi_split_group(const lwyi_wavelet* w, unsigned group, lwyi_band* parts) {
  unsigned deepest = 0, level, bits, set, k;
  size_t count = 1;
  for (k = 0; k < w->rank; ++k)
    if (group >> k & 1 && w->depth[k] > deepest) deepest = w->depth[k];
  for (k = 0; parts && k < w->rank; ++k)
    if (group >> k & 1) parts->depth[k] = w->depth[k];
  for (level = deepest; level-- > 0;)
    for (bits = 1; bits <= LWYI_MOST_ACTIVE; ++bits)
      for (set = 1; set < 1u << w->rank; ++set) {
        int fits = (set & ~group) == 0 && lwyi_popcount(set) == bits;
        for (k = 0; k < w->rank; ++k) fits = fits && (!(set >> k & 1) || level < w->depth[k]);
        if (!fits) continue;
        for (k = 0; parts && k < w->rank && k < LWY_MAX_RANK; ++k)
          if (group >> k & 1)
            parts[count].depth[k] = (uint8_t)lwyi_min(level + 1, w->depth[k]);
        if (parts) parts[count].high = set;
        ++count;
      }
  return count;
}

static unsigned lwyi_sum_of_depths(const lwyi_wavelet* w, const lwyi_band* band) {
  unsigned sum = 0, k;
  for (k = 0; k < w->rank; ++k) sum += band->depth[k];
  return sum;
}

static void lwyi_measure_band(const lwyi_wavelet* w, lwyi_band* band) {
  static const double norms[2][2][LWYI_MOST_DEPTH] = {
      {{1.30613692, 1.84044288, 2.60255324, 3.68055962, 5.20509717, 7.36111901, 10.4101943,
        14.722238, 20.8203887, 29.444476, 41.6407773, 58.8889521},
       {0.791282589, 0.973918714, 1.36804604, 1.9343962, 2.73564039, 3.86877951, 5.47128045,
        7.73755901, 10.9425609, 15.475118, 21.8851218, 30.950236}},
      {{1.32111041, 1.86578884, 2.63859679, 3.73153911, 5.27719321, 7.46307821, 10.5543864,
        14.9261564, 21.1087728, 29.8523128, 42.2175457, 59.7046257},
       {0.78039109, 0.978735738, 1.38065465, 1.95250333, 2.76125634, 3.90500617, 5.52251269,
        7.81001234, 11.0450254, 15.6200247, 22.0900507, 31.2400494}}};
  unsigned k;
  band->norm = 1;
  band->size = 1;
  band->level = 2;
  for (k = 0; k < w->rank; ++k) {
    const unsigned depth = band->depth[k], is_high = band->high >> k & 1;
    const size_t means = lwyi_halved(w->shape[k], depth);
    band->first[k] = is_high ? means : 0;
    band->extents[k] = is_high ? lwyi_halved(w->shape[k], depth - 1) - means : means;
    band->size *= band->extents[k];
    if (depth > 0) band->norm *= norms[w->filter][is_high][depth - 1];
    if (is_high && depth - 1 < band->level) band->level = depth - 1;
  }
}

/* Coarser bands over the same place, of the last groups of axes. */
static void lwyi_find_parents(lwyi_wavelet* w, lwyi_band* band) {
  unsigned g, k;
  size_t b;
  for (g = w->groups; g-- > 0 && band->parents < 2;) {
    const unsigned group = w->group[g];
    uint8_t coarser[LWY_MAX_RANK];
    unsigned level = 0;
    int fits = (band->high & group) != 0;
    memcpy(coarser, band->depth, sizeof coarser);
    for (k = 0; k < w->rank; ++k)
      if (group >> k & 1 && band->depth[k] > level) level = band->depth[k];
    for (k = 0; k < w->rank; ++k)
      if (group >> k & 1) {
        coarser[k] = (uint8_t)lwyi_min(level + 1, w->depth[k]);
        fits = fits && (!(band->high >> k & 1) || coarser[k] > band->depth[k]);
      }
    for (b = 1; fits && b < w->count && &w->bands[b] != band; ++b) {
      if (w->bands[b].high != band->high || memcmp(w->bands[b].depth, coarser, sizeof coarser))
        continue;
      for (k = 0; k < w->rank; ++k)
        band->shift[band->parents][k] = (uint8_t)(coarser[k] - band->depth[k]);
      band->parent[band->parents++] = b;
      break;
    }
  }
}

/* All combinations of a part of each group, from coarse to fine. */
static int lwyi_find_bands(lwyi_wavelet* w, lwyi_pool* pool) {
  lwyi_band *all = (lwyi_band*)lwyi_take(pool, 1, sizeof *all), *next;
  size_t count = 1, more, i, j, b;
  unsigned g, k, sum, deepest = 0;
  if (!all) return 0;
  for (g = 0; g < w->groups; ++g) {
    lwyi_band* parts;
    more = lwyi_split_group(w, w->group[g], NULL);
    parts = (lwyi_band*)lwyi_take(pool, more, sizeof *parts);
    next = (lwyi_band*)lwyi_take(pool, count * more, sizeof *next);
    if (!parts || !next) return 0;
    lwyi_split_group(w, w->group[g], parts);
    for (i = 0; i < count; ++i)
      for (j = 0; j < more; ++j) {
        next[i * more + j] = all[i];
        next[i * more + j].high |= parts[j].high;
        for (k = 0; k < w->rank; ++k) next[i * more + j].depth[k] |= parts[j].depth[k];
      }
    all = next;
    count *= more;
  }
  w->bands = (lwyi_band*)lwyi_take(pool, count, sizeof *w->bands);
  if (!w->bands) return 0;
  for (k = 0; k < w->rank; ++k) deepest += w->depth[k];
  for (sum = deepest + 1; sum-- > 0;)
    for (i = 0; i < count; ++i) {
      if (lwyi_sum_of_depths(w, &all[i]) != sum) continue;
      lwyi_measure_band(w, &all[i]);
      if (all[i].size > 0) w->bands[w->count++] = all[i];
    }
  for (b = 1; b < w->count; ++b) {
    lwyi_band* band = &w->bands[b];
    band->sizes = (uint8_t*)lwyi_take(pool, band->size, 1);
    if (!band->sizes) return 0;
    lwyi_find_parents(w, band);
    for (i = b; i-- > 1;) {
      if (memcmp(band->depth, w->bands[i].depth, sizeof band->depth)) continue;
      band->siblings = w->bands[i].siblings + 1;
      band->sibling = i;
      break;
    }
  }
  return 1;
}

static int lwyi_read_band_weights(lwyi_wavelet* w, lwyi_reader* side) {
  static const int8_t usual[8] = {19, 0, 19, 12, 8, 8, 19, 1};
  enum { NONE = 1, SENT };
  size_t b;
  unsigned k, level;
  for (b = 1; b < w->count; ++b) {
    const lwyi_band* band = &w->bands[b];
    int* has = &w->has_weights[band->level][band->high];
    if (*has) continue;
    *has = (int)lwyi_get_byte(side) + NONE;
    if (*has > SENT) return 0;
    for (k = 0; *has == SENT && k < 8; ++k)
      w->weights[band->level][band->high][k] = (int8_t)lwyi_sign_extend(lwyi_get_byte(side), 8);
  }
  for (b = 1; b < w->count; ++b) { /* those of a coarser level, or the usual ones */
    const lwyi_band* band = &w->bands[b];
    for (level = band->level; level < 3; ++level)
      if (w->has_weights[level][band->high] == SENT) break;
    if (level > band->level)
      memcpy(w->weights[band->level][band->high], level < 3 ? w->weights[level][band->high] : usual,
             sizeof usual);
  }
  return !side->failed;
}

/* The row of a band at these coordinates, which are moved into it, `step` rows on along the second
 * last axis. */
static const uint8_t* lwyi_size_row(const lwyi_wavelet* w, const lwyi_band* band,
                                    const size_t* index, int step) {
  size_t place = 0, k;
  for (k = 0; k + 1 < w->rank; ++k) {
    size_t i = lwyi_min(index[k], band->extents[k] - 1);
    if (k + 2 == w->rank && step < 0 && i > 0) --i;
    if (k + 2 == w->rank && step > 0 && i + 1 < band->extents[k]) ++i;
    place = place * band->extents[k] + i;
  }
  return band->sizes + place * band->extents[w->rank - 1];
}

/* Adds `weight` times the crosses of a row, or puts them into `sums` if it is 0. */
static void lwyi_add_crosses(const lwyi_wavelet* w, const lwyi_band* band, const size_t* index,
                             size_t first, size_t count, unsigned shift, int weight, int32_t* sums) {
  const uint8_t *same = lwyi_size_row(w, band, index, 0), *up = lwyi_size_row(w, band, index, -1),
                *down = lwyi_size_row(w, band, index, 1);
  const size_t last = band->extents[w->rank - 1] - 1;
  size_t i;
  for (i = 0; i < count; ++i) {
    const size_t x = lwyi_min((first + i) >> shift, last);
    const int cross =
        4 * same[x] + same[x > 0 ? x - 1 : 0] + same[lwyi_min(x + 1, last)] + up[x] + down[x];
    sums[i] += weight * cross;
  }
}

/* What is known about the sizes of a run, and thereby its contexts. */
static void lwyi_wavelet_contexts(const lwyi_wavelet* w, size_t b, const size_t* index,
                                  size_t first, size_t count, uint8_t* contexts) {
  const lwyi_band* band = &w->bands[b];
  const int8_t* weights = w->weights[band->level][band->high];
  const size_t rank = w->rank, last = band->extents[rank - 1] - 1;
  int32_t sums[LWYI_MOST_CODES], near[LWYI_MOST_CODES];
  size_t before[LWY_MAX_RANK], above[LWY_MAX_RANK], i, k, p;
  for (i = 0; i < count; ++i) sums[i] = 64 * weights[7];
  if (rank >= 2 && index[rank - 2] > 0) {
    const uint8_t* row = lwyi_size_row(w, band, index, -1);
    const uint8_t* two = index[rank - 2] > 1 ? row - band->extents[rank - 1] : NULL;
    for (i = 0; i < count; ++i) {
      const size_t x = first + i;
      sums[i] += weights[0] *
                 (4 * row[x] + 2 * (row[x > 0 ? x - 1 : 0] + row[lwyi_min(x + 1, last)]));
      if (two) sums[i] += weights[1] * 8 * two[x];
    }
  }
  for (k = 3; k <= 4; ++k) {
    if (rank < k || index[rank - k] == 0) continue;
    memcpy(before, index, rank * sizeof *before);
    --before[rank - k];
    lwyi_add_crosses(w, band, before, first, count, 0, weights[k - 1], sums);
  }
  for (p = 0; p < band->parents; ++p) {
    for (k = 0; k < rank; ++k) above[k] = index[k] >> band->shift[p][k];
    lwyi_add_crosses(w, &w->bands[band->parent[p]], above, first, count, band->shift[p][rank - 1],
                     weights[4 + p], sums);
  }
  if (band->siblings > 0) {
    const int32_t n = (int32_t)band->siblings;
    memset(near, 0, sizeof near);
    for (p = band->sibling; p > 0; p = w->bands[p].sibling)
      lwyi_add_crosses(w, &w->bands[p], index, first, count, 0, 1, near);
    for (i = 0; i < count; ++i)
      sums[i] += weights[6] * (n == 1 ? near[i] : near[i] * (65536 / n) >> 16);
  }
  for (i = 0; i < count; ++i) {
    const float expected = (float)(sums[i] < 4 ? 4 : sums[i]);
    const uint32_t octave = (lwyi_bits_of_float(expected) >> 22) - (0x40800000u >> 22);
    contexts[i] = (uint8_t)(64 * band->level + (lwyi_popcount(band->high) > 1 ? 32 : 0) +
                            (octave < 31 ? octave : 31));
  }
}

/* A value of the array, from what the transform gives. */
static uint64_t lwyi_value_of(const lwyi_wavelet* w, int dtype, double relative) {
  const double v = relative + w->middle, high = lwyi_number(dtype, w->high);
  uint64_t whole;
  if (!(v > lwyi_number(dtype, w->low))) return w->low;
  if (!(v < high)) return w->high;
  if (lwyi_is_float(dtype)) return lwyi_bits_of(dtype, v);
  whole = lwyi_rounded(dtype, v);
  return lwyi_number(dtype, whole) < high ? whole : w->high;
}

/* A correction of so many steps. */
static uint64_t lwyi_repaired(const lwyi_wavelet* w, const lwyi_chunk* c, uint64_t bits,
                              int64_t code) {
  const int dtype = c->dtype;
  if (lwyi_is_float(dtype)) {
    const double step = 2 * c->bound * (1 - lwyi_power(-12));
    bits = lwyi_bits_of(dtype, lwyi_number(dtype, bits) + (double)code * step);
    if (!w->ends_repairs) return bits;
    if (lwyi_number(dtype, bits) < lwyi_number(dtype, w->low)) return w->low;
    return lwyi_number(dtype, bits) > lwyi_number(dtype, w->high) ? w->high : bits;
  } else {
    const unsigned width = 8 * c->bytes;
    const uint64_t step =
        c->bound < lwyi_power(60) ? 2 * (uint64_t)c->bound + 1 : (uint64_t)1 << 61;
    const uint64_t mask = width < 64 ? ((uint64_t)1 << width) - 1 : ~(uint64_t)0;
    uint64_t low = w->low, high = w->high;
    bits = (bits + (uint64_t)code * step) & mask;
    if (!w->ends_repairs) return bits;
    if (lwyi_is_signed(dtype)) {
      low = (uint64_t)lwyi_sign_extend(low, width);
      high = (uint64_t)lwyi_sign_extend(high, width);
      bits = (uint64_t)lwyi_sign_extend(bits, width);
    }
    return lwyi_is_less(dtype, bits, low) ? w->low : lwyi_is_less(dtype, high, bits) ? w->high : bits;
  }
}

/* ================================================================================================
 * Encoders, quantizers and predictors: compiled for float with codes of up to 32 bits, and for
 * double. The text is at the end of this file.
 * ================================================================================================
 */

#define LWYI_JOIN_(a, b) a##b
#define LWYI_JOIN(a, b) LWYI_JOIN_(a, b)
#define LWYI(name) LWYI_JOIN(lwyi_##name, LWYI_SUFFIX)
#define LWYI_SOURCE LWYI(source)
#define LWYI_INTERPOLATION LWYI(interpolation)
#define LWYI_SQUARES LWYI(squares)
#define LWYI_MEMORY LWYI(memory)
#define LWYI_WALK LWYI(walk)
#define LWYI_LINE LWYI(line)
#define LWYI_TRANSFORM LWYI(transform)

#define LWYI_SUFFIX _f32
#define LWYI_REAL float
#define LWYI_CODE int32_t
#define LWYI_UNSIGNED uint32_t
#define LWYI_DTYPE LWY_F32
#define LWYI_ABS fabsf
#include LEEWAY_DECODE_FILE
#undef LWYI_SUFFIX
#undef LWYI_REAL
#undef LWYI_CODE
#undef LWYI_UNSIGNED
#undef LWYI_DTYPE
#undef LWYI_ABS

#define LWYI_SUFFIX _f64
#define LWYI_REAL double
#define LWYI_CODE int64_t
#define LWYI_UNSIGNED uint64_t
#define LWYI_DTYPE LWY_F64
#define LWYI_ABS fabs
#include LEEWAY_DECODE_FILE
#undef LWYI_SUFFIX
#undef LWYI_REAL
#undef LWYI_CODE
#undef LWYI_UNSIGNED
#undef LWYI_DTYPE
#undef LWYI_ABS

/* ================================================================================================
 * log: signs and logarithms (log.md)
 * ================================================================================================
 */

static int lwyi_read_plane(lwyi_reader* in, uint8_t* plane,
                           size_t size) { /* a byte for every bit */
  const unsigned kind = lwyi_get_byte(in);
  size_t i = 0;
  uint8_t current = 0;
  memset(plane, 0, size);
  if (in->failed || kind > 2) return 0;
  if (kind == 2) {
    const uint8_t* at = lwyi_get_bytes(in, (size + 7) / 8);
    for (; at && i < size; ++i) plane[i] = at[i / 8] >> (i % 8) & 1;
    return at != NULL && (size % 8 == 0 || at[size / 8] >> (size % 8) == 0);
  }
  for (; kind == 1 && i < size; current ^= 1) {
    const uint64_t run = lwyi_get_varint(in);
    if (in->failed || run > size - i || (run == 0 && i > 0)) return 0;
    memset(plane + i, current, (size_t)run);
    i += (size_t)run;
    if (run == 0 && current) return 0;
  }
  return 1;
}

/* The bound for logarithms; not above 0 if there is none. */
static double lwyi_log_bound(double bound, int dtype) {
  static const int digits[5] = {0, 24, 53, 11, 8};
  const double rounding = lwyi_power(7 - digits[dtype]);
  int exponent, k;
  double m = 2 * lwyi_fraction(1 + (bound < 1e6 ? bound : 1e6), &exponent), s, sum = 0, inner;
  --exponent;
  if (m > 1.4142135623730951) m = m / 2, ++exponent; /* 0x1.6a09e667f3bcdp0 */
  s = (m - 1) / (m + 1);
  for (k = 21; k >= 1; k -= 2) sum = sum * (s * s) + 1.0 / k;
  inner = ((double)exponent + s * sum * 2.8853900817779268) * (1 - lwyi_power(-20)) -
          rounding; /* 0x1.71547652b82fep1 */
  return inner > rounding ? inner : 0;
}

static double lwyi_power_of_two(double y) { /* of |y| < 1100 */
  static const double inverse_factorials[15] = {1,
                                                1,
                                                1.0 / 2,
                                                1.0 / 6,
                                                1.0 / 24,
                                                1.0 / 120,
                                                1.0 / 720,
                                                1.0 / 5040,
                                                1.0 / 40320,
                                                1.0 / 362880,
                                                1.0 / 3628800,
                                                1.0 / 39916800,
                                                1.0 / 479001600,
                                                1.0 / 6227020800.0,
                                                1.0 / 87178291200.0};
  const double magic = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to a whole number */
  const double n = (y + magic) - magic, t = (y - n) * 0.6931471805599453; /* 0x1.62e42fefa39efp-1 */
  const int whole = (int)n;
  double sum = inverse_factorials[14];
  int k;
  for (k = 13; k >= 0; --k) sum = sum * t + inverse_factorials[k];
  return sum * lwyi_power(whole / 2) * lwyi_power(whole - whole / 2);
}

static int lwyi_undo_log(lwyi_chunk* c, lwyi_reader in) {
  lwyi_pool pool = lwyi_new_pool(c->s);
  uint8_t* negative = (uint8_t*)lwyi_take(&pool, c->size, 1);
  uint8_t* apart = (uint8_t*)lwyi_take(&pool, c->size, 1);
  uint8_t* other = (uint8_t*)lwyi_take(&pool, c->size, 1);
  size_t i, count = 0, next = 0;
  int is_well = negative && apart && other && lwyi_read_plane(&in, negative, c->size) &&
                lwyi_read_plane(&in, apart, c->size);
  for (i = 0; is_well && i < c->size; ++i) count += apart[i];
  is_well = is_well && lwyi_read_plane(&in, other, count);
  for (i = 0; is_well && i < c->size; ++i) {
    const double y = lwyi_number(c->dtype, lwyi_bits_at(c->values, c->bytes, i));
    const double power = y > -1100 && y < 1100 ? lwyi_power_of_two(y) : 0;
    uint64_t bits = lwyi_bits_of(c->dtype, negative[i] ? -power : power);
    if (apart[i]) bits = other[next++] ? lwyi_get(&in, c->bytes) : 0;
    lwyi_put_bits(c->values, c->bytes, i, bits);
  }
  lwyi_free_pool(&pool);
  return (is_well && lwyi_is_used_up(&in)) || lwyi_corrupt(c->s, "damaged signs of logarithms");
}

/* ================================================================================================
 * Payloads of chunks (FORMAT.md, "Payload", "Body")
 * ================================================================================================
 */

static void lwyi_set_shape(lwyi_chunk* c, size_t rank,
                           const size_t* extents) { /* without axes of extent 1 */
  size_t k;
  for (c->rank = 0, c->size = 1, k = 0; k < rank; ++k)
    if (extents[k] != 1) c->shape[c->rank++] = extents[k];
  for (k = c->rank; k-- > 0; c->size *= c->shape[k]) c->stride[k] = c->size;
}

static int lwyi_can_be_narrow(const lwyi_chunk* c) {
  const lwyi_recipe* r = c->recipe;
  if ((c->dtype != LWY_F32 && c->dtype != LWY_F64) || r->preprocessors > 0 ||
      r->quantizer != LWYI_LINEAR || r->predicts_first || r->encoder == LWYI_RANS ||
      r->encoder == LWYI_RAW || r->encoder == LWYI_NONE)
    return 0;
  if (r->predictor == LWYI_LORENZO)
    return r->parameter[LWYI_ORDER] == 1 && (c->rank < 4 || r->parameter[LWYI_AXES] < 4);
  return r->predictor == LWYI_NONE || r->parameter[LWYI_AXES] == 1 || c->rank < 2;
}

/* What the lossless stages packed. */
static int lwyi_undo_lossless(lwyi_chunk* c, lwyi_pool* pool, lwyi_reader* body) {
  const uint64_t code_bytes = c->bytes == 8 ? 8 : 4,
                 limit = 2 * (uint64_t)c->size * (c->bytes + code_bytes) + 65536;
  int i;
  for (i = c->recipe->lossless; i-- > 0;)
    if (c->recipe->lossless_id[i] == LWYI_ZSTD && !lwyi_unpack(pool, *body, limit, body)) return 0;
  return 1;
}

static int lwyi_decode_sections(lwyi_chunk* c, lwyi_pool* pool, lwyi_reader body, int is_narrow) {
  const uint64_t limit = 2 * (uint64_t)c->size * (c->bytes + (c->bytes == 8 ? 8 : 4)) + 65536;
  lwyi_patches special, exact;
  const lwyi_chunk outer = *c; /* its shape */
  lwyi_reader sides[4], notes, side;
  int i, is_wide = c->dtype == LWY_F64 || (!lwyi_is_float(c->dtype) && c->bytes >= 4), is_well;
  if (!lwyi_undo_lossless(c, pool, &body)) return 0;
  if (!lwyi_read_patches(c, pool, lwyi_get_section(&body), &special)) return 0;
  for (i = 0; i < c->recipe->preprocessors; ++i) {
    sides[i] = lwyi_get_section(&body);
    c->bound = lwyi_log_bound(c->bound, c->dtype);
    if (!(c->bound > 0)) return lwyi_corrupt(c->s, "a coded chunk without a bound");
  }
  side = notes = lwyi_get_section(&body);
  if (lwyi_left(&notes) > 0 && !lwyi_unpack(pool, notes, limit, &side)) return 0;
  if (!lwyi_read_patches(c, pool, lwyi_get_section(&body), &exact)) return 0;
  if (body.failed) return lwyi_corrupt(c->s, "a chunk ends too early");
  if (is_narrow && (special.count > 0 || exact.count > 0))
    return lwyi_corrupt(c->s, "narrow codes beside other values");
  c->width = is_narrow ? 16 : c->bytes == 8 ? 64 : 32;
  if (c->recipe->predictor == LWYI_WAVELET) is_wide = c->bytes == 8 || (lwyi_left(&side) > 0 && *side.at & 1);
  if (c->recipe->preprocessors > 0) c->has_box = 0;
  is_well = is_wide ? lwyi_decode_values_f64(c, pool, &body, &side, &exact)
                    : lwyi_decode_values_f32(c, pool, &body, &side, &exact);
  if (!is_well) return 0;
  if (!lwyi_is_used_up(&side) || !lwyi_is_used_up(&body))
    return lwyi_corrupt(c->s, "bytes left over in a chunk");
  lwyi_set_shape(c, outer.rank, outer.shape);
  for (i = c->recipe->preprocessors; i-- > 0;)
    if (c->recipe->preprocessor_id[i] == LWYI_LOG && !lwyi_undo_log(c, sides[i])) return 0;
  lwyi_apply_patches(c, &special);
  return 1;
}

static int lwyi_decode_body(lwyi_chunk* c, lwyi_reader body, int is_narrow) {
  lwyi_pool pool = lwyi_new_pool(c->s);
  int is_well;
  if (is_narrow && !lwyi_can_be_narrow(c))
    return lwyi_corrupt(c->s, "narrow codes where there are none");
  is_well = lwyi_check_recipe(c->s, c->recipe, c->dtype) &&
            lwyi_decode_sections(c, &pool, body, is_narrow);
  lwyi_free_pool(&pool);
  return is_well;
}

enum {
  LWYI_CONSTANT,
  LWYI_CODED,
  LWYI_WITHOUT_LOSS,
  LWYI_STORED,
  LWYI_LEVELS,
  LWYI_TIGHTENED,
  LWYI_NARROW,
  LWYI_LAYERED,
  LWYI_ALTERNATIVE
};

/* Passes over what says that a payload is not by the first alternative of the recipe, and finds the
 * text of the one it is by. Says 0 if there is no such alternative. */
static int lwyi_find_alternative(lwyi_reader* in, lwyi_text* recipe) {
  lwyi_text rest = *recipe;
  unsigned number = 0;
  *recipe = lwyi_cut(&rest, '|');
  if (lwyi_left(in) == 0 || *in->at != LWYI_ALTERNATIVE) return 1;
  lwyi_get_byte(in);
  number = lwyi_get_byte(in);
  if (number < 1 || number > 7 || lwyi_left(in) == 0 || *in->at == LWYI_CONSTANT ||
      *in->at == LWYI_WITHOUT_LOSS || *in->at == LWYI_STORED)
    return 0;
  for (; number > 0; --number) {
    if (rest.size == 0) return 0;
    *recipe = lwyi_cut(&rest, '|');
  }
  return 1;
}

/* Passes over the table of levels; says 0 if it is not one. */
static unsigned lwyi_skip_level_table(lwyi_reader* in) {
  const unsigned entries = lwyi_get_byte(in);
  return entries >= 1 && entries <= 4 && lwyi_get_bytes(in, 12 * entries) ? entries : 0;
}

/* A payload of any kind but layers, for all values of a chunk or a layer. */
static int lwyi_decode_plain(lwyi_chunk* c, lwyi_reader in, const char* recipe) {
  lwyi_text text = lwyi_text_of(recipe);
  const int is_there = lwyi_find_alternative(&in, &text);
  const unsigned kind = lwyi_get_byte(&in);
  lwyi_recipe parsed;
  size_t i;
  if (!is_there) return lwyi_corrupt(c->s, "an alternative that does not exist");
  if (in.failed) return lwyi_corrupt(c->s, "an empty chunk");
  if (kind == LWYI_CONSTANT) {
    const uint64_t bits = lwyi_get(&in, c->bytes);
    if (!lwyi_is_used_up(&in)) return lwyi_corrupt(c->s, "a constant chunk of a wrong size");
    for (i = 0; i < c->size; ++i) lwyi_put_bits(c->values, c->bytes, i, bits);
    return 1;
  }
  if (kind == LWYI_STORED) {
    if (lwyi_left(&in) != c->size * c->bytes)
      return lwyi_corrupt(c->s, "a stored chunk of a wrong size");
    memcpy(c->values, in.at, c->size * c->bytes);
    lwyi_swap_if_big_endian(c->values, c->bytes, c->size);
    return 1;
  }
  if (kind >= LWYI_LAYERED) return lwyi_corrupt(c->s, "an unknown kind of chunk");
  if (kind == LWYI_WITHOUT_LOSS) text = lwyi_text_of("exact+lorenzo+huffman+zstd");
  if (!lwyi_parse_recipe(c->s, text, &parsed)) return 0;
  c->recipe = &parsed;
  if (kind == LWYI_LEVELS && lwyi_skip_level_table(&in) == 0)
    return lwyi_corrupt(c->s, "a wrong number of levels");
  if (kind == LWYI_TIGHTENED) {
    const unsigned halvings = lwyi_get_byte(&in);
    if (halvings < 1 || halvings > 3) return lwyi_corrupt(c->s, "a bound made too small");
    c->bound *= lwyi_power(-(int)halvings);
  }
  if (kind != LWYI_LEVELS) c->last_level = 0;
  if (kind == LWYI_WITHOUT_LOSS)
    c->bound = 0;
  else if (!(c->bound > 0) && c->recipe->quantizer != LWYI_EXACT &&
           c->recipe->quantizer != LWYI_NONE)
    return lwyi_corrupt(c->s, "a coded chunk without a bound");
  return lwyi_decode_body(c, in, kind == LWYI_NARROW);
}

/* What a layer covers (FORMAT.md, "Layers"). */
typedef struct lwyi_layer {
  size_t first[LWY_MAX_RANK], extents[LWY_MAX_RANK], size;
  unsigned covers;
  lwyi_reader marks;
  size_t marked;
} lwyi_layer;

static int lwyi_is_marked(const lwyi_layer* layer, size_t i) {
  return layer->covers == 0 || (layer->marks.at[i / 8] >> (i % 8) & 1);
}

static int lwyi_read_layer(const lwyi_chunk* c, lwyi_pool* pool, lwyi_reader* in,
                           lwyi_layer* layer) {
  size_t k;
  layer->size = 1;
  for (k = 0; k < c->rank; ++k) {
    const uint64_t first = lwyi_get_varint(in), extent = lwyi_get_varint(in);
    if (in->failed || first >= c->shape[k] || extent == 0 || extent > c->shape[k] - first)
      return lwyi_corrupt(c->s, "a layer outside its chunk");
    layer->first[k] = (size_t)first;
    layer->extents[k] = (size_t)extent;
    layer->size *= (size_t)extent;
  }
  layer->covers = lwyi_get_byte(in);
  layer->marked = layer->size;
  if (in->failed || layer->covers > 2) return lwyi_corrupt(c->s, "a layer of an unknown kind");
  if (layer->covers == 0) return 1;
  if (!lwyi_unpack(pool, lwyi_get_section(in), (layer->size + 7) / 8, &layer->marks)) return 0;
  if (lwyi_left(&layer->marks) != (layer->size + 7) / 8 ||
      (layer->size % 8 && layer->marks.at[layer->size / 8] >> (layer->size % 8)))
    return lwyi_corrupt(c->s, "the marks of a layer do not fit it");
  for (layer->marked = 0, k = 0; k < layer->size; ++k)
    layer->marked += (size_t)lwyi_is_marked(layer, k);
  return layer->marked > 0 || lwyi_corrupt(c->s, "a layer without marks");
}

static int lwyi_lay(const lwyi_chunk* c, lwyi_pool* pool, lwyi_reader* in, const lwyi_layer* layer,
                    const char* recipe) {
  lwyi_chunk over = *c;
  size_t index[LWY_MAX_RANK] = {0}, i = 0, next = 0, k;
  const lwyi_reader payload = lwyi_get_section(in);
  lwyi_set_shape(&over, layer->covers == 2 ? 1 : c->rank,
                 layer->covers == 2 ? &layer->marked : layer->extents);
  over.values = lwyi_take(pool, over.size, c->bytes);
  if (payload.failed) return lwyi_corrupt(c->s, "a layer ends too early");
  if (!over.values || !lwyi_decode_plain(&over, payload, recipe)) return 0;
  do {
    size_t place = 0;
    for (k = 0; k < c->rank; ++k) place += (layer->first[k] + index[k]) * c->stride[k];
    if (lwyi_is_marked(layer, i)) {
      lwyi_put_bits(c->values, c->bytes, place,
                    lwyi_bits_at(over.values, c->bytes, layer->covers == 2 ? next : i));
      ++next;
    }
    ++i;
  } while (lwyi_count_on(index, layer->extents, c->rank));
  return 1;
}

static int lwyi_decode_layers(lwyi_chunk* c, lwyi_reader in, const char* recipe) {
  const lwyi_reader base = lwyi_get_section(&in);
  const uint64_t count = lwyi_get_varint(&in);
  lwyi_chunk whole;
  uint64_t i, values = 0;
  c->has_box = 0;
  c->last_level = 0;
  whole = *c;
  if (in.failed || count < 1 || count > 64) return lwyi_corrupt(c->s, "a wrong number of layers");
  if (!lwyi_decode_plain(c, base, recipe)) return 0;
  for (i = 0; i < count; ++i) {
    lwyi_pool pool = lwyi_new_pool(c->s);
    lwyi_layer layer;
    int is_well = lwyi_read_layer(&whole, &pool, &in, &layer);
    values += layer.size;
    if (is_well && values > 4 * (uint64_t)whole.size)
      is_well = lwyi_corrupt(c->s, "the layers are larger than allowed");
    is_well = is_well && lwyi_lay(&whole, &pool, &in, &layer, recipe);
    lwyi_free_pool(&pool);
    if (!is_well) return 0;
  }
  return lwyi_is_used_up(&in) || lwyi_corrupt(c->s, "bytes left over behind the layers");
}

/* ================================================================================================
 * Header, frames, tail (FORMAT.md), the brief form
 * ================================================================================================
 */

#define LWYI_FRAME_BYTES 64
#define LWYI_TAIL_END_BYTES 24

typedef struct lwyi_frame {
  uint64_t ordinal;
  uint32_t special, exact;
  double bound, max_error;
  uint64_t decoded_hash, payload_hash;
  const uint8_t* payload;
  size_t payload_bytes;
} lwyi_frame;

static int lwyi_is_finite(double x) { return x - x == 0; }

static int lwyi_read_extents(lwy_stream* s, lwyi_reader* in, int* rank, uint64_t* extents) {
  uint64_t size = 1;
  int k;
  *rank = (int)lwyi_get_byte(in);
  if (*rank > LWY_MAX_RANK) return lwyi_corrupt(s, "too many axes");
  for (k = 0; k < *rank; ++k) {
    extents[k] = lwyi_get(in, 8);
    if (extents[k] != 0 && size > (uint64_t)INT64_MAX / 16 / extents[k])
      return lwyi_corrupt(s, "impossible shape");
    size *= extents[k] > 0 ? extents[k] : 1;
  }
  return 1;
}

static int lwyi_read_bounds(lwy_stream* s, lwyi_reader* in) {
  lwy_info* info = &s->info;
  int i;
  info->bounds = (int)lwyi_get_byte(in);
  for (i = 0; i < info->bounds; ++i) {
    const int kind = (int)lwyi_get_byte(in);
    const double value = lwyi_get_double(in);
    if (in->failed) return lwyi_corrupt(s, "the header ends too early");
    if (kind < LWY_ABS || kind > LWY_POINTWISE)
      return lwyi_fail(s, LWY_UNSUPPORTED, "the stream has a kind of bound that is not known");
    if (kind != LWY_LOSSLESS && !(value > 0 && lwyi_is_finite(value)))
      return lwyi_corrupt(s, "impossible bound");
    if (i < 8) info->bound[i].kind = kind, info->bound[i].value = value;
  }
  return 1;
}

static int lwyi_is_pointwise(const lwy_info* info) {
  return info->bounds > 0 && info->bound[0].kind == LWY_POINTWISE;
}

static int lwyi_read_resolved(lwy_stream* s, lwyi_reader* in) {
  lwy_info* info = &s->info;
  info->abs_bound = lwyi_get_double(in);
  info->min = lwyi_get_double(in);
  info->max = lwyi_get_double(in);
  if (!lwyi_is_finite(info->abs_bound) || info->abs_bound < 0 || !lwyi_is_finite(info->min) ||
      !lwyi_is_finite(info->max))
    return lwyi_corrupt(s, "impossible numbers in the header");
  return 1;
}

static int lwyi_set_dtype(lwy_stream* s, int dtype) {
  if (dtype < LWY_F32 || dtype > LWY_U64)
    return lwyi_fail(s, LWY_UNSUPPORTED, "the stream has an element type that is not known");
  s->info.dtype = dtype;
  s->info.value_bytes = lwyi_bytes_of(dtype);
  return 1;
}

static int lwyi_set_recipe(lwy_stream* s, const uint8_t* text, size_t size) {
  if (size == 0 || size > LWY_MAX_RECIPE || memchr(text, 0, size))
    return lwyi_corrupt(s, "an impossible recipe");
  memcpy(s->info.recipe, text, size);
  s->info.recipe[size] = 0;
  return 1;
}

/* The recipes that have numbers. */
static const char* const lwyi_recipes[] = {
    "linear+lorenzo+huffman+zstd",
    "linear+lorenzo:axes=0+pack",
    "pyramid+linear+rans",
    "pyramid:taps=28,every=4,gain=0+linear+rans",
    "exact+lorenzo+huffman+zstd",
    "log+linear+lorenzo+huffman+zstd",
    "log+linear+lorenzo:axes=0+pack",
    "log+pyramid+linear+rans",
    "log+pyramid:taps=28,every=4,gain=0+linear+rans",
    "linear+lorenzo+adaptive+zstd",
    "linear+blocks+fixed:outlier=0,head=4",
    "linear+blocks+fixed",
    "linear+blocks+fixed:outlier=0",
    "ghost+linear:bins=16384+raw+deflate:level=1",
    "lorenzo+linear:bins=65536+huffman+deflate:level=1",
    "lorenzo+linear+huffman+zstd",
    "log+lorenzo+linear+huffman+zstd",
    "linear+pattern:scale=peak+fixed-huffman",
    "linear+pattern:scale=peak+fixed-huffman+zstd",
    "linear:bins=128,beyond=planes+pattern+huffman+zstd",
    "linear+cross+rans",
    "lorenzo+exact+residual",
    "composite+linear+huffman+zstd:level=6",
    "truncate+raw",
    "wavefront+linear:step=pow2,bins=65536+raw+deflate:level=1",
    "wavefront+linear:step=pow2,bins=65536+huffman+deflate:level=1",
    "interp+linear+huffman+zstd",
    "linear+huffman",
    "linear+arithmetic",
    "transpose+linear:step=pow2+arithmetic",
    "wavefront+linear:step=pow2,bins=65536,second=0+raw+deflate:level=1",
    "pyramid:taps=0+linear:range=1+rans|linear:range=1+lorenzo+rans|"
    "interp+linear:range=1+huffman+zstd:level=6|linear:range=1+lorenzo:axes=0+pack",
    "pyramid+linear:range=1+rans|pyramid:taps=0+linear:range=1+rans|"
    "linear:range=1+lorenzo+rans|interp+linear:range=1+huffman+zstd:level=6|"
    "linear:range=1+lorenzo:axes=0+pack",
    "pyramid:taps=28,every=4,gain=0+linear:range=1+rans|pyramid+linear:range=1+rans|"
    "pyramid:taps=0+linear:range=1+rans|linear:range=1+lorenzo+rans|"
    "interp+linear:range=1+huffman+zstd:level=6|linear:range=1+lorenzo:axes=0+pack",
    "log+pyramid:taps=0+linear:range=1+rans|log+linear:range=1+lorenzo+rans|"
    "log+interp+linear:range=1+huffman+zstd:level=6|log+linear:range=1+lorenzo:axes=0+pack",
    "log+pyramid+linear:range=1+rans|log+pyramid:taps=0+linear:range=1+rans|"
    "log+linear:range=1+lorenzo+rans|log+interp+linear:range=1+huffman+zstd:level=6|"
    "log+linear:range=1+lorenzo:axes=0+pack",
    "log+pyramid:taps=28,every=4,gain=0+linear:range=1+rans|log+pyramid+linear:range=1+rans|"
    "log+pyramid:taps=0+linear:range=1+rans|log+linear:range=1+lorenzo+rans|"
    "log+interp+linear:range=1+huffman+zstd:level=6|log+linear:range=1+lorenzo:axes=0+pack",
    "wavelet+linear+rans",
    "ghost:through=decoded+linear:bins=2+raw+gzip:level=1",
    "interp+linear+huffman+zstd|composite+linear+huffman+zstd:level=6",
    "linear:bins=128,beyond=planes+pattern+fixed-huffman+zstd",
    "transpose:order=231+lorenzo:axes=1+linear:bins=128,beyond=planes+fixed-huffman",
};
#define LWYI_RECIPES (sizeof lwyi_recipes / sizeof *lwyi_recipes)

/* A recipe by its number. */
static int lwyi_set_numbered_recipe(lwy_stream* s, size_t number) {
  if (number >= LWYI_RECIPES)
    return lwyi_fail(s, LWY_UNSUPPORTED, "the stream has the number of a recipe that is not known");
  return lwyi_set_recipe(s, (const uint8_t*)lwyi_recipes[number], strlen(lwyi_recipes[number]));
}

static int lwyi_are_zeros(const uint8_t* bytes, uint64_t count) {
  for (; count > 0; --count)
    if (*bytes++ != 0) return 0;
  return 1;
}

static int lwyi_read_header_field(lwy_stream* s, unsigned tag, lwyi_reader* in, int* chunk_rank) {
  lwy_info* info = &s->info;
  int is_well = 1;
  switch (tag) {
    case 1:
      is_well = lwyi_set_dtype(s, (int)lwyi_get_byte(in)) &&
                lwyi_read_extents(s, in, &info->rank, info->shape);
      break;
    case 2:
      is_well = lwyi_read_extents(s, in, chunk_rank, info->chunk);
      break;
    case 3:
      is_well = lwyi_read_bounds(s, in);
      break;
    case 4:
      is_well = lwyi_read_resolved(s, in);
      break;
    case 5:
      is_well = lwyi_left(in) == 1 ? lwyi_set_numbered_recipe(s, *in->at)
                                   : lwyi_set_recipe(s, in->at, lwyi_left(in));
      in->at = in->end;
      break;
    case 6:
      for (; lwyi_left(in) > 0 && !in->failed; ++info->fills) {
        const uint64_t bits = lwyi_get(in, 8);
        if (info->fills == LWY_MAX_FILLS) return lwyi_corrupt(s, "too many fill values");
        info->fill[info->fills] = bits;
      }
      break;
    case 8:
      s->is_growing = 1;
      if (lwyi_get_byte(in) != 0) return lwyi_corrupt(s, "arrays grow along their first axis");
      break;
    default:
      break;
  }
  return is_well && (lwyi_is_used_up(in) || lwyi_corrupt(s, "a header field of a wrong size"));
}

/* What follows from the extents of array and chunks. */
static int lwyi_find_grid(lwy_stream* s, int chunk_rank) {
  lwy_info* info = &s->info;
  uint64_t chunk_size = 1;
  int k;
  if (chunk_rank != info->rank) return lwyi_corrupt(s, "chunk and array differ in rank");
  info->chunks = info->values = 1;
  for (k = 0; k < info->rank; ++k) {
    const uint64_t n = info->shape[k], c = info->chunk[k];
    if (c < 1 || (c > (n > 1 ? n : 1) && (k > 0 || !s->is_growing))) return lwyi_corrupt(s, "impossible chunk shape");
    info->grid[k] = n / c + (n % c > 0);
    info->chunks *= info->grid[k];
    info->values *= n;
    chunk_size *= c;
  }
  if (chunk_size > (uint64_t)1 << 24) return lwyi_corrupt(s, "chunks are too large");
  info->bytes = info->values * info->value_bytes;
  return 1;
}

/* Regions say where bounds are smaller; frames have what is in force. */
static int lwyi_check_regions(lwy_stream* s, lwyi_reader* in) {
  const double most = lwyi_power(24) + 64.0 * (double)s->info.values;
  double all = 0;
  while (lwyi_left(in) > 0) {
    uint64_t extents[LWY_MAX_RANK];
    double bound, values = 1;
    int rank, k;
    if (!lwyi_read_extents(s, in, &rank, extents)) return 0;
    if (rank != s->info.rank) return lwyi_corrupt(s, "a region outside the array");
    for (k = 0; k < rank; ++k) {
      const uint64_t first = lwyi_get(in, 8);
      if (first > s->info.shape[k] || extents[k] > s->info.shape[k] - first)
        return lwyi_corrupt(s, "a region outside the array");
      values *= (double)extents[k];
    }
    bound = lwyi_get_double(in);
    all += values;
    if (in->failed || !lwyi_is_finite(bound) || bound < 0)
      return lwyi_corrupt(s, "an impossible region");
    if (all > most) return lwyi_corrupt(s, "the regions overlap too much");
  }
  return 1;
}

/* Leaves in *end where the header ends. */
static int lwyi_read_header(lwy_stream* s, size_t* end) {
  static const uint8_t magic[8] = {0x89, 'L', 'W', 'Y', 0x0d, 0x0a, 0x1a, 0x0a};
  lwyi_reader in = lwyi_read(s->bytes, s->size), regions = lwyi_read(s->bytes, 0), fields;
  const uint8_t *begin = lwyi_get_bytes(&in, 8), *body;
  unsigned seen = 0;
  int chunk_rank = -1;
  uint64_t size, version;
  if (!begin || memcmp(begin, magic, 8) != 0) return lwyi_corrupt(s, "this is not a leeway stream");
  version = lwyi_get(&in, 4); /* and a reserved field */
  if (!in.failed && version != 1)
    return lwyi_fail(s, LWY_UNSUPPORTED, "the stream has another version of the format");
  size = lwyi_get(&in, 4);
  body = lwyi_get_bytes(&in, size);
  if (!body) return lwyi_corrupt(s, "the header ends too early");
  if (!lwyi_is_hash(lwyi_get(&in, 8), s->bytes, 16 + (size_t)size) || in.failed)
    return lwyi_corrupt(s, "the header's checksum differs");
  *end = 24 + (size_t)size;
  if (*end % 16 != 0) return lwyi_corrupt(s, "the header does not end at a multiple of 16");
  fields = lwyi_read(body, (size_t)size);
  while (lwyi_left(&fields) >= 16 || !lwyi_are_zeros(fields.at, lwyi_left(&fields))) {
    const unsigned tag = (unsigned)lwyi_get(&fields, 2), reserved = (unsigned)lwyi_get(&fields, 2),
                   number = tag & 0x7fff;
    const uint64_t bytes = lwyi_get(&fields, 4);
    const uint8_t* at = lwyi_get_bytes(&fields, bytes);
    lwyi_reader content;
    if (!at) return lwyi_corrupt(s, "a header field ends too early");
    content = lwyi_read(at, (size_t)bytes);
    if (reserved != 0 || (number - 1 > 7 && tag & 0x8000))
      return lwyi_fail(s, LWY_UNSUPPORTED, "the stream needs a feature that is not known");
    if (number - 1 > 7) continue;
    if (seen >> number & 1) return lwyi_corrupt(s, "a header field stands twice");
    seen |= 1u << number;
    if (number == 7)
      regions = content;
    else if (!lwyi_read_header_field(s, number, &content, &chunk_rank))
      return 0;
  }
  if ((seen & 0x3e) != 0x3e) return lwyi_corrupt(s, "a header field is missing");
  s->header_hash = lwyi_load64(s->bytes + *end - 8);
  if (s->is_growing && (s->info.rank == 0 || s->info.shape[0] != 0))
    return lwyi_corrupt(s, "the header states how far a growing array reaches");
  return lwyi_find_grid(s, chunk_rank) && lwyi_check_regions(s, &regions);
}

/* The bytes of a frame: head, payload, zeros up to the next multiple of 16. */
static uint64_t lwyi_frame_bytes(uint64_t payload_bytes) {
  return (LWYI_FRAME_BYTES + payload_bytes + 15) / 16 * 16;
}

/* The frame that begins at `at`; says 0, without an error, if there is none or it does not end
 * before `end`. */
static int lwyi_is_frame(const lwy_stream* s, uint64_t at, uint64_t end, lwyi_frame* frame) {
  lwyi_reader in;
  const uint8_t* head;
  if (at > end || end - at < LWYI_FRAME_BYTES) return 0;
  head = s->bytes + (size_t)at;
  if (memcmp(head, "LWYc", 4) != 0 || !lwyi_is_hash(lwyi_load64(head + 56), head, 56)) return 0;
  in = lwyi_read(head + 4, 52);
  frame->payload_bytes = (size_t)lwyi_get(&in, 4);
  frame->ordinal = lwyi_get(&in, 8);
  frame->special = (uint32_t)lwyi_get(&in, 4);
  frame->exact = (uint32_t)lwyi_get(&in, 4);
  frame->bound = lwyi_get_double(&in);
  frame->max_error = lwyi_get_double(&in);
  frame->decoded_hash = lwyi_get(&in, 8);
  frame->payload_hash = lwyi_get(&in, 8);
  frame->payload = head + LWYI_FRAME_BYTES;
  if (lwyi_frame_bytes(frame->payload_bytes) > end - at) return 0;
  return lwyi_are_zeros(
             frame->payload + frame->payload_bytes,
             lwyi_frame_bytes(frame->payload_bytes) - LWYI_FRAME_BYTES - frame->payload_bytes) &&
         lwyi_is_finite(frame->bound) && frame->bound >= 0 && lwyi_is_finite(frame->max_error) &&
         frame->max_error >= 0;
}

/* The bytes of the list of rooms in the tail, with the zeros behind it. */
static uint64_t lwyi_rooms_bytes(uint64_t chunks) { return (4 * chunks + 15) / 16 * 16; }

/* Reads a tail up to the number of chunks; says 0 if it is none of this stream. */
static int lwyi_begin_tail(const lwy_stream* s, lwyi_reader* in, uint64_t* extent,
                           uint64_t* chunks) {
  const uint8_t* magic = lwyi_get_bytes(in, 8);
  uint64_t expected = s->info.chunks;
  int k;
  *extent = s->info.rank > 0 ? s->info.shape[0] : 0;
  if (!magic || memcmp(magic, s->is_growing ? "LWYt\1\0\0\0" : "LWYt\0\0\0\0", 8) != 0) return 0;
  if (s->is_growing) {
    if (lwyi_get(in, 8) != s->header_hash) return 0;
    *extent = lwyi_get(in, 8);
    expected = *extent / s->info.chunk[0] + (*extent % s->info.chunk[0] > 0);
    for (k = 1; k < s->info.rank; ++k) {
      if (s->info.grid[k] > 0 && expected > s->size / s->info.grid[k]) return 0;
      expected *= s->info.grid[k];
    }
  }
  *chunks = lwyi_get(in, 8);
  return !in->failed && *chunks == expected && *chunks <= s->size;
}

/* How long the tail is that begins at `at`, even if it stops short; 0 if there is none. */
static uint64_t lwyi_tail_bytes(const lwy_stream* s, uint64_t at) {
  lwyi_reader in = lwyi_read(s->bytes + (size_t)at, s->size - (size_t)at);
  const uint8_t* begin = in.at;
  uint64_t moved, extent, chunks;
  size_t hashed;
  if (!lwyi_begin_tail(s, &in, &extent, &chunks)) return 0;
  lwyi_get_bytes(&in, lwyi_rooms_bytes(chunks));
  moved = lwyi_get(&in, 8);
  if (moved > chunks) return 0;
  lwyi_get_bytes(&in, 16 * moved);
  lwyi_get_bytes(&in, 32);
  hashed = (size_t)(in.at - begin);
  if (!lwyi_is_hash(lwyi_get(&in, 8), begin, hashed) || in.failed) return 0;
  return (uint64_t)hashed + LWYI_TAIL_END_BYTES;
}

static int lwyi_is_end(const lwy_stream* s, uint64_t end) {
  return end >= 8 && end <= s->size && memcmp(s->bytes + (size_t)end - 8, "LWYend\r\n", 8) == 0;
}

/* Whether an interrupted update may have left what is here, after frames of its own or none
 * (FORMAT.md, "Tail"). */
static int lwyi_is_unfinished(const lwy_stream* s, uint64_t at, int is_after_frames) {
  const uint8_t* rest = s->bytes + (size_t)at;
  const size_t left = s->size - (size_t)at, known = lwyi_min(left, 4);
  uint64_t tail;
  if (s->is_growing) { /* many may be putting frames there, each at a place of its own */
    tail = lwyi_tail_bytes(s, at);
    return tail > 0 && tail <= left ? lwyi_are_zeros(rest + (size_t)tail - 8, 8)
                                    : tail > 0 || !lwyi_is_end(s, s->size);
  }
  if (memcmp(rest, "LWYc", known) == 0 || (left >= 64 && lwyi_are_zeros(rest, 64))) return 1;
  if (!is_after_frames) return 0;
  tail = lwyi_tail_bytes(s, at);
  if (tail > 0 && tail <= left) return lwyi_are_zeros(rest + (size_t)tail - 8, 8);
  return lwyi_are_zeros(rest, left) ||
         (known > 0 && memcmp(rest, "LWYt", known) == 0 && !lwyi_is_end(s, s->size));
}

/* The end of the last whole tail, if what comes after it is an update that was interrupted; else 0.
 */
static uint64_t lwyi_earlier_end(const lwy_stream* s, uint64_t first) {
  uint64_t at = first, end = 0;
  lwyi_frame frame;
  for (;;) {
    const int is_frame = lwyi_is_frame(s, at, s->size, &frame);
    const uint64_t tail = is_frame ? 0 : lwyi_tail_bytes(s, at);
    if (is_frame)
      at += lwyi_frame_bytes(frame.payload_bytes);
    else if (tail > 0 && tail <= s->size - at && lwyi_is_end(s, at + tail))
      end = at += tail;
    else
      break;
  }
  return end > 0 && lwyi_is_unfinished(s, at, at > end) ? end : 0;
}

/* The array reaches this far along its first axis. */
static int lwyi_set_extent(lwy_stream* s, uint64_t extent) {
  const int rank = s->info.rank;
  int k;
  double values = (double)extent;
  if (!s->is_growing) return 1;
  for (k = 1; k < rank; ++k) values *= (double)(s->info.shape[k] > 1 ? s->info.shape[k] : 1);
  if (values > lwyi_power(59)) return 0;
  s->info.shape[0] = extent;
  return lwyi_find_grid(s, rank);
}

/* Memory for where the frames are. */
static int lwyi_make_offsets(lwy_stream* s) {
  if (s->info.chunks > s->size) return lwyi_corrupt(s, "the stream is too short for its chunks");
  if (s->offsets) s->allocator.release(s->allocator.host, s->offsets);
  s->offsets = (uint64_t*)s->allocator.allocate(s->allocator.host,
                                                ((size_t)s->info.chunks + 1) * sizeof(uint64_t));
  return s->offsets || lwyi_fail(s, LWY_OUT_OF_MEMORY, "not enough memory");
}

/* Finds the frames by the tail that ends at `end`. */
static int lwyi_read_tail(lwy_stream* s, uint64_t first, uint64_t end) {
  const uint64_t stated =
      end >= first + LWYI_TAIL_END_BYTES ? lwyi_load64(s->bytes + (size_t)end - 16) : 0;
  const uint64_t start = stated <= end - first ? end - stated : end;
  lwyi_reader in;
  const uint8_t* rest;
  uint64_t offset = first, moved, i, last = 0, extent, chunks;
  if (stated == 0 || !lwyi_is_end(s, end) || start == end || lwyi_tail_bytes(s, start) != stated)
    return 0;
  in = lwyi_read(s->bytes + (size_t)start, (size_t)(stated - LWYI_TAIL_END_BYTES));
  if (!lwyi_begin_tail(s, &in, &extent, &chunks) || !lwyi_set_extent(s, extent) ||
      !lwyi_make_offsets(s))
    return 0;
  for (i = 0; i < chunks; ++i) {
    const uint64_t room = lwyi_get(&in, 4);
    if (offset > end) return 0;
    s->offsets[i] = offset;
    offset += lwyi_frame_bytes(room);
  }
  rest = lwyi_get_bytes(&in, lwyi_rooms_bytes(chunks) - 4 * chunks);
  if (start % 16 != 0 || !rest || !lwyi_are_zeros(rest, lwyi_rooms_bytes(chunks) - 4 * chunks))
    return 0;
  moved = lwyi_get(&in, 8);
  if (moved > 0 ? offset > start : offset != start) return 0;
  for (i = 0; i < moved; ++i) {
    const uint64_t number = lwyi_get(&in, 8), place = lwyi_get(&in, 8);
    if (number >= chunks || (i > 0 && number <= last) || place > start || place % 16 != 0 ||
        place < (s->is_growing ? first : offset))
      return 0;
    s->offsets[number] = place;
    last = number;
  }
  s->info.max_error = lwyi_get_double(&in);
  s->info.special = lwyi_get(&in, 8);
  s->info.exact = lwyi_get(&in, 8);
  s->info.decoded_hash = lwyi_get(&in, 8);
  s->tail = start;
  return lwyi_is_used_up(&in) && lwyi_is_finite(s->info.max_error) && s->info.max_error >= 0;
}

static int lwyi_get_frame(lwy_stream* s, uint64_t ordinal, lwyi_frame* frame) {
  if (s->info.is_brief) {
    memset(frame, 0, sizeof *frame);
    frame->bound = s->brief_bound;
    frame->payload = s->bytes + s->brief_payload;
    frame->payload_bytes = s->size - 8 - s->brief_payload;
    frame->decoded_hash = s->brief_hash;
    return 1;
  }
  if (!lwyi_is_frame(s, s->offsets[ordinal], s->tail, frame) || frame->ordinal != ordinal)
    return lwyi_corrupt(s, "a chunk's head is damaged");
  if (frame->max_error > frame->bound && !lwyi_is_pointwise(&s->info))
    return lwyi_corrupt(s, "a chunk states a larger error than its bound");
  return 1;
}

/* What the frames add up to must be what the tail states. */
static int lwyi_check_statement(lwy_stream* s) {
  lwyi_pool pool = lwyi_new_pool(s);
  uint8_t* hashes = (uint8_t*)lwyi_take(&pool, (size_t)s->info.chunks, 8);
  double max_error = 0;
  uint64_t special = 0, exact = 0, i;
  int is_well = hashes != NULL;
  for (i = 0; is_well && i < s->info.chunks; ++i) {
    lwyi_frame frame;
    unsigned k;
    is_well = lwyi_get_frame(s, i, &frame);
    if (!is_well) break;
    max_error = frame.max_error > max_error ? frame.max_error : max_error;
    special += frame.special;
    exact += frame.exact;
    for (k = 0; k < 8; ++k) hashes[8 * (size_t)i + k] = (uint8_t)(frame.decoded_hash >> (8 * k));
  }
  is_well = is_well && max_error == s->info.max_error && special == s->info.special &&
            exact == s->info.exact &&
            lwyi_is_hash(s->info.decoded_hash, hashes, 8 * (size_t)s->info.chunks);
  lwyi_free_pool(&pool);
  return is_well || lwyi_corrupt(s, "the chunks are not those that the end of the stream states");
}

static int lwyi_open_standard(lwy_stream* s) {
  size_t first = 0;
  uint64_t end;
  if (!lwyi_read_header(s, &first)) return 0;
  if (s->info.chunks > s->size) return lwyi_corrupt(s, "the stream is too short for its chunks");
  s->info.stream_bytes = s->size;
  if (lwyi_read_tail(s, first, s->size)) return 1;
  end = s->status == LWY_OUT_OF_MEMORY ? 0 : lwyi_earlier_end(s, first);
  if (s->status == LWY_OUT_OF_MEMORY) return 0;
  if (end == 0 || !lwyi_read_tail(s, first, end))
    return lwyi_corrupt(s, "the end of the stream is missing or damaged");
  return lwyi_check_statement(s);
}

static int lwyi_read_brief_shape(lwy_stream* s, lwyi_reader* in, int rank) {
  uint64_t values = 1;
  int k;
  if (rank > LWY_MAX_RANK) return lwyi_corrupt(s, "too many axes");
  for (k = 0; k < rank; ++k) {
    const uint64_t extent = lwyi_get_varint(in);
    if (extent == 0 || extent > ((uint64_t)1 << 24) / values)
      return lwyi_corrupt(s, "a brief stream of too many values, or none");
    s->info.shape[k] = s->info.chunk[k] = extent;
    values *= extent;
  }
  s->info.rank = rank;
  return lwyi_find_grid(s, rank);
}

static int lwyi_read_brief_recipe(lwy_stream* s, lwyi_reader* in, int is_text) {
  if (is_text) {
    const lwyi_reader text = lwyi_get_section(in);
    return (!text.failed && lwyi_set_recipe(s, text.at, lwyi_left(&text))) ||
           lwyi_corrupt(s, "an impossible recipe");
  }
  return lwyi_set_numbered_recipe(s, lwyi_get_byte(in));
}

/* The bound in force, and the one that was asked for. */
static int lwyi_read_brief_bounds(lwy_stream* s, lwyi_reader* in, int is_asked) {
  lwy_info* info = &s->info;
  const double bound = lwyi_get_double(in);
  const int usual = bound > 0 ? LWY_ABS : LWY_LOSSLESS;
  if (!lwyi_is_finite(bound) || bound < 0) return lwyi_corrupt(s, "an impossible bound");
  s->brief_bound = info->abs_bound = info->bound[0].value = bound;
  info->bounds = 1;
  info->bound[0].kind = usual;
  if (!is_asked) return 1;
  if (!lwyi_read_bounds(s, in)) return 0;
  info->abs_bound = lwyi_get_double(in);
  if (info->bounds == 0 || !lwyi_is_finite(info->abs_bound) || info->abs_bound < 0 ||
      (info->bounds == 1 && info->bound[0].kind == usual && info->bound[0].value == bound &&
       info->abs_bound == bound))
    return lwyi_corrupt(s, "an impossible bound");
  return 1;
}

static int lwyi_read_brief_fills(lwy_stream* s, lwyi_reader* in) {
  const uint64_t count = lwyi_get_varint(in);
  if (count < 1 || count > LWY_MAX_FILLS) return lwyi_corrupt(s, "a wrong number of fill values");
  for (s->info.fills = 0; s->info.fills < (int)count; ++s->info.fills)
    s->info.fill[s->info.fills] = lwyi_get(in, s->info.value_bytes);
  return 1;
}

/* What else may be stated, and the payload. */
static int lwyi_read_brief_rest(lwy_stream* s, lwyi_reader* in, unsigned flags) {
  lwy_info* info = &s->info;
  const double most = lwyi_is_pointwise(info) ? info->abs_bound : s->brief_bound;
  uint8_t hash[8];
  unsigned k;
  if (flags & 2 && !lwyi_read_brief_fills(s, in)) return 0;
  if (flags & 4) {
    info->min = lwyi_get_double(in);
    info->max = lwyi_get_double(in);
    if (!lwyi_is_finite(info->min) || !lwyi_is_finite(info->max) ||
        (info->min == 0 && info->max == 0))
      return lwyi_corrupt(s, "an impossible range");
  }
  if (flags & 8) {
    info->special = lwyi_get_varint(in);
    info->exact = lwyi_get_varint(in);
    if (info->special > info->values || info->exact > info->values ||
        info->special + info->exact == 0)
      return lwyi_corrupt(s, "impossible counts");
  }
  info->max_error = lwyi_float_of((uint32_t)lwyi_get(in, 4));
  s->brief_hash = lwyi_get(in, 8);
  if (in->failed || !(info->max_error >= 0))
    return lwyi_corrupt(s, "a brief stream ends too early");
  if (info->max_error > most) info->max_error = most;
  for (k = 0; k < 8; ++k) hash[k] = (uint8_t)(s->brief_hash >> (8 * k));
  info->decoded_hash = lwyi_hash(hash, 8);
  s->brief_payload = (size_t)(in->at - s->bytes);
  return 1;
}

static int lwyi_open_brief(lwy_stream* s) {
  lwyi_reader in;
  unsigned type, flags;
  if (s->size > 4 && s->bytes[4] != 1)
    return lwyi_fail(s, LWY_UNSUPPORTED, "the stream has another version of the brief form");
  if (s->size > (size_t)1 << 30) return lwyi_corrupt(s, "a brief stream of too many bytes");
  if (s->size < 16 || !lwyi_is_hash(lwyi_load64(s->bytes + s->size - 8), s->bytes, s->size - 8))
    return lwyi_corrupt(s, "the stream's checksum differs");
  in = lwyi_read(s->bytes + 5, s->size - 13);
  type = lwyi_get_byte(&in);
  flags = lwyi_get_byte(&in);
  s->info.is_brief = 1;
  s->info.stream_bytes = s->size;
  if (flags > 31)
    return lwyi_fail(s, LWY_UNSUPPORTED, "the stream needs a feature that is not known");
  return lwyi_set_dtype(s, (int)(type & 15)) && lwyi_read_brief_shape(s, &in, (int)(type >> 4)) &&
         lwyi_read_brief_recipe(s, &in, flags >> 4 & 1) &&
         lwyi_read_brief_bounds(s, &in, flags & 1) && lwyi_read_brief_rest(s, &in, flags);
}

/* ================================================================================================
 * Chunks to their places
 * ================================================================================================
 */

/* A box of the array, or of what a level leaves of it. */
typedef struct lwyi_box {
  uint64_t first[LWY_MAX_RANK], extents[LWY_MAX_RANK];
} lwyi_box;

static uint64_t lwyi_box_size(const lwyi_box* box, int rank) {
  uint64_t size = 1;
  int k;
  for (k = 0; k < rank; ++k) size *= box->extents[k];
  return size;
}

static lwyi_box lwyi_chunk_box(const lwy_info* info, uint64_t ordinal) {
  lwyi_box box;
  int k;
  memset(&box, 0, sizeof box);
  for (k = info->rank; k-- > 0; ordinal /= info->grid[k]) {
    box.first[k] = ordinal % info->grid[k] * info->chunk[k];
    box.extents[k] = info->shape[k] - box.first[k];
    if (box.extents[k] > info->chunk[k]) box.extents[k] = info->chunk[k];
  }
  return box;
}

static lwyi_chunk lwyi_new_chunk(lwy_stream* s, const lwyi_box* box, double bound, void* values) {
  lwyi_chunk c;
  size_t extents[LWY_MAX_RANK];
  int k;
  memset(&c, 0, sizeof c);
  for (k = 0; k < s->info.rank; ++k) extents[k] = (size_t)box->extents[k];
  c.s = s;
  c.dtype = s->info.dtype;
  c.bytes = s->info.value_bytes;
  c.bound = bound;
  c.values = values;
  c.is_complete = 1;
  lwyi_set_shape(&c, (size_t)s->info.rank, extents);
  return c;
}

/* All values of a chunk, or, if `part` is not NULL, at least those of that part of it. */
static int lwyi_decode_chunk(lwy_stream* s, const lwyi_box* box, const lwyi_frame* frame,
                             const lwyi_box* part, void* values) {
  lwyi_chunk c = lwyi_new_chunk(s, box, frame->bound, values);
  lwyi_reader in = lwyi_read(frame->payload, frame->payload_bytes);
  int k, is_well;
  size_t axis = 0;
  if (!s->info.is_brief && !lwyi_is_hash(frame->payload_hash, frame->payload, frame->payload_bytes))
    return lwyi_corrupt(s, "a chunk's checksum differs");
  if (part) c.has_box = 1;
  for (k = 0; part && k < s->info.rank; ++k) {
    if (box->extents[k] == 1) continue;
    c.box_first[axis] = (size_t)(part->first[k] - box->first[k]);
    c.box_end[axis] = c.box_first[axis] + (size_t)part->extents[k];
    ++axis;
  }
  if (frame->payload_bytes > 0 && frame->payload[0] == LWYI_LAYERED) {
    lwyi_get_byte(&in);
    is_well = lwyi_decode_layers(&c, in, s->info.recipe);
  } else {
    is_well = lwyi_decode_plain(&c, in, s->info.recipe);
  }
  if (!is_well || !c.is_complete)
    return is_well; /* a part of the values has no checksum of its own */
  lwyi_swap_if_big_endian(values, c.bytes, c.size);
  is_well = lwyi_is_hash(frame->decoded_hash, values, c.size * c.bytes);
  lwyi_swap_if_big_endian(values, c.bytes, c.size);
  return is_well || lwyi_corrupt(s, "the decoded values differ from what was compressed");
}

/* Copies values between arrays: `from` and `to` are the first of them, strides are in values. */
static void lwyi_copy(size_t bytes, int rank, const uint64_t* extents, const uint8_t* from,
                      const size_t* from_stride, uint8_t* to, const size_t* to_stride) {
  const size_t length = rank > 0 ? (size_t)extents[rank - 1] : 1,
               step = rank > 0 ? from_stride[rank - 1] : 1;
  size_t index[LWY_MAX_RANK] = {0}, counts[LWY_MAX_RANK], i;
  int k;
  for (k = 0; k < rank; ++k) {
    if (extents[k] == 0) return;
    counts[k] = (size_t)extents[k];
  }
  do {
    const uint8_t* source = from;
    uint8_t* target = to;
    for (k = 0; k + 1 < rank; ++k)
      source += index[k] * from_stride[k] * bytes, target += index[k] * to_stride[k] * bytes;
    if (step == 1)
      memcpy(target, source, length * bytes);
    else
      for (i = 0; i < length; ++i) memcpy(target + i * bytes, source + i * step * bytes, bytes);
  } while (rank > 1 && lwyi_count_on(index, counts, (size_t)rank - 1));
}

static void lwyi_find_strides(int rank, const uint64_t* extents, size_t* strides) {
  size_t size = 1;
  int k;
  for (k = rank; k-- > 0; size *= (size_t)extents[k]) strides[k] = size;
}

/* What a chunk and the box that is asked for have in common; says 0 if that is nothing. */
static int lwyi_overlap(int rank, const lwyi_box* a, const lwyi_box* b, lwyi_box* both) {
  int k;
  for (k = 0; k < rank; ++k) {
    const uint64_t first = a->first[k] > b->first[k] ? a->first[k] : b->first[k];
    const uint64_t end_a = a->first[k] + a->extents[k], end_b = b->first[k] + b->extents[k];
    const uint64_t end = end_a < end_b ? end_a : end_b;
    if (first >= end) return 0;
    both->first[k] = first;
    both->extents[k] = end - first;
  }
  return 1;
}

/* One chunk to its place in the values of a box. */
static int lwyi_place_chunk(lwy_stream* s, uint64_t ordinal, const lwyi_box* wanted,
                            uint8_t* values) {
  const int rank = s->info.rank;
  const lwyi_box box = lwyi_chunk_box(&s->info, ordinal);
  const size_t bytes = s->info.value_bytes;
  lwyi_pool pool = lwyi_new_pool(s);
  lwyi_box part;
  lwyi_frame frame;
  size_t strides[LWY_MAX_RANK], target_strides[LWY_MAX_RANK], from = 0, to = 0;
  uint8_t* whole;
  int k, is_well, is_all;
  if (!lwyi_overlap(rank, &box, wanted, &part)) return 1;
  if (!lwyi_get_frame(s, ordinal, &frame)) return 0;
  is_all = memcmp(part.extents, box.extents, (size_t)rank * sizeof *part.extents) == 0;
  if (is_all && lwyi_box_size(&box, rank) == lwyi_box_size(wanted, rank) &&
      (uintptr_t)values % bytes == 0)
    return lwyi_decode_chunk(s, &box, &frame, NULL, values);
  whole = (uint8_t*)lwyi_take(&pool, (size_t)lwyi_box_size(&box, rank), bytes);
  is_well = whole && lwyi_decode_chunk(s, &box, &frame, is_all ? NULL : &part, whole);
  if (is_well) {
    lwyi_find_strides(rank, box.extents, strides);
    lwyi_find_strides(rank, wanted->extents, target_strides);
    for (k = 0; k < rank; ++k) {
      from += (size_t)(part.first[k] - box.first[k]) * strides[k];
      to += (size_t)(part.first[k] - wanted->first[k]) * target_strides[k];
    }
    lwyi_copy(bytes, rank, part.extents, whole + from * bytes, strides, values + to * bytes,
              target_strides);
  }
  lwyi_free_pool(&pool);
  return is_well;
}

/* All chunks that a box touches, which has values. */
static int lwyi_decode_wanted(lwy_stream* s, const lwyi_box* wanted, uint8_t* values) {
  const lwy_info* info = &s->info;
  size_t index[LWY_MAX_RANK] = {0}, counts[LWY_MAX_RANK];
  int k;
  for (k = 0; k < info->rank; ++k)
    counts[k] = (size_t)((wanted->first[k] + wanted->extents[k] - 1) / info->chunk[k] -
                         wanted->first[k] / info->chunk[k] + 1);
  do {
    uint64_t ordinal = 0;
    for (k = 0; k < info->rank; ++k)
      ordinal = ordinal * info->grid[k] + wanted->first[k] / info->chunk[k] + index[k];
    if (!lwyi_place_chunk(s, ordinal, wanted, values)) return 0;
  } while (lwyi_count_on(index, counts, (size_t)info->rank));
  return 1;
}

/* A payload with levels is cut behind those that are wanted: they have a checksum of their own. */
static int lwyi_decode_coarse(lwy_stream* s, const lwyi_box* box, const lwyi_frame* frame,
                              unsigned level, void* values) {
  lwyi_reader in = lwyi_read(frame->payload, frame->payload_bytes), table;
  lwyi_text recipe = lwyi_text_of(s->info.recipe);
  const int is_there = lwyi_find_alternative(&in, &recipe);
  const uint8_t* const begin = in.at;
  const unsigned kind = lwyi_get_byte(&in),
                 entries = is_there && kind == LWYI_LEVELS ? lwyi_skip_level_table(&in) : 0;
  const unsigned last = level < entries ? level : entries;
  lwyi_chunk c;
  uint64_t bytes, hash;
  if (entries == 0) return lwyi_decode_chunk(s, box, frame, NULL, values);
  table = lwyi_read(begin + 2 + 12 * (last - 1), 12);
  bytes = lwyi_get(&table, 4);
  hash = lwyi_get(&table, 8);
  if (bytes > lwyi_left(&in)) return lwyi_corrupt(s, "a level ends beyond its chunk");
  if (!lwyi_is_hash(hash, in.at, (size_t)bytes))
    return lwyi_corrupt(s, "the checksum of a level differs");
  c = lwyi_new_chunk(s, box, frame->bound, values);
  c.last_level = last;
  return lwyi_decode_plain(
      &c, lwyi_read(frame->payload, (size_t)(in.at - frame->payload) + (size_t)bytes),
      s->info.recipe);
}

static uint64_t lwyi_coarse(uint64_t extent, unsigned level) {
  return (extent + ((uint64_t)1 << level) - 1) >> level;
}

/* One chunk to its place in a preview. */
static int lwyi_place_level(lwy_stream* s, uint64_t ordinal, unsigned level,
                            const size_t* target_strides, uint8_t* values) {
  const int rank = s->info.rank;
  const lwyi_box box = lwyi_chunk_box(&s->info, ordinal);
  const size_t bytes = s->info.value_bytes;
  lwyi_pool pool = lwyi_new_pool(s);
  uint8_t* whole = (uint8_t*)lwyi_take(&pool, (size_t)lwyi_box_size(&box, rank), bytes);
  lwyi_frame frame;
  int is_well = whole && lwyi_get_frame(s, ordinal, &frame) &&
                lwyi_decode_coarse(s, &box, &frame, level, whole),
      k;
  if (is_well) {
    uint64_t extents[LWY_MAX_RANK];
    size_t strides[LWY_MAX_RANK], to = 0;
    lwyi_find_strides(rank, box.extents, strides);
    for (k = 0; k < rank; ++k) {
      extents[k] = lwyi_coarse(box.extents[k], level);
      strides[k] =
          extents[k] > 1 ? strides[k] << level : 0; /* longer steps would not fit a number */
      to += (size_t)(box.first[k] / s->info.chunk[k] * lwyi_coarse(s->info.chunk[k], level)) *
            target_strides[k];
    }
    lwyi_copy(bytes, rank, extents, whole, strides, values + to * bytes, target_strides);
  }
  lwyi_free_pool(&pool);
  return is_well;
}

/* ================================================================================================
 * The interface
 * ================================================================================================
 */

/* Of the first chunk. */
static int lwyi_count_levels(lwy_stream* s) {
  lwyi_text recipe = lwyi_text_of(s->info.recipe);
  lwyi_frame frame;
  lwyi_reader in;
  if (s->info.chunks == 0) return 0;
  if (s->info.is_brief)
    lwyi_get_frame(s, 0, &frame);
  else if (!lwyi_is_frame(s, s->offsets[0], s->tail, &frame))
    return 0;
  in = lwyi_read(frame.payload, frame.payload_bytes);
  return lwyi_find_alternative(&in, &recipe) && lwyi_get_byte(&in) == LWYI_LEVELS
             ? (int)lwyi_skip_level_table(&in)
             : 0;
}

LWY_API int lwy_open(lwy_stream* s, const void* bytes, size_t size,
                     const lwy_allocator* allocator) {
  static const uint8_t brief[4] = {0x89, 'L', 'W', 'b'};
  memset(s, 0, sizeof *s);
  if (allocator) s->allocator = *allocator;
#ifndef LEEWAY_DECODE_NO_MALLOC
  if (!allocator) s->allocator.allocate = lwyi_malloc, s->allocator.release = lwyi_free;
#endif
  if (!s->allocator.allocate || !s->allocator.release || (!bytes && size > 0)) {
    lwyi_fail(s, LWY_INVALID_ARGUMENT, "no bytes, or no allocator");
    return s->status;
  }
  s->bytes = bytes ? (const uint8_t*)bytes : brief;
  s->size = size;
  s->is_open =
      size >= 4 && memcmp(bytes, brief, 4) == 0 ? lwyi_open_brief(s) : lwyi_open_standard(s);
  if (s->is_open) s->info.levels = lwyi_count_levels(s);
  return s->status;
}

LWY_API void lwy_close(lwy_stream* s) {
  if (s->offsets) s->allocator.release(s->allocator.host, s->offsets);
  s->offsets = NULL;
  s->is_open = 0;
}

/* A call may fail without harm to those that follow. */
static int lwyi_begin(lwy_stream* s) {
  s->status = LWY_OK;
  s->message[0] = 0;
  if (!s->is_open) return lwyi_fail(s, LWY_INVALID_ARGUMENT, "the stream is not open");
  return 1;
}
static int lwyi_has_room(lwy_stream* s, uint64_t values, const void* memory, size_t bytes) {
  if (values > SIZE_MAX / s->info.value_bytes || bytes < values * s->info.value_bytes ||
      (!memory && values > 0))
    return lwyi_fail(s, LWY_INVALID_ARGUMENT, "the memory given does not hold the values");
  return 1;
}

LWY_API int lwy_decode_box(lwy_stream* s, const uint64_t* first, const uint64_t* extents,
                           void* values, size_t bytes) {
  lwyi_box wanted;
  int k;
  if (!lwyi_begin(s)) return s->status;
  memset(&wanted, 0, sizeof wanted);
  for (k = 0; k < s->info.rank; ++k) {
    wanted.first[k] = first[k];
    wanted.extents[k] = extents[k];
    if (first[k] > s->info.shape[k] || extents[k] > s->info.shape[k] - first[k]) {
      lwyi_fail(s, LWY_INVALID_ARGUMENT, "the box is not inside the array");
      return s->status;
    }
  }
  if (lwyi_has_room(s, lwyi_box_size(&wanted, s->info.rank), values, bytes) &&
      lwyi_box_size(&wanted, s->info.rank) > 0)
    lwyi_decode_wanted(s, &wanted, (uint8_t*)values);
  return s->status;
}

LWY_API int lwy_decode(lwy_stream* s, void* values, size_t bytes) {
  const uint64_t zeros[LWY_MAX_RANK] = {0};
  if (lwy_decode_box(s, zeros, s->info.shape, values, bytes) == LWY_OK && !s->info.is_brief)
    lwyi_check_statement(s);
  return s->status;
}

/* Beyond this, one value of a chunk is left anyway. */
#define LWYI_HIGHEST_LEVEL 40

LWY_API int lwy_level_shape(const lwy_stream* s, unsigned level, uint64_t* shape) {
  const lwy_info* info = &s->info;
  int k;
  if (!s->is_open) return LWY_INVALID_ARGUMENT;
  if (level > LWYI_HIGHEST_LEVEL) level = LWYI_HIGHEST_LEVEL;
  for (k = 0; k < info->rank; ++k) {
    shape[k] = info->shape[k] / info->chunk[k] * lwyi_coarse(info->chunk[k], level) +
               lwyi_coarse(info->shape[k] % info->chunk[k], level);
  }
  return LWY_OK;
}

LWY_API int lwy_decode_level(lwy_stream* s, unsigned level, void* values, size_t bytes) {
  lwyi_box target;
  size_t strides[LWY_MAX_RANK];
  uint64_t ordinal;
  if (level == 0) return lwy_decode(s, values, bytes);
  if (level > LWYI_HIGHEST_LEVEL) level = LWYI_HIGHEST_LEVEL;
  if (!lwyi_begin(s) || lwy_level_shape(s, level, target.extents) != LWY_OK ||
      !lwyi_has_room(s, lwyi_box_size(&target, s->info.rank), values, bytes))
    return s->status;
  lwyi_find_strides(s->info.rank, target.extents, strides);
  for (ordinal = 0; ordinal < s->info.chunks; ++ordinal)
    if (!lwyi_place_level(s, ordinal, level, strides, (uint8_t*)values)) return s->status;
  if (!s->info.is_brief) lwyi_check_statement(s);
  return s->status;
}

LWY_API const char* lwy_message(const lwy_stream* s) { return s->message; }

LWY_API size_t lwy_stream_size(void) { return sizeof(lwy_stream); }

LWY_API const char* lwy_dtype_name(int dtype) {
  return dtype >= LWY_F32 && dtype <= LWY_U64 ? lwyi_dtypes[dtype] : "";
}
LWY_API const char* lwy_bound_name(int kind) {
  return kind >= LWY_ABS && kind <= LWY_POINTWISE ? lwyi_bounds[kind] : "";
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

#elif defined(LWYI_REAL)
/* ================================================================================================
 * This part is compiled twice, with LWYI_REAL = float and double: its functions have names with
 * _f32 or _f64 at the end.
 * ================================================================================================
 */

/* ---- tokens (token.md) ---- */

static int LWYI(untoken)(lwyi_bits* raw, const uint8_t* tokens, size_t count, unsigned width,
                         LWYI_CODE* codes) {
  const unsigned s = width == 64 ? 1 : 2, lowest = width == 64 ? 242 : 228;
  size_t i, k;
  for (i = 0; i < count; i = k) {
    const size_t end = lwyi_min(i + 32, count);
    unsigned all = 0;
    for (k = i; k < end; ++k) all |= tokens[k];
    if (all < 128) {
      for (k = i; k < end; ++k)
        codes[k] = (LWYI_CODE)(tokens[k] >> 1) ^ -(LWYI_CODE)(tokens[k] & 1);
      continue;
    }
    for (k = i; k < end; ++k) {
      const unsigned token = tokens[k], low = ((token - 128) >> s) + 7 - s;
      uint64_t z = token;
      if (token > lowest) return 0;
      if (token == lowest)
        z = width == 64 ? ~(uint64_t)0 : 0xffffffffu;
      else if (token >= 128)
        z = (uint64_t)(1u << s | ((token - 128) & ((1u << s) - 1))) << low |
            lwyi_get_bits(raw, low);
      codes[k] = (LWYI_CODE)(z >> 1 ^ ((uint64_t)0 - (z & 1)));
    }
  }
  return !raw->failed;
}

/* ---- huffman, pack, fixed, raw: all codes of a chunk ---- */

static int LWYI(decode_huffman)(lwyi_chunk* c, lwyi_pool* pool, lwyi_reader* in, LWYI_CODE* codes) {
  uint8_t* tokens = (uint8_t*)lwyi_take(pool, c->size, 1);
  lwyi_bits raw;
  if (!tokens || !lwyi_read_huffman(pool, in, tokens, c->size, &raw)) return 0;
  if (!LWYI(untoken)(&raw, tokens, c->size, c->width, codes) || !lwyi_bits_end(&raw))
    return lwyi_corrupt(c->s, "damaged raw bits of a Huffman code");
  return 1;
}

/* Adds `bits` bits to the 16 values of every row, shifted. */
static int LWYI(unpack_rows)(lwyi_reader* in, size_t rows, unsigned bits, unsigned shift,
                             uint32_t* z) {
  const size_t words = (rows * bits + 15) / 16;
  const uint8_t* at = lwyi_get_bytes(in, 32 * words);
  const uint32_t mask = (1u << bits) - 1;
  uint32_t lanes[17 * 16];
  size_t i, row;
  if (!at) return 0;
  for (i = 0; i < 16 * words; ++i) lanes[i] = lwyi_load16(at + 2 * i);
  memset(lanes + 16 * words, 0, 16 * sizeof *lanes);
  for (row = 0; row < rows; ++row) {
    const unsigned offset = (unsigned)(row * bits) % 16;
    const uint32_t *low = lanes + 16 * (row * bits / 16), *high = low + 16;
    for (i = 0; i < 16; ++i)
      z[16 * row + i] |= ((low[i] | high[i] << 16) >> offset & mask) << shift;
  }
  return 1;
}

static int LWYI(unpack_block)(lwyi_reader* in, unsigned head, size_t n, unsigned most,
                              uint32_t* z) {
  const unsigned bits = head & 63, low = bits < 16 ? bits : 16;
  const size_t rows = (n + 15) / 16;
  const uint8_t *positions = NULL, *highs = NULL;
  unsigned patched = 0, bytes = 0, i;
  if (head >= 128 || bits > most) return 0;
  if (head & 64) {
    patched = lwyi_get_byte(in);
    bytes = lwyi_get_byte(in);
    if (patched == 0 || bytes < 1 || bytes > 4) return 0;
    positions = lwyi_get_bytes(in, patched);
    highs = lwyi_get_bytes(in, patched * bytes);
    if (!highs) return 0;
  }
  memset(z, 0, 256 * sizeof *z);
  if (low > 0 && !LWYI(unpack_rows)(in, rows, low, 0, z)) return 0;
  if (bits > 16 && !LWYI(unpack_rows)(in, rows, bits - 16, 16, z)) return 0;
  for (i = 0; i < patched; ++i) {
    const uint64_t high = lwyi_load(highs + i * bytes, bytes) << bits;
    if (positions[i] >= n || (i > 0 && positions[i] <= positions[i - 1]) || high >> bits == 0 ||
        high >> most)
      return 0;
    z[positions[i]] |= (uint32_t)high;
  }
  return 1;
}

static int LWYI(decode_pack)(lwyi_chunk* c, lwyi_reader* in, LWYI_CODE* codes) {
  uint32_t z[256];
  size_t first, n, i;
  for (first = 0; first < c->size; first += n) {
    const unsigned head = lwyi_get_byte(in);
    n = lwyi_min(256, c->size - first);
    if (head == 128 && c->width == 64) {
      for (i = 0; i < n; ++i) {
        const uint64_t wide = lwyi_get(in, 8);
        codes[first + i] = (LWYI_CODE)(wide >> 1 ^ ((uint64_t)0 - (wide & 1)));
      }
    } else {
      if (!LWYI(unpack_block)(in, head, n, c->width < 32 ? c->width : 32, z))
        return lwyi_corrupt(c->s, "an impossible block of packed codes");
      for (i = 0; i < n; ++i)
        codes[first + i] = (LWYI_CODE)(int32_t)(z[i] >> 1 ^ (0u - (z[i] & 1)));
    }
    if (in->failed) return lwyi_corrupt(c->s, "packed codes end too early");
  }
  return 1;
}

/* Signs and bit planes of one block (fixed.md); codes it would have beyond `count` are dropped. */
static int LWYI(decode_planes)(lwyi_chunk* c, lwyi_reader* in, unsigned head, size_t count,
                               LWYI_CODE* codes) {
  const unsigned block = (unsigned)c->recipe->parameter[LWYI_BLOCK], plane = block / 8,
                 is_outlier = head >> 7;
  const unsigned planes = is_outlier ? head & 31 : head;
  uint64_t first = 0, sizes[64] = {0};
  const uint8_t *signs, *bits;
  unsigned i, b;
  if (head > 255 || (is_outlier && c->recipe->parameter[LWYI_OUTLIER] == 0) || planes > c->width)
    return 0;
  if (head == 0) return 1;
  if (is_outlier) first = lwyi_get(in, (head >> 5 & 3) + 1);
  signs = lwyi_get_bytes(in, plane);
  bits = lwyi_get_bytes(in, (uint64_t)plane * planes);
  if (!bits) return 0;
  for (b = 0; b < planes; ++b)
    for (i = 0; i < block; ++i)
      sizes[i] |= (uint64_t)(bits[b * plane + i / 8] >> (7 - i % 8) & 1) << b;
  sizes[0] |= first;
  for (i = 0; i < count; ++i) {
    const int is_negative = signs[i / 8] >> (7 - i % 8) & 1;
    codes[i] = (LWYI_CODE)(is_negative ? (uint64_t)0 - sizes[i] : sizes[i]);
  }
  return 1;
}

static int LWYI(decode_fixed)(lwyi_chunk* c, lwyi_reader* in, LWYI_CODE* codes) {
  const size_t block = (size_t)c->recipe->parameter[LWYI_BLOCK],
               blocks = (c->size + block - 1) / block;
  const unsigned bytes = (unsigned)c->recipe->parameter[LWYI_HEAD];
  const uint8_t* heads = lwyi_get_bytes(in, (uint64_t)blocks * bytes);
  size_t i;
  if (!heads) return lwyi_corrupt(c->s, "heads of blocks end too early");
  for (i = 0; i < blocks; ++i)
    if (!LWYI(decode_planes)(c, in, (unsigned)lwyi_load(heads + i * bytes, bytes),
                             lwyi_min(block, c->size - i * block), codes + i * block))
      return lwyi_corrupt(c->s, "an impossible block of bit planes");
  return 1;
}

static int LWYI(decode_raw)(lwyi_chunk* c, lwyi_reader* in, LWYI_CODE* codes) {
  size_t first, n, i;
  for (first = 0; first < c->size; first += n) {
    const unsigned bytes = lwyi_get_byte(in), shift = lwyi_get_byte(in);
    const uint8_t* at;
    n = lwyi_min(2048, c->size - first);
    if (bytes < 1 || bytes > c->width / 8 || shift & 0x40 || (shift & 0x3f) >= c->width)
      return lwyi_corrupt(c->s, "impossible size of codes");
    at = lwyi_get_bytes(in, (uint64_t)n * bytes);
    if (!at) return lwyi_corrupt(c->s, "codes end too early");
    for (i = 0; i < n; ++i) {
      const int64_t code = lwyi_sign_extend(lwyi_load(at + i * bytes, bytes), 8 * bytes);
      uint64_t value = (uint64_t)code << (shift & 0x3f);
      if (shift & 0x80 && (uint64_t)code == (uint64_t)0 - ((uint64_t)1 << (8 * bytes - 1)))
        value = (uint64_t)1 << (c->width - 1);
      codes[first + i] = (LWYI_CODE)lwyi_sign_extend(value, c->width);
    }
  }
  return 1;
}

/* ---- codes one band after the other, for predictors that know a context ---- */

typedef struct LWYI_SOURCE {
  lwyi_chunk* c;
  lwyi_rans* rans;        /* or */
  const LWYI_CODE* codes; /* those to come */
  uint8_t tokens[LWYI_MOST_CODES];
} LWYI_SOURCE;

/* At most LWYI_MOST_CODES. */
static int LWYI(next_codes)(LWYI_SOURCE* source, const uint8_t* contexts, size_t count,
                            LWYI_CODE* codes) {
  lwyi_rans* r = source->rans;
  if (!r) {
    memcpy(codes, source->codes, count * sizeof *codes);
    source->codes += count;
    return 1;
  }
  if (!lwyi_rans_tokens(r, contexts, count, source->tokens)) return 0;
  if (!LWYI(untoken)(&r->raw, source->tokens, count, r->width, codes))
    return lwyi_corrupt(r->s, "damaged raw bits");
  return r->done < r->count || lwyi_end_segment(r);
}

static uint8_t LWYI(size_of)(LWYI_CODE code) {
  return (uint8_t)(code > 255 || code < -255 ? 255 : code < 0 ? -code : code);
}

/* All codes, with contexts from those before, if the predictor is lorenzo and rows are long enough.
 */
static int LWYI(decode_rans)(lwyi_chunk* c, lwyi_pool* pool, LWYI_SOURCE* source,
                             LWYI_CODE* codes) {
  const int is_causal =
      c->recipe->predictor == LWYI_LORENZO && c->rank > 1 && c->shape[c->rank - 1] >= 32;
  const size_t row = is_causal ? c->shape[c->rank - 1] : 0,
               plane = is_causal && c->rank > 2 ? row * c->shape[c->rank - 2] : 0;
  const size_t before = lwyi_max(row, plane) + 1,
               most = is_causal ? lwyi_min(row - 1, LWYI_MOST_CODES) : LWYI_MOST_CODES;
  uint8_t* sizes = (uint8_t*)lwyi_take(pool, is_causal ? before + c->size : 1, 1);
  uint8_t* contexts = (uint8_t*)lwyi_take(pool, LWYI_MOST_CODES, 1);
  size_t first, n, i;
  if (!sizes || !contexts || !lwyi_next_segment(source->rans, c->size)) return 0;
  for (first = 0; first < c->size; first += n) {
    n = lwyi_min(most, c->size - first);
    if (is_causal) lwyi_causal_contexts(sizes + before + first, row, plane, n, contexts);
    if (!LWYI(next_codes)(source, contexts, n, codes + first)) return 0;
    for (i = 0; is_causal && i < n; ++i)
      sizes[before + first + i] = LWYI(size_of)(codes[first + i]);
  }
  return 1;
}

static int LWYI(decode_codes)(lwyi_chunk* c, lwyi_pool* pool, lwyi_reader* in, LWYI_CODE* codes) {
  switch (c->recipe->encoder) {
    case LWYI_HUFFMAN:
      return LWYI(decode_huffman)(c, pool, in, codes);
    case LWYI_PACK:
      return LWYI(decode_pack)(c, in, codes);
    case LWYI_FIXED:
      return LWYI(decode_fixed)(c, in, codes);
    case LWYI_RANS: {
      lwyi_rans* rans = (lwyi_rans*)lwyi_take(pool, 1, sizeof *rans);
      LWYI_SOURCE* source = (LWYI_SOURCE*)lwyi_take(pool, 1, sizeof *source);
      if (!rans || !source || !lwyi_start_rans(rans, pool, in, c->width, c->size)) return 0;
      source->c = c;
      source->rans = rans;
      if (!LWYI(decode_rans)(c, pool, source, codes)) return 0;
      return lwyi_is_used_up(&rans->rest) || lwyi_corrupt(c->s, "bytes left over behind the codes");
    }
    default:
      return LWYI(decode_raw)(c, in, codes);
  }
}

/* ---- lorenzo and blocks behind the quantizer: prefix sums of integers ---- */

/* Along an axis of `extent` values that are `stride` apart, for all `count` values. */
static void LWYI(add_up)(LWYI_UNSIGNED* codes, size_t count, size_t extent, size_t stride) {
  size_t first, i, k;
  for (first = 0; first < count; first += extent * stride) {
    LWYI_UNSIGNED* at = codes + first;
    if (stride == 1) {
      LWYI_UNSIGNED sum = 0;
      for (i = 0; i < extent; ++i) at[i] = sum += at[i];
      continue;
    }
    for (i = 1; i < extent; ++i)
      for (k = 0; k < stride; ++k) at[i * stride + k] += at[(i - 1) * stride + k];
  }
}

static int LWYI(undo_lorenzo)(lwyi_chunk* c, lwyi_reader* side, LWYI_CODE* codes) {
  size_t axes = (size_t)c->recipe->parameter[LWYI_AXES], k;
  int order;
  if (axes == 0) {
    axes = lwyi_get_byte(side);
    if (side->failed || axes > 3) return lwyi_corrupt(c->s, "too many axes of differences");
  }
  for (order = 0; order < (int)c->recipe->parameter[LWYI_ORDER]; ++order)
    for (k = c->rank; k-- > 0 && c->rank - k <= axes;)
      LWYI(add_up)((LWYI_UNSIGNED*)codes, c->size, c->shape[k], c->stride[k]);
  return 1;
}

/* Puts the blocks of squares or cubes, which are whole or are cut, to their places. */
static const LWYI_CODE* LWYI(place_blocks)(lwyi_chunk* c, size_t axes, int are_whole,
                                           const LWYI_CODE* from, LWYI_CODE* to) {
  const size_t edge = axes == 2 ? 8 : 4, outer = c->rank - axes;
  size_t used[3] = {1, 1, 1}, stride[3] = {0, 0, 0}, grid[4], block[4] = {0, 0, 0, 0}, k;
  for (k = 0; k < axes; ++k) {
    used[3 - axes + k] = c->shape[outer + k];
    stride[3 - axes + k] = c->stride[outer + k];
  }
  grid[0] = c->size / (used[0] * used[1] * used[2]);
  for (k = 0; k < 3; ++k) grid[k + 1] = k < 3 - axes ? 1 : (used[k] + edge - 1) / edge;
  do {
    LWYI_UNSIGNED sums[64];
    size_t n[3], at = block[0] * used[0] * used[1] * used[2], i, j;
    int is_whole = 1;
    for (k = 0; k < 3; ++k) {
      n[k] = k < 3 - axes ? 1 : lwyi_min(edge, used[k] - edge * block[k + 1]);
      is_whole = is_whole && (k < 3 - axes || n[k] == edge);
      at += edge * block[k + 1] * stride[k];
    }
    if (is_whole != are_whole) continue;
    for (i = 0; i < n[0] * n[1] * n[2]; ++i) sums[i] = (LWYI_UNSIGNED)*from++;
    LWYI(add_up)(sums, n[0] * n[1] * n[2], n[2], 1);
    if (n[1] > 1) LWYI(add_up)(sums, n[0] * n[1] * n[2], n[1], n[2]);
    if (n[0] > 1) LWYI(add_up)(sums, n[0] * n[1] * n[2], n[0], n[1] * n[2]);
    for (i = 0; i < n[0] * n[1]; ++i)
      for (j = 0; j < n[2]; ++j)
        to[at + i / n[1] * stride[0] + i % n[1] * stride[1] + j * stride[2]] =
            (LWYI_CODE)sums[i * n[2] + j];
  } while (lwyi_count_on(block, grid, 4));
  return from;
}

static int LWYI(undo_blocks)(lwyi_chunk* c, lwyi_pool* pool, LWYI_CODE** codes) {
  const size_t axes = lwyi_min((size_t)c->recipe->parameter[LWYI_AXES], c->rank);
  const size_t size = (size_t)c->recipe->parameter[LWYI_SIZE];
  const LWYI_CODE* from = *codes;
  LWYI_CODE* to;
  size_t first;
  if (axes <= 1) {
    for (first = 0; first < c->size; first += size) {
      const size_t n = lwyi_min(size, c->size - first);
      LWYI(add_up)((LWYI_UNSIGNED*)*codes + first, n, n, 1);
    }
    return 1;
  }
  to = (LWYI_CODE*)lwyi_take(pool, c->size, sizeof *to);
  if (!to) return 0;
  from = LWYI(place_blocks)(c, axes, 1, from, to);
  LWYI(place_blocks)(c, axes, 0, from, to);
  *codes = to;
  return 1;
}

/* The step in this arithmetic; 0 if values are not recovered in it. */
static LWYI_REAL LWYI(step_of)(const lwyi_chunk* c, const lwyi_grid* grid) {
  if (c->dtype != LWYI_DTYPE || grid->quantizer != LWYI_LINEAR) return 0;
  return LWYI_DTYPE == LWY_F32 ? (LWYI_REAL)grid->short_step : (LWYI_REAL)grid->step;
}
/* Whether all codes are so small that their product with that step is exact. */
static int LWYI(are_small)(const LWYI_CODE* codes, size_t count) {
  LWYI_UNSIGNED high = 0;
  size_t i;
  for (i = 0; i < count; ++i) high |= (LWYI_UNSIGNED)codes[i] + 65536;
  return high < 131072;
}

/* Values from integers, without predictions. */
static void LWYI(recover_all)(lwyi_chunk* c, LWYI_CODE* codes) {
  const lwyi_grid grid = lwyi_grid_at(c, c->bound);
  const LWYI_REAL step = LWYI(step_of)(c, &grid);
  size_t first, end, i;
  for (first = 0; first < c->size; first = end) {
    end = lwyi_min(first + 1024, c->size);
    if (c->width == 16)
      for (i = first; i < end; ++i) codes[i] = (int16_t)codes[i];
    if (c->width == 32)
      for (i = first; i < end; ++i) codes[i] = (int32_t)codes[i];
    if (step > 0 && LWYI(are_small)(codes + first, end - first))
      for (i = first; i < end; ++i)
        ((LWYI_REAL*)c->values)[i] =
            (LWYI_REAL)lwyi_in_range(&grid, (LWYI_REAL)(int32_t)codes[i] * step);
    else
      for (i = first; i < end; ++i)
        lwyi_put_bits(c->values, c->bytes, i, lwyi_recover(&grid, 0, 0, codes[i]));
  }
}

/* ---- values one by one, for predictors that stand before the quantizer ---- */

static LWYI_REAL LWYI(number_at)(const lwyi_chunk* c, size_t at) {
  if (c->dtype == LWYI_DTYPE) return ((const LWYI_REAL*)c->values)[at];
  return (LWYI_REAL)lwyi_number(c->dtype, lwyi_bits_at(c->values, c->bytes, at));
}

/* The next value to visit: puts it to its place, and gives back its number. */
static LWYI_REAL LWYI(visit)(lwyi_chunk* c, const lwyi_grid* grid, LWYI_REAL p, LWYI_CODE code,
                             lwyi_patches* patches, size_t number, size_t place) {
  if ((uint64_t)(int64_t)code ==
      (uint64_t)0 - ((uint64_t)1 << (c->width - 1))) /* the lowest code */
    lwyi_put_bits(c->values, c->bytes, place, lwyi_patch_at(patches, number));
  else if (c->dtype == LWYI_DTYPE && grid->quantizer == LWYI_LINEAR)
    ((LWYI_REAL*)c->values)[place] = LWYI(recover)(grid, p, code);
  else
    lwyi_put_bits(c->values, c->bytes, place, lwyi_recover(grid, 1, (double)p, code));
  return LWYI(number_at)(c, place);
}

/* ---- interp (interp.md) ---- */

typedef struct LWYI_INTERPOLATION {
  lwyi_chunk* c;
  const LWYI_CODE* codes;
  lwyi_patches* patches;
  LWYI_REAL* numbers;
  int is_cubic;
  size_t done;
  lwyi_grid grid;
} LWYI_INTERPOLATION;

/* The value at `place`, which is index j of n along an axis of this stride. */
static LWYI_REAL LWYI(interpolate)(const LWYI_INTERPOLATION* w, size_t place, size_t j, size_t n,
                                   size_t s, size_t stride) {
  const LWYI_REAL* x = w->numbers + place;
  const int has_a = j >= 3 * s, has_c = j + s < n, has_d = j + 3 * s < n;
  const LWYI_REAL b = x[-(ptrdiff_t)(s * stride)];
  const LWYI_REAL a = has_a ? x[-(ptrdiff_t)(3 * s * stride)] : 0;
  const LWYI_REAL c = has_c ? x[s * stride] : 0, d = has_d ? x[3 * s * stride] : 0;
  if (!has_c) return has_a ? (LWYI_REAL)1.5 * b - (LWYI_REAL)0.5 * a : b;
  if (!w->is_cubic || !(has_a || has_d)) return (LWYI_REAL)0.5 * (b + c);
  if (!has_a) return (LWYI_REAL)0.375 * b + ((LWYI_REAL)0.75 * c - (LWYI_REAL)0.125 * d);
  if (!has_d) return (LWYI_REAL)0.375 * c + ((LWYI_REAL)0.75 * b - (LWYI_REAL)0.125 * a);
  return (LWYI_REAL)0.5625 * (b + c) - (LWYI_REAL)0.0625 * (a + d);
}

static void LWYI(visit_point)(LWYI_INTERPOLATION* w, LWYI_REAL p, size_t place) {
  w->numbers[place] = LWYI(visit)(w->c, &w->grid, p, w->codes[w->done], w->patches, w->done, place);
  ++w->done;
}

/* The points of a level that are new along one axis. */
static void LWYI(interpolate_axis)(LWYI_INTERPOLATION* w, size_t s, size_t axis, int is_reverse) {
  const lwyi_chunk* c = w->c;
  size_t step[LWY_MAX_RANK], count[LWY_MAX_RANK], index[LWY_MAX_RANK] = {0}, k;
  for (k = 0; k < c->rank; ++k) {
    const int is_before = is_reverse ? k > axis : k < axis;
    step[k] = is_before ? s : 2 * s;
    count[k] = k == axis ? (c->shape[k] > s ? (c->shape[k] - s - 1) / step[k] + 1 : 0)
                         : (c->shape[k] - 1) / step[k] + 1;
  }
  if (count[axis] == 0) return;
  do {
    const size_t j = s + index[axis] * step[axis];
    size_t place = s * c->stride[axis];
    for (k = 0; k < c->rank; ++k) place += index[k] * step[k] * c->stride[k];
    LWYI(visit_point)(w, LWYI(interpolate)(w, place, j, c->shape[axis], s, c->stride[axis]), place);
  } while (lwyi_count_on(index, count, c->rank));
}

static int LWYI(walk_interp)(lwyi_chunk* c, lwyi_pool* pool, const LWYI_CODE* codes,
                             lwyi_patches* patches, lwyi_reader* side) {
  const unsigned settings = lwyi_get_byte(side), choice = settings >> 2;
  const double* parameter = c->recipe->parameter;
  const double alphas[4] = {1, 1.25, 1.5, parameter[LWYI_ALPHA]},
               betas[4] = {1, 2, 3, parameter[LWYI_BETA]};
  LWYI_INTERPOLATION w;
  unsigned level = 0;
  size_t k, i;
  if (side->failed || settings > 15 || (choice == 3 && !(parameter[LWYI_ALPHA] > 0)))
    return lwyi_corrupt(c->s, "impossible settings of the interpolation");
  memset(&w, 0, sizeof w);
  w.c = c, w.codes = codes, w.patches = patches, w.is_cubic = settings & 1;
  w.numbers = c->dtype == LWYI_DTYPE ? (LWYI_REAL*)c->values
                                     : (LWYI_REAL*)lwyi_take(pool, c->size, sizeof(LWYI_REAL));
  if (!w.numbers) return 0;
  for (k = 0; k < c->rank; ++k)
    while ((c->shape[k] - 1) >> level) ++level;
  w.grid = lwyi_grid_at(
      c, c->bound * lwyi_level_factor(level > 0 ? level - 1 : 0, alphas[choice], betas[choice]));
  LWYI(visit_point)(&w, 0, 0);
  while (level-- > 0) {
    w.grid = lwyi_grid_at(c, c->bound * lwyi_level_factor(level, alphas[choice], betas[choice]));
    for (i = 0; i < c->rank; ++i) LWYI(interpolate_axis)
    (&w, (size_t)1 << level, settings & 2 ? c->rank - 1 - i : i, settings >> 1 & 1);
  }
  return 1;
}

/* ---- least squares: weights of taps, learned from values that are known (pyramid.md, "Learning")
 * ---- */

#define LWYI_GROUP 8   /* values side by side */
#define LWYI_BATCH 128 /* values added up together */

typedef struct LWYI_SQUARES {
  size_t taps, rows, waiting, since;
  double known; /* values that the sums stand for */
  int is_ready;
  LWYI_REAL guess_weight, weights[LWYI_MOST_TAPS];
  double* sums;                /* taps + 1 columns for each tap */
  LWYI_REAL *plain, *weighted; /* rows of LWYI_BATCH: the taps and, last, the value, less the guess;
                                  the taps with weights */
} LWYI_SQUARES;

/* With what a coarser level knows. What stays is taken from `keep`, what is needed to learn from
 * `now`. */
static LWYI_SQUARES* LWYI(new_squares)(lwyi_pool* keep, lwyi_pool* now, size_t taps,
                                       const LWYI_SQUARES* coarser) {
  LWYI_SQUARES* q = (LWYI_SQUARES*)lwyi_take(keep, 1, sizeof *q);
  size_t i;
  if (!q) return NULL;
  q->sums = (double*)lwyi_take(keep, taps * (taps + 1), sizeof(double));
  q->plain = (LWYI_REAL*)lwyi_take(now, (taps + 1) * LWYI_BATCH, sizeof(LWYI_REAL));
  q->weighted = (LWYI_REAL*)lwyi_take(now, taps * LWYI_BATCH, sizeof(LWYI_REAL));
  if (!q->sums || !q->plain || !q->weighted) return NULL;
  q->taps = taps;
  q->guess_weight = 1;
  if (coarser && coarser->taps == taps && coarser->known > 0) {
    const double scale = coarser->known > 512 ? 512 / coarser->known : 1;
    for (i = 0; i < taps * (taps + 1); ++i) q->sums[i] = coarser->sums[i] * scale;
    q->known = coarser->known * scale;
    q->is_ready = coarser->is_ready;
    q->guess_weight = coarser->guess_weight;
    memcpy(q->weights, coarser->weights, sizeof q->weights);
  }
  return q;
}

/* What is far off or no number teaches nothing. */
static LWYI_REAL LWYI(usable)(LWYI_REAL x) { return LWYI_ABS(x) < (LWYI_REAL)1e6 ? x : 0; }

static void LWYI(add_products)(LWYI_SQUARES* q) {
  size_t r, k, i, lane;
  for (r = 0; r < q->taps; ++r)
    for (k = r; k <= q->taps; ++k) {
      const LWYI_REAL *a = q->weighted + r * LWYI_BATCH, *b = q->plain + k * LWYI_BATCH;
      LWYI_REAL s[LWYI_GROUP] = {0};
      for (i = 0; i < LWYI_BATCH; i += LWYI_GROUP)
        for (lane = 0; lane < LWYI_GROUP; ++lane) s[lane] += a[i + lane] * b[i + lane];
      q->sums[r * (q->taps + 1) + k] +=
          (double)(((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])));
    }
}

/* The normal equations, by elimination; `a` has room for them and for the solution. */
static void LWYI(solve)(LWYI_SQUARES* q, double* a) {
  const size_t n = q->taps, pitch = n + 1;
  double *x = a + n * pitch, total = 0;
  size_t r, s, k;
  memcpy(a, q->sums, n * pitch * sizeof *a);
  for (r = 0; r < n; ++r) a[r * pitch + r] += 1e-5 * a[r * pitch + r] + 1e-4 * q->known;
  for (r = 0; r < n; ++r) {
    const double* row = a + r * pitch;
    double inverse;
    if (!(row[r] > 0)) return; /* what was known stays */
    inverse = 1 / row[r];
    for (s = r + 1; s < n; ++s) {
      const double factor = row[s] * inverse;
      for (k = s; k <= n; ++k) a[s * pitch + k] -= factor * row[k];
    }
  }
  for (r = n; r-- > 0;) {
    double sum = a[r * pitch + n];
    for (k = r + 1; k < n; ++k) sum -= a[r * pitch + k] * x[k];
    x[r] = sum / a[r * pitch + r];
  }
  for (k = 0; k < n; ++k) {
    q->weights[k] = (LWYI_REAL)x[k];
    total += x[k];
  }
  q->guess_weight = (LWYI_REAL)(1 - total);
  q->is_ready = 1;
}

/* Learns from eight values: what they were, their taps, first guess, prediction, and the error that
 * was to be expected. */
static void LWYI(sample)(LWYI_SQUARES* q, const LWYI_REAL* const* taps, const LWYI_REAL* guess,
                         const LWYI_REAL* predicted, const LWYI_REAL* values, const float* expected,
                         LWYI_REAL inverse, double* scratch) {
  LWYI_REAL weight[LWYI_GROUP];
  size_t i, t;
  for (i = 0; i < LWYI_GROUP; ++i) {
    const LWYI_REAL u = LWYI(usable)((values[i] - predicted[i]) * inverse),
                    v = LWYI(usable)((LWYI_REAL)expected[i]);
    weight[i] = 1 / (((LWYI_REAL)0.5 * u * u + 4 * v * v) + (LWYI_REAL)0.25);
  }
  for (t = 0; t <= q->taps; ++t) {
    const LWYI_REAL* from = t < q->taps ? taps[t] : values;
    LWYI_REAL* to = q->plain + t * LWYI_BATCH + q->waiting;
    for (i = 0; i < LWYI_GROUP; ++i) to[i] = LWYI(usable)((from[i] - guess[i]) * inverse);
    for (i = 0; t < q->taps && i < LWYI_GROUP; ++i)
      q->weighted[t * LWYI_BATCH + q->waiting + i] = to[i] * weight[i];
  }
  q->waiting += LWYI_GROUP;
  if (q->waiting < LWYI_BATCH) return;
  q->waiting = 0;
  LWYI(add_products)(q);
  q->known += LWYI_BATCH;
  q->since += LWYI_BATCH;
  if (q->since < 512 || q->known < 8 * (double)q->taps) return;
  q->since = 0;
  LWYI(solve)(q, scratch);
  if (q->known > 1536) {
    const double scale = 1536 / q->known;
    for (i = 0; i < q->taps * (q->taps + 1); ++i) q->sums[i] *= scale;
    q->known = 1536;
  }
}

/* ---- pyramid (pyramid.md) ---- */

/* What is learned about the parts of a level: for predictions, and for the error to expect. */
typedef struct LWYI_MEMORY {
  LWYI_SQUARES* taps[1 << LWYI_MOST_ACTIVE];
  lwyi_squares_f32* sizes[1 << LWYI_MOST_ACTIVE];
} LWYI_MEMORY;

typedef struct LWYI_WALK {
  lwyi_pyramid* p;
  LWYI_SOURCE* source;
  lwyi_pool *keep, *now; /* for what finer levels need, and for what ends with the step */
  /* About the step. */
  lwyi_layout l;
  lwyi_grid grid;
  LWYI_REAL inverse; /* of its step */
  int keeps_sizes;   /* whether finer levels will ask for those of its codes */
  LWYI_MEMORY* memory;
  const LWYI_MEMORY* coarser;
  LWYI_REAL* numbers; /* the values, as the layout says */
  uint8_t* sizes;     /* of their codes */
  size_t slice;       /* where the slice begins in both */
  size_t index[LWY_MAX_RANK];
  /* About the part. */
  const lwyi_part* part;
  LWYI_SQUARES* learner; /* of taps; NULL: there are none */
  lwyi_squares_f32* expectation;
  int is_by_planes;
  unsigned tapped_parts[1 << LWYI_MOST_ACTIVE]; /* the parts there were when taps were found */
  size_t tap_count[1 << LWYI_MOST_ACTIVE];
  lwyi_tap taps[1 << LWYI_MOST_ACTIVE][LWYI_MOST_TAPS];
  /* About the band. */
  const LWYI_REAL* tap_rows[LWYI_MOST_TAPS];
  LWYI_REAL guess[LWYI_MOST_CODES], better[LWYI_MOST_CODES],
      ghosts[3 * LWYI_MOST_ACTIVE][LWYI_MOST_CODES];
  float activity[LWYI_MOST_CODES], expected[LWYI_MOST_CODES], near[LWYI_MOST_CODES],
      before[LWYI_MOST_CODES];
  uint16_t near_sum[LWYI_MOST_CODES], before_sum[LWYI_MOST_CODES];
  uint8_t contexts[LWYI_MOST_CODES];
  LWYI_CODE codes[LWYI_MOST_CODES];
  double scratch[LWYI_MOST_TAPS * (LWYI_MOST_TAPS + 2)];
} LWYI_WALK;

/* Where a row of a part begins in the storage. */
static size_t LWYI(row_of)(const LWYI_WALK* w, const lwyi_part* part, const size_t* index) {
  size_t row = 0, k;
  for (k = 0; k + 1 < w->l.rank; ++k) row = row * part->extents[k] + index[k];
  return w->slice + part->first + row * part->pitch;
}
/* And in the array; values in it are *step apart. */
static size_t LWYI(place_of)(const LWYI_WALK* w, const lwyi_part* part, const size_t* index,
                             size_t* step) {
  const lwyi_layout* l = &w->l;
  size_t place = l->origin, k;
  for (k = 0; k < l->rank; ++k) {
    const size_t i = k + 1 < l->rank ? index[k] : 0;
    place += (l->is_top ? i : 2 * i + (part->odd >> k & 1)) * l->stride[k];
  }
  for (k = 0; k < l->frozen; ++k) place += w->index[k] * l->slice_stride[k];
  *step = l->stride[l->rank - 1] * (l->is_top ? 1 : 2);
  return place;
}

/* The next value of the parabola through three, the nearest first. */
static LWYI_REAL LWYI(beyond)(LWYI_REAL r0, LWYI_REAL r1, LWYI_REAL r2) {
  return 3 * (r0 - r1) + r2;
}

/* What stands beside a row: its parabola continued. */
static void LWYI(pad)(LWYI_WALK* w, const lwyi_part* part, size_t row) {
  LWYI_REAL* r = w->numbers + row;
  uint8_t* s = w->sizes + row;
  const size_t n = part->extents[w->l.rank - 1];
  r[-1] = n > 2 ? LWYI(beyond)(r[0], r[1], r[2]) : n > 1 ? 2 * r[0] - r[1] : r[0];
  r[n] = n > 2 ? LWYI(beyond)(r[n - 1], r[n - 2], r[n - 3]) : n > 1 ? 2 * r[1] - r[0] : r[0];
  r[n + 1] = n > 1 ? LWYI(beyond)(r[n], r[n - 1], r[n - 2]) : r[0];
  r[-2] = r[-3] = r[-4] = r[-1];
  r[n + 2] = r[n + 3] = r[n + 1];
  s[-1] = s[0];
  s[n] = s[n + 1] = s[n - 1];
}

/* Takes values of a row that are known from the array. */
static void LWYI(load)(LWYI_WALK* w, size_t row, size_t place, size_t step, size_t first,
                       size_t end) {
  const LWYI_REAL* values = (const LWYI_REAL*)w->p->c->values; /* if they are such */
  size_t i;
  if (w->p->c->dtype == LWYI_DTYPE)
    for (i = first; i < end; ++i) w->numbers[row + i] = values[place + i * step];
  else
    for (i = first; i < end; ++i) w->numbers[row + i] = LWYI(number_at)(w->p->c, place + i * step);
  for (i = first; i < end; ++i) w->sizes[row + i] = w->p->sizes[place + i * step];
}

/* Of a part that is visited, what lies on cuts; of the grid, everything. */
static void LWYI(load_part)(LWYI_WALK* w, const lwyi_part* part) {
  const lwyi_layout* l = &w->l;
  const size_t last = l->rank - 1, n = part->extents[last];
  const int has_even_rows = !(part->odd >> last & 1);
  size_t index[LWYI_MOST_ACTIVE] = {0}, k;
  do {
    size_t step;
    const size_t row = LWYI(row_of)(w, part, index), place = LWYI(place_of)(w, part, index, &step);
    int is_known = part->odd == 0;
    for (k = 0; k < last && !is_known; ++k)
      is_known = !(part->odd >> k & 1) && ((l->is_cut_low[k] && index[k] == 0) ||
                                           (l->is_cut_high[k] && index[k] + 1 == part->extents[k]));
    if (is_known) {
      LWYI(load)(w, row, place, step, 0, n);
      LWYI(pad)(w, part, row);
    } else if (has_even_rows) {
      if (l->is_cut_low[last]) LWYI(load)(w, row, place, step, 0, 1);
      if (l->is_cut_high[last]) LWYI(load)(w, row, place, step, n - 1, n);
    }
  } while (lwyi_count_on(index, part->extents, last));
}

/* Rows outside continue those inside; r0 is the nearest, r1 and r2 may be missing. */
static const LWYI_REAL* LWYI(ghost)(LWYI_REAL* out, size_t count, const LWYI_REAL* r0,
                                    const LWYI_REAL* r1, const LWYI_REAL* r2) {
  size_t i;
  if (!r1) return r0;
  if (r2)
    for (i = 0; i < count; ++i) out[i] = LWYI(beyond)(r0[i], r1[i], r2[i]);
  else
    for (i = 0; i < count; ++i) out[i] = 2 * r0[i] - r1[i];
  return out;
}

/* Values at -3, -1, 1 and 3 times the level's stride. */
typedef struct LWYI_LINE {
  const LWYI_REAL *a, *b, *c, *d;
} LWYI_LINE;

/* Interpolated along `axes` axes, a constant where this is called. */
static inline void LWYI(blend)(const LWYI_LINE* lines, const int axes, size_t count,
                               LWYI_REAL inverse, LWYI_REAL* guess, float* activity) {
  size_t i;
  int k;
  for (i = 0; i < count; ++i) {
    LWYI_REAL value[4], act[4], w[4], weight[4], scale, sum, values, activities;
    for (k = 0; k < axes; ++k) {
      const LWYI_REAL b = lines[k].b[i], c = lines[k].c[i], near = b + c,
                      far = lines[k].a[i] + lines[k].d[i];
      LWYI_REAL curve, t;
      value[k] = (LWYI_REAL)0.5625 * near - (LWYI_REAL)0.0625 * far;
      curve = LWYI_ABS(value[k] - (LWYI_REAL)0.5 * near);
      act[k] = ((curve + curve) + (LWYI_REAL)0.25 * LWYI_ABS(b - c)) * inverse;
      t = (act[k] + act[k]) + 3;
      t = t < 32768 ? t : 32768;
      w[k] = t * t;
    }
    if (axes == 1) {
      guess[i] = value[0];
      activity[i] = (float)act[0];
      continue;
    }
    if (axes == 2) weight[0] = w[1], weight[1] = w[0];
    if (axes == 3) weight[0] = w[1] * w[2], weight[1] = w[0] * w[2], weight[2] = w[0] * w[1];
    for (k = 0; axes == 4 && k < 4; ++k) weight[k] = 1 / w[k];
    sum = weight[0], values = value[0] * weight[0], activities = act[0] * weight[0];
    for (k = 1; k < axes; ++k) {
      sum += weight[k];
      values += value[k] * weight[k];
      activities += act[k] * weight[k];
    }
    scale = 1 / sum;
    guess[i] = values * scale;
    activity[i] = (float)(activities * scale);
  }
}

static void LWYI(add_sizes)(uint16_t* sum, const uint8_t* sizes, size_t count, unsigned times) {
  size_t i;
  for (i = 0; i < count; ++i) sum[i] = (uint16_t)(sum[i] + times * sizes[i]);
}

/* The first guess of a row from the parts around it, and the sizes near it; says along how many
 * axes. */
static int LWYI(guess_between)(LWYI_WALK* w, const size_t* index, size_t x, size_t count, size_t at,
                               unsigned* near) {
  const lwyi_layout* l = &w->l;
  LWYI_LINE lines[LWYI_MOST_ACTIVE];
  int axes = 0, ghosts = 0;
  size_t axis, k;
  for (axis = 0; axis < l->rank; ++axis) {
    const lwyi_part* side;
    size_t here, stride, n, j;
    LWYI_LINE* line = &lines[axes];
    const LWYI_REAL *r, *second;
    if (!(w->part->odd >> axis & 1)) continue;
    side = &l->part[l->place[w->part->odd ^ 1u << axis]];
    here = LWYI(row_of)(w, side, index) + x;
    r = w->numbers + here;
    ++axes;
    *near += 2;
    LWYI(add_sizes)(w->near_sum + at, w->sizes + here, count, 1);
    if (axis + 1 == l->rank) {
      line->a = r - 1, line->b = r, line->c = r + 1, line->d = r + 2;
      LWYI(add_sizes)(w->near_sum + at, w->sizes + here + 1, count, 1);
      continue;
    }
    for (stride = side->pitch, k = axis + 1; k + 1 < l->rank; ++k) stride *= side->extents[k];
    j = index[axis], n = side->extents[axis];
    line->a = j > 0 ? r - stride : NULL;
    line->b = r;
    line->c = j + 1 < n ? r + stride : NULL;
    line->d = j + 2 < n ? r + 2 * stride : NULL;
    second = j > 1 ? r - 2 * stride : NULL;
    if (line->c)
      LWYI(add_sizes)(w->near_sum + at, w->sizes + here + stride, count, 1);
    else
      --*near, line->c = LWYI(ghost)(w->ghosts[ghosts++], count, r, line->a, second);
    if (!line->a)
      line->a = LWYI(ghost)(w->ghosts[ghosts++], count, r, line->c == r ? NULL : line->c, line->d);
    if (!line->d) line->d = LWYI(ghost)(w->ghosts[ghosts++], count, line->c, r, line->a);
  }
  if (axes == 1) LWYI(blend)(lines, 1, count, w->inverse, w->guess + at, w->activity + at);
  if (axes == 2) LWYI(blend)(lines, 2, count, w->inverse, w->guess + at, w->activity + at);
  if (axes == 3) LWYI(blend)(lines, 3, count, w->inverse, w->guess + at, w->activity + at);
  if (axes == 4) LWYI(blend)(lines, 4, count, w->inverse, w->guess + at, w->activity + at);
  return axes;
}

/* The first guess of a row of the top from the slices before. */
static void LWYI(guess_from_slices)(LWYI_WALK* w, size_t row, size_t count, size_t at) {
  const lwyi_layout* l = &w->l;
  unsigned set;
  size_t i, k;
  memset(w->activity + at, 0, count * sizeof *w->activity);
  for (i = 0; i < count; ++i) w->guess[at + i] = 0;
  for (set = 1; set < 1u << l->frozen; ++set) {
    size_t back = 0, stride = l->slice_size;
    int is_inside = 1;
    const LWYI_REAL* from;
    for (k = l->frozen; k-- > 0; stride *= l->slices[k]) {
      if (!(set >> k & 1)) continue;
      back += stride;
      is_inside = is_inside && w->index[k] > 0;
    }
    if (!is_inside) continue;
    from = w->numbers + row - back;
    if (lwyi_popcount(set) % 2)
      for (i = 0; i < count; ++i) w->guess[at + i] += from[i];
    else
      for (i = 0; i < count; ++i) w->guess[at + i] -= from[i];
  }
}

/* Sums of sizes in rows and slices before; says how many there are. */
static unsigned LWYI(sum_before)(LWYI_WALK* w, const size_t* index, size_t row, size_t count,
                                 size_t at, unsigned near) {
  const lwyi_layout* l = &w->l;
  const uint8_t* sizes = w->sizes + row;
  uint16_t* sum = w->before_sum + at;
  size_t stride = w->part->pitch, axis;
  unsigned known = 0;
  for (axis = l->rank - 1; axis-- > 0; stride *= w->part->extents[axis]) {
    if (index[axis] == 0 || (w->is_by_planes && axis + 2 == l->rank)) continue;
    LWYI(add_sizes)(sum, sizes - stride, count, 2);
    LWYI(add_sizes)(sum, sizes - stride - 1, count, 1);
    LWYI(add_sizes)(sum, sizes - stride + 1, count, 1);
    known += 4;
  }
  stride = l->slice_size;
  for (axis = l->frozen; axis-- > 0; stride *= l->slices[axis]) {
    if (w->index[axis] == 0 || near + known + 3 > 32) continue;
    LWYI(add_sizes)(sum, sizes - stride, count, 2);
    known += 2;
    if (w->index[axis] == 1) continue;
    LWYI(add_sizes)(sum, sizes - 2 * stride, count, 1);
    known += 1;
  }
  return known;
}

/* Guesses a row (or a run of it), and says what error is to be expected. */
static void LWYI(prepare)(LWYI_WALK* w, const size_t* index, size_t x, size_t count, size_t at) {
  const size_t row = LWYI(row_of)(w, w->part, index) + x;
  const lwyi_squares_f32* e = w->expectation;
  unsigned near = 0, before, level = w->l.level < 2 ? w->l.level : 2, first = 192;
  float per_near, per_before, each, wa = 0.2f, wn, wb, w1 = 0;
  int axes = 0;
  size_t i;
  memset(w->near_sum + at, 0, count * sizeof *w->near_sum);
  memset(w->before_sum + at, 0, count * sizeof *w->before_sum);
  if (w->part->odd == 0)
    LWYI(guess_from_slices)(w, row, count, at);
  else
    axes = LWYI(guess_between)(w, index, x, count, at, &near);
  if (axes > 0) first = 32 * (2 * level + (axes > 1));
  before = LWYI(sum_before)(w, index, row, count, at, near);
  per_near = near > 0 ? 1 / (float)near : 0;
  per_before = before > 0 ? 1 / (float)before : 0;
  each = near + before > 0 ? 1 / (float)(near + before) : 0;
  wn = wb = each;
  if (e->is_ready)
    wa = e->weights[0], wn = e->weights[1] * per_near, wb = e->weights[2] * per_before,
    w1 = e->weights[3];
  for (i = at; i < at + count; ++i) {
    const float sn = (float)w->near_sum[i], sb = (float)w->before_sum[i];
    const float raw = (w->activity[i] * wa + sn * wn) + (sb * wb + w1),
                size = raw < 0.0078125f ? 0.0078125f : raw;
    const uint32_t octave = (lwyi_bits_of_float(size) >> 22) - 240;
    w->expected[i] = size;
    w->contexts[i] = (uint8_t)((octave < 31 ? octave : 31) + first);
    w->near[i] = sn * per_near;
    w->before[i] = sb * per_before;
  }
}

/* Finds the rows of the taps; where there are none, the guess itself. */
static void LWYI(find_rows)(LWYI_WALK* w, const size_t* index, size_t x) {
  const lwyi_layout* l = &w->l;
  size_t t, k;
  for (t = 0; t < w->learner->taps; ++t) {
    const lwyi_tap* tap = &w->taps[w->part->odd][t];
    const lwyi_part* holder = &l->part[l->place[tap->odd]];
    ptrdiff_t row = 0, back = 0;
    int is_inside = 1;
    for (k = 0; k + 1 < l->rank; ++k) {
      const ptrdiff_t i = (ptrdiff_t)index[k] + tap->shift[k];
      is_inside = is_inside && i >= 0 && i < (ptrdiff_t)holder->extents[k];
      row = row * (ptrdiff_t)holder->extents[k] + i;
    }
    for (k = 0; k < l->frozen; ++k) {
      const ptrdiff_t i = (ptrdiff_t)w->index[k] + tap->back[k];
      is_inside = is_inside && i >= 0 && i < (ptrdiff_t)l->slices[k];
      back = back * (ptrdiff_t)l->slices[k] + tap->back[k];
    }
    w->tap_rows[t] = w->guess;
    if (is_inside)
      w->tap_rows[t] =
          w->numbers + ((ptrdiff_t)(w->slice + holder->first + x) + row * (ptrdiff_t)holder->pitch +
                        tap->shift[l->rank - 1] + back * (ptrdiff_t)l->slice_size);
  }
}

/* Predictions from taps. */
static void LWYI(apply_taps)(LWYI_WALK* w, size_t count) {
  const LWYI_SQUARES* q = w->learner;
  size_t i, t;
  for (i = 0; i < count; ++i) w->better[i] = w->guess[i] * q->guess_weight;
  for (t = 0; t < q->taps; ++t) {
    const LWYI_REAL* tap = w->tap_rows[t];
    const LWYI_REAL weight = q->weights[t];
    for (i = 0; i < count; ++i) w->better[i] += tap[i] * weight;
  }
}

/* Values from predictions and codes, to the storage and to the array. */
static void LWYI(recover_run)(LWYI_WALK* w, const LWYI_REAL* predicted, const LWYI_CODE* codes,
                              size_t row, size_t place, size_t step, size_t count) {
  lwyi_pyramid* p = w->p;
  LWYI_REAL* numbers = w->numbers + row;
  uint8_t* sizes = w->sizes + row;
  const LWYI_REAL unit = LWYI(step_of)(p->c, &w->grid);
  size_t i;
  for (i = 0; i < count; ++i) sizes[i] = LWYI(size_of)(codes[i]);
  if (unit > 0 && LWYI(are_small)(codes, count)) {
    LWYI_REAL* values = (LWYI_REAL*)p->c->values + place;
    for (i = 0; i < count; ++i)
      numbers[i] = (LWYI_REAL)lwyi_in_range(
          &w->grid, predicted[i] + (LWYI_REAL)(int32_t)codes[i] * unit);
    for (i = 0; i < count; ++i) values[i * step] = numbers[i];
  } else {
    for (i = 0; i < count; ++i)
      numbers[i] = LWYI(visit)(p->c, &w->grid, predicted[i], codes[i], p->patches, p->done + i,
                               place + i * step);
  }
  for (i = 0; w->keeps_sizes && i < count; ++i) p->sizes[place + i * step] = sizes[i];
  p->done += count;
}

static void LWYI(learn)(LWYI_WALK* w, const LWYI_REAL* predicted, size_t row, size_t count) {
  LWYI_SQUARES* q = w->learner;
  const LWYI_REAL* taps[LWYI_MOST_TAPS];
  size_t g, t;
  for (g = q->rows++ * 5 % w->p->every; (g + 1) * LWYI_GROUP <= count; g += w->p->every) {
    const size_t x = g * LWYI_GROUP;
    for (t = 0; t < q->taps; ++t) taps[t] = w->tap_rows[t] + x;
    LWYI(sample)
    (q, taps, w->guess + x, predicted + x, w->numbers + row + x, w->expected + x, w->inverse,
     w->scratch);
  }
}

static void LWYI(learn_sizes)(LWYI_WALK* w, size_t row, size_t count, size_t at) {
  static const float ones[LWYI_GROUP] = {1, 1, 1, 1, 1, 1, 1, 1}, zeros[LWYI_GROUP] = {0};
  lwyi_squares_f32* q = w->expectation;
  const size_t every = q->known >= 1536 ? 64 : 4;
  size_t g, i;
  for (g = q->rows++ * 5 % every; (g + 1) * LWYI_GROUP <= count; g += every) {
    const size_t x = at + g * LWYI_GROUP;
    const float* taps[4];
    float sizes[LWYI_GROUP];
    taps[0] = w->activity + x, taps[1] = w->near + x, taps[2] = w->before + x, taps[3] = ones;
    for (i = 0; i < LWYI_GROUP; ++i) sizes[i] = w->sizes[row + g * LWYI_GROUP + i];
    lwyi_sample_f32(q, taps, zeros, w->expected + x, sizes, w->expected + x, 1, w->scratch);
  }
}

/* Rows, or a part of one, none of which needs a code of the others. */
static int LWYI(walk_band)(LWYI_WALK* w, const size_t* first, size_t lines, size_t x,
                           size_t count) {
  const LWYI_REAL* predicted = w->guess;
  const size_t row = LWYI(row_of)(w, w->part, first) + x;
  size_t index[LWYI_MOST_ACTIVE], line;
  memcpy(index, first, sizeof index);
  for (line = 0; line < lines; ++line) {
    if (w->l.rank > 1) index[w->l.rank - 2] = first[w->l.rank - 2] + line;
    LWYI(prepare)(w, index, x, count, line * count);
  }
  if (w->learner) {
    LWYI(find_rows)(w, first, x);
    if (w->learner->is_ready) {
      LWYI(apply_taps)(w, count);
      predicted = w->better;
    }
  }
  if (!LWYI(next_codes)(w->source, w->contexts, lines * count, w->codes)) return 0;
  for (line = 0; line < lines; ++line) {
    size_t step, place;
    if (w->l.rank > 1) index[w->l.rank - 2] = first[w->l.rank - 2] + line;
    place = LWYI(place_of)(w, w->part, index, &step) + x * step;
    LWYI(recover_run)
    (w, predicted + line * count, w->codes + line * count, row + line * w->part->pitch, place, step,
     count);
  }
  if (w->learner) LWYI(learn)(w, predicted, row, count);
  for (line = 0; line < lines; ++line)
    LWYI(learn_sizes)(w, row + line * w->part->pitch, count, line * count);
  return 1;
}

/* Sets the learners of the part; those of taps only where there are taps. */
static int LWYI(find_learners)(LWYI_WALK* w) {
  const lwyi_layout* l = &w->l;
  const unsigned odd = w->part->odd;
  unsigned parts = 0;
  size_t k;
  w->learner = NULL;
  if (!w->memory->sizes[odd])
    w->memory->sizes[odd] =
        lwyi_new_squares_f32(w->keep, w->now, 4, w->coarser ? w->coarser->sizes[odd] : NULL);
  w->expectation = w->memory->sizes[odd];
  if (!w->expectation) return 0;
  if (w->p->taps == 0 || w->part->extents[l->rank - 1] < LWYI_GROUP || (odd == 0 && l->parts > 1) ||
      l->level > 2)
    return 1;
  /* Taps depend on which axes there are and which parts have points, not on the extents. */
  for (k = 0; k < l->parts; ++k) parts |= 1u << l->part[k].odd;
  parts |= (unsigned)l->rank << 16 | (unsigned)l->frozen << 20;
  if (w->tapped_parts[odd] != parts) {
    w->tap_count[odd] = lwyi_find_taps(l, w->part, w->p->taps, w->taps[odd]);
    w->tapped_parts[odd] = parts;
  }
  if (w->tap_count[odd] == 0) return 1;
  if (!w->memory->taps[odd])
    w->memory->taps[odd] = LWYI(new_squares)(w->keep, w->now, w->tap_count[odd],
                                             w->coarser ? w->coarser->taps[odd] : NULL);
  w->learner = w->memory->taps[odd];
  return w->learner != NULL;
}

/* All rows of a part in a slice, but those on cuts. */
static int LWYI(walk_part)(LWYI_WALK* w) {
  const lwyi_layout* l = &w->l;
  const size_t last = l->rank - 1;
  size_t begin[LWYI_MOST_ACTIVE] = {0}, end[LWYI_MOST_ACTIVE], index[LWYI_MOST_ACTIVE] = {0};
  size_t most = 1, lines, line, x, axis;
  if (!LWYI(find_learners)(w)) return 0;
  for (axis = 0; axis < l->rank; ++axis) {
    const int is_even = !(w->part->odd >> axis & 1);
    begin[axis] = index[axis] = is_even && l->is_cut_low[axis] ? 1 : 0;
    end[axis] = w->part->extents[axis] - (is_even && l->is_cut_high[axis] ? 1 : 0);
    if (begin[axis] >= end[axis]) return 1;
  }
  w->is_by_planes = w->p->rank > 2 && !w->learner;
  if (w->is_by_planes) most = lwyi_max(1, LWYI_MOST_CODES / (end[last] - begin[last]));
  for (;;) {
    lines = last > 0 ? lwyi_min(most, end[last - 1] - index[last - 1]) : 1;
    for (x = begin[last]; x < end[last]; x += LWYI_MOST_CODES)
      if (!LWYI(walk_band)(w, index, lines, x, lwyi_min(LWYI_MOST_CODES, end[last] - x))) return 0;
    for (line = 0; line < lines; ++line)
      LWYI(pad)(w, w->part, LWYI(row_of)(w, w->part, index) + line * w->part->pitch);
    if (last == 0) return 1;
    index[last - 1] += lines;
    for (axis = last - 1; index[axis] == end[axis]; ++index[axis]) {
      if (axis == 0) return 1;
      index[axis] = begin[axis];
      --axis;
    }
  }
}

/* One step; the memory is that of its level, or of its kind of cell. */
static int LWYI(walk_step)(LWYI_WALK* w, const lwyi_layout* layout, LWYI_MEMORY* memory,
                           const LWYI_MEMORY* coarser) {
  lwyi_pool storage = lwyi_new_pool(w->p->c->s);
  const double factor = lwyi_tightening(w->p, layout->level);
  const lwyi_grid whole = lwyi_grid_at(w->p->c, w->p->c->bound);
  const double step = lwyi_is_float(whole.dtype) ? whole.step : (double)whole.whole_step;
  int is_well = 0;
  size_t k, slice;
  w->l = *layout;
  w->memory = memory, w->coarser = coarser;
  w->grid = lwyi_grid_at(w->p->c, w->p->c->bound * factor);
  w->inverse = (LWYI_REAL)(1 / (step * factor));
  w->numbers =
      (LWYI_REAL*)lwyi_take(&storage, w->l.slice_count * w->l.slice_size, sizeof(LWYI_REAL));
  w->sizes = (uint8_t*)lwyi_take(&storage, w->l.slice_count * w->l.slice_size, 1);
  memset(w->index, 0, sizeof w->index);
  if (w->numbers && w->sizes) {
    for (w->slice = 0, slice = 0; slice < w->l.slice_count; ++slice, w->slice += w->l.slice_size) {
      for (k = 0; !w->l.is_top && k < w->l.parts; ++k) LWYI(load_part)(w, &w->l.part[k]);
      lwyi_count_on(w->index, w->l.slices, w->l.frozen);
    }
    memset(w->index, 0, sizeof w->index);
    for (is_well = 1, w->slice = 0, slice = 0; is_well && slice < w->l.slice_count;
         ++slice, w->slice += w->l.slice_size) {
      for (k = w->l.is_top ? 0 : 1; is_well && k < w->l.parts; ++k) {
        w->part = &w->l.part[k];
        is_well = LWYI(walk_part)(w);
      }
      lwyi_count_on(w->index, w->l.slices, w->l.frozen);
    }
  }
  lwyi_free_pool(&storage);
  return is_well;
}

/* The codes of a step, if it has a segment of its own. */
static int LWYI(begin_segment)(LWYI_WALK* w, size_t count) {
  return !w->source->rans || w->p->c->size < (size_t)1 << 17 ||
         lwyi_next_segment(w->source->rans, count);
}

static LWYI_MEMORY* LWYI(new_memory)(lwyi_pool* pool) {
  return (LWYI_MEMORY*)lwyi_take(pool, 1, sizeof(LWYI_MEMORY));
}

/* The top and all levels that are not cut; leaves in *memory what the last one has learned. */
static int LWYI(walk_coarse)(LWYI_WALK* w, unsigned tiled, lwyi_pool* keep, LWYI_MEMORY** memory) {
  lwyi_pyramid* p = w->p;
  lwyi_piece pieces[LWYI_MOST_ACTIVE];
  lwyi_layout l;
  size_t k, count = 0;
  unsigned level;
  memset(pieces, 0, sizeof pieces);
  for (k = 0; k < p->rank; ++k) pieces[k].last = p->c->shape[p->axes[k]] - 1, pieces[k].is_open = 1;
  for (level = tiled; level <= p->levels; ++level) {
    l = lwyi_lay_out(p, level, level == p->levels, pieces);
    count += lwyi_step_size(&l);
  }
  if (!LWYI(begin_segment)(w, count)) return 0;
  *memory = NULL;
  w->keeps_sizes = p->levels > 0;
  for (level = p->levels + 1; level-- > tiled && level >= p->c->last_level;) {
    lwyi_pool now = lwyi_new_pool(p->c->s);
    LWYI_MEMORY* next = LWYI(new_memory)(keep);
    int is_well = 0;
    w->keep = keep, w->now = &now;
    l = lwyi_lay_out(p, level, level == p->levels, pieces);
    if (next) is_well = LWYI(walk_step)(w, &l, next, *memory);
    lwyi_free_pool(&now);
    if (!is_well) return 0;
    if (level < p->levels) *memory = next; /* nobody learns from the top */
  }
  return 1;
}

/* How many cells there are along each axis that extend along the open ones. */
static size_t LWYI(cells)(const lwyi_pyramid* p, unsigned open, size_t* counts) {
  size_t k, all = 1;
  for (k = 0; k < p->rank; ++k) all *= counts[k] = p->cuts[k] + (open >> k & 1);
  return all;
}

/* Of a level, the cells on cuts with the same open axes. */
static int LWYI(walk_cells)(LWYI_WALK* w, unsigned level, unsigned open, LWYI_MEMORY* memory,
                            const LWYI_MEMORY* coarser) {
  size_t counts[LWYI_MOST_ACTIVE], index[LWYI_MOST_ACTIVE] = {0};
  lwyi_pool now = lwyi_new_pool(w->p->c->s);
  int is_well = 1;
  w->now = &now;
  LWYI(cells)(w->p, open, counts);
  do {
    lwyi_piece pieces[LWYI_MOST_ACTIVE];
    lwyi_layout l;
    lwyi_cell(w->p, open, index, pieces);
    l = lwyi_lay_out(w->p, level, 0, pieces);
    is_well = LWYI(walk_step)(w, &l, memory, coarser);
  } while (is_well && lwyi_count_on(index, counts, w->p->rank));
  lwyi_free_pool(&now);
  return is_well;
}

/* Of a level, all cells on cuts. `memories` has, by open axes, those of the level before, and gets
 * those of this one. */
static int LWYI(walk_cuts)(LWYI_WALK* w, unsigned level, lwyi_pool* keep, LWYI_MEMORY** memories) {
  const unsigned all = (1u << w->p->rank) - 1;
  size_t counts[LWYI_MOST_ACTIVE], count = 0;
  unsigned open;
  for (open = 1; open < all; ++open) {
    size_t index[LWYI_MOST_ACTIVE] = {0};
    if (LWYI(cells)(w->p, open, counts) == 0) continue;
    do {
      lwyi_piece pieces[LWYI_MOST_ACTIVE];
      lwyi_layout l;
      lwyi_cell(w->p, open, index, pieces);
      l = lwyi_lay_out(w->p, level, 0, pieces);
      count += lwyi_step_size(&l);
    } while (lwyi_count_on(index, counts, w->p->rank));
  }
  if (count == 0) return 1;
  if (!LWYI(begin_segment)(w, count)) return 0;
  w->keeps_sizes = 1;
  w->keep = keep;
  for (open = lwyi_next_set(0, all); open < all; open = lwyi_next_set(open, all)) {
    LWYI_MEMORY* memory;
    if (LWYI(cells)(w->p, open, counts) == 0) continue;
    memory = LWYI(new_memory)(keep);
    if (!memory || !LWYI(walk_cells)(w, level, open, memory, memories[open])) return 0;
    memories[open] = memory;
  }
  return 1;
}

/* Whether a part of the chunk is asked for that has values of this tile. */
static int LWYI(is_wanted)(const lwyi_pyramid* p, const lwyi_piece* pieces) {
  const lwyi_chunk* c = p->c;
  size_t k;
  if (!c->has_box) return 1;
  for (k = 0; k < p->rank; ++k) {
    const size_t first = pieces[k].first + (size_t)pieces[k].is_cut_low,
                 end = pieces[k].last + 1 - (size_t)pieces[k].is_cut_high;
    if (first >= c->box_end[p->axes[k]] || end <= c->box_first[p->axes[k]]) return 0;
  }
  return 1;
}

/* Of a level, the cells between the cuts. `memories` has one for each tile, of the level before,
 * and gets that of this one. */
static int LWYI(walk_tiles)(LWYI_WALK* w, unsigned level, lwyi_pool* keep, LWYI_MEMORY** memories) {
  lwyi_pyramid* p = w->p;
  size_t counts[LWYI_MOST_ACTIVE], index[LWYI_MOST_ACTIVE] = {0}, tile = 0;
  const int has_segments = w->source->rans && p->c->size >= (size_t)1 << 17;
  LWYI(cells)(p, (1u << p->rank) - 1, counts);
  w->keeps_sizes = level > 0;
  do {
    lwyi_piece pieces[LWYI_MOST_ACTIVE];
    lwyi_layout l;
    lwyi_pool now = lwyi_new_pool(p->c->s);
    LWYI_MEMORY* memory;
    int is_well = 0;
    lwyi_cell(p, (1u << p->rank) - 1, index, pieces);
    l = lwyi_lay_out(p, level, 0, pieces);
    if (!LWYI(begin_segment)(w, lwyi_step_size(&l))) return 0;
    if (has_segments && !LWYI(is_wanted)(p, pieces)) {
      p->done += lwyi_step_size(&l);
      p->c->is_complete = 0;
      continue;
    }
    w->keep = level > 0 ? keep : &now;
    w->now = &now;
    memory = LWYI(new_memory)(w->keep);
    if (memory) is_well = LWYI(walk_step)(w, &l, memory, memories[tile]);
    memories[tile] = memory;
    lwyi_free_pool(&now);
    if (!is_well) return 0;
  } while (++tile, lwyi_count_on(index, counts, p->rank));
  return 1;
}

static int LWYI(walk_levels)(LWYI_WALK* w, lwyi_pool* keep) {
  lwyi_pyramid* p = w->p;
  const unsigned tiled = p->levels < 2 ? p->levels : 2;
  LWYI_MEMORY *before, *on_cuts[1 << LWYI_MOST_ACTIVE] = {NULL}, **tiles;
  size_t counts[LWYI_MOST_ACTIVE], count, i;
  unsigned level;
  if (w->source->rans && p->c->size < (size_t)1 << 17 &&
      !lwyi_next_segment(w->source->rans, p->c->size))
    return 0;
  if (!LWYI(walk_coarse)(w, tiled, keep, &before)) return 0;
  count = LWYI(cells)(p, (1u << p->rank) - 1, counts);
  tiles = (LWYI_MEMORY**)lwyi_take(keep, count, sizeof *tiles);
  if (!tiles) return 0;
  for (i = 0; i < count; ++i) tiles[i] = before;
  for (level = tiled; level-- > p->c->last_level;)
    if (!LWYI(walk_cuts)(w, level, keep, on_cuts) || !LWYI(walk_tiles)(w, level, keep, tiles))
      return 0;
  return 1;
}

static int LWYI(walk_pyramid)(lwyi_chunk* c, lwyi_pool* pool, LWYI_SOURCE* source,
                              lwyi_patches* patches, lwyi_reader* side) {
  lwyi_pyramid p;
  LWYI_WALK* w = (LWYI_WALK*)lwyi_take(pool, 1, sizeof *w);
  if (!w || !lwyi_read_pyramid(&p, c, side)) return 0;
  p.patches = patches;
  p.sizes = (uint8_t*)lwyi_take(pool, c->size, 1);
  w->p = &p;
  w->source = source;
  return p.sizes && LWYI(walk_levels)(w, pool);
}

/* ---- wavelet (wavelet.md) ---- */

typedef struct LWYI_TRANSFORM {
  lwyi_chunk* c;
  lwyi_wavelet* w;
  LWYI_SOURCE* source;
  LWYI_REAL* values;
  uint8_t contexts[LWYI_MOST_CODES];
  LWYI_CODE codes[LWYI_MOST_CODES];
} LWYI_TRANSFORM;

/* Where a row of a band begins in the array. */
static size_t LWYI(row_place)(const lwyi_wavelet* w, const lwyi_band* band, const size_t* index) {
  size_t place = band->first[w->rank - 1], k;
  for (k = 0; k + 1 < w->rank; ++k) place += (band->first[k] + index[k]) * w->stride[k];
  return place;
}

/* The first band: differences of the codes along each axis. */
static int LWYI(read_means)(LWYI_TRANSFORM* t, lwyi_pool* pool) {
  const lwyi_wavelet* w = t->w;
  const lwyi_band* band = &w->bands[0];
  const LWYI_REAL step = (LWYI_REAL)(w->step / band->norm);
  LWYI_CODE* codes = (LWYI_CODE*)lwyi_take(pool, band->size, sizeof *codes);
  size_t index[LWY_MAX_RANK] = {0}, rows[LWY_MAX_RANK], first, n, k, stride = 1;
  const LWYI_CODE* next = codes;
  if (!codes) return 0;
  memset(t->contexts, 192, sizeof t->contexts);
  for (first = 0; first < band->size; first += n) {
    n = lwyi_min(LWYI_MOST_CODES, band->size - first);
    if (!LWYI(next_codes)(t->source, t->contexts, n, codes + first)) return 0;
  }
  for (k = w->rank; k-- > 0; stride *= band->extents[k])
    LWYI(add_up)((LWYI_UNSIGNED*)codes, band->size, band->extents[k], stride);
  memcpy(rows, band->extents, sizeof rows);
  rows[w->rank - 1] = 1;
  do {
    LWYI_REAL* to = t->values + LWYI(row_place)(w, band, index);
    for (k = 0; k < band->extents[w->rank - 1]; ++k, ++next)
      to[k] = (LWYI_REAL)(t->c->width == 32 ? (LWYI_CODE)(int32_t)(uint32_t)*next : *next) * step;
  } while (lwyi_count_on(index, rows, w->rank));
  return 1;
}

static int LWYI(read_band)(LWYI_TRANSFORM* t, size_t b) {
  const lwyi_wavelet* w = t->w;
  const lwyi_band* band = &w->bands[b];
  const LWYI_REAL step = (LWYI_REAL)(w->step / band->norm);
  const size_t length = band->extents[w->rank - 1];
  size_t index[LWY_MAX_RANK] = {0}, rows[LWY_MAX_RANK], first, n, i;
  uint8_t* sizes = band->sizes;
  memcpy(rows, band->extents, sizeof rows);
  rows[w->rank - 1] = 1;
  do {
    LWYI_REAL* to = t->values + LWYI(row_place)(w, band, index);
    for (first = 0; first < length; first += n) {
      n = lwyi_min(LWYI_MOST_CODES, length - first);
      lwyi_wavelet_contexts(w, b, index, first, n, t->contexts);
      if (!LWYI(next_codes)(t->source, t->contexts, n, t->codes)) return 0;
      for (i = 0; i < n; ++i) {
        *sizes++ = LWYI(size_of)(t->codes[i]);
        to[first + i] = (LWYI_REAL)t->codes[i] * step;
      }
    }
  } while (lwyi_count_on(index, rows, w->rank));
  return 1;
}

/* to[i] += sign * the sum of weighted pairs of another half of a line of n values, mirrored at its
 * ends: of the odd places around an even one, or of the even ones around an odd one. */
static void LWYI(lift)(LWYI_REAL* to, size_t count, const LWYI_REAL* from, int is_odd, size_t n,
                       unsigned filter, LWYI_REAL sign) {
  static const double taps[2][4] = {{150.0 / 256, -25.0 / 256, 3.0 / 256, 0},
                                    {1225.0 / 2048, -245.0 / 2048, 49.0 / 2048, -5.0 / 2048}};
  const unsigned used = filter ? 4 : 3;
  const ptrdiff_t period = 2 * (ptrdiff_t)(n - 1);
  size_t i;
  unsigned k;
  for (i = 0; i < count; ++i) {
    LWYI_REAL sum = 0;
    for (k = 0; k < used; ++k) {
      ptrdiff_t low = 2 * ((ptrdiff_t)i - (ptrdiff_t)k - is_odd) + is_odd,
                high = 2 * ((ptrdiff_t)(i + k) + 1 - is_odd) + is_odd;
      LWYI_REAL pair;
      low = (low % period + period) % period, high = (high % period + period) % period;
      low = low < (ptrdiff_t)n ? low : period - low, high = high < (ptrdiff_t)n ? high : period - high;
      pair = (LWYI_REAL)(taps[filter][k] * (is_odd ? 0.5 : 1)) * (from[low / 2] + from[high / 2]);
      sum = k == 0 ? pair : sum + pair;
    }
    to[i] = sign < 0 ? to[i] - sum : to[i] + sum;
  }
}

/* Means and differences along one axis, in a box at the origin, become values. */
static void LWYI(undo_halving)(const lwyi_wavelet* w, LWYI_REAL* values, const size_t* extents,
                               size_t axis, LWYI_REAL* line) {
  const size_t n = extents[axis], evens = (n + 1) / 2, stride = w->stride[axis];
  size_t index[LWY_MAX_RANK] = {0}, lines[LWY_MAX_RANK], i, k;
  LWYI_REAL* odd = line + evens;
  memcpy(lines, extents, sizeof lines);
  lines[axis] = 1;
  do {
    LWYI_REAL* at = values;
    for (k = 0; k < w->rank; ++k) at += index[k] * w->stride[k];
    for (i = 0; i < n; ++i) line[i] = at[i * stride];
    LWYI(lift)(line, evens, odd, 1, n, w->filter, -1);
    LWYI(lift)(odd, n - evens, line, 0, n, w->filter, 1);
    for (i = 0; i < n; ++i) at[i * stride] = i % 2 ? odd[i / 2] : line[i / 2];
  } while (lwyi_count_on(index, lines, w->rank));
}

static int LWYI(undo_halvings)(const lwyi_wavelet* w, LWYI_REAL* values, lwyi_pool* pool) {
  size_t longest = 1, k;
  unsigned g, level, axis;
  LWYI_REAL* line;
  for (k = 0; k < w->rank; ++k) longest = lwyi_max(longest, w->shape[k]);
  line = (LWYI_REAL*)lwyi_take(pool, longest, sizeof *line);
  if (!line) return 0;
  for (g = w->groups; g-- > 0;)
    for (level = LWYI_MOST_DEPTH; level-- > 0;)
      for (axis = 0; axis < w->rank; ++axis) {
        size_t extents[LWY_MAX_RANK];
        if (!(w->group[g] >> axis & 1) || level >= w->depth[axis]) continue;
        for (k = 0; k < w->rank; ++k)
          extents[k] = w->group[g] >> k & 1
                           ? lwyi_halved(w->shape[k], (unsigned)lwyi_min(level, w->depth[k]))
                           : w->shape[k];
        LWYI(undo_halving)(w, values, extents, axis, line);
      }
  return 1;
}

/* Corrections, each in the context of those before it. */
static int LWYI(repair)(LWYI_TRANSFORM* t, lwyi_pool* pool, lwyi_reader* side) {
  lwyi_chunk* c = t->c;
  const lwyi_wavelet* w = t->w;
  const size_t row = w->shape[w->rank - 1],
               plane = w->rank > 1 ? row * w->shape[w->rank - 2] : row;
  uint8_t* sizes = (uint8_t*)lwyi_take(pool, plane + c->size + row + 2, 1);
  lwyi_rans* rans = (lwyi_rans*)lwyi_take(pool, 1, sizeof *rans);
  size_t y, x, n, i;
  if (!sizes || !rans || !lwyi_start_rans(rans, pool, side, c->width, c->size) ||
      !lwyi_next_segment(rans, c->size))
    return 0;
  t->source->rans = rans;
  for (y = 0; y < c->size; y += row)
    for (x = 0; x < row; x += n) {
      uint8_t* const at = sizes + plane + 1 + y + x;
      n = lwyi_min(LWYI_MOST_CODES, row - x);
      for (i = 0; i < n; ++i) {
        const uint8_t* before = at + i - row;
        unsigned near = 2u * before[0] + before[-1] + before[1];
        if (w->rank > 2) near += 2u * *(at + i - plane);
        t->contexts[i] = (uint8_t)(near < 15 ? near : 15);
      }
      if (!LWYI(next_codes)(t->source, t->contexts, n, t->codes)) return 0;
      for (i = 0; i < n; ++i) {
        const size_t place = y + x + i;
        at[i] = (uint8_t)lwyi_min(LWYI(size_of)(t->codes[i]), 3);
        if (t->codes[i] != 0)
          lwyi_put_bits(c->values, c->bytes, place,
                        lwyi_repaired(w, c, lwyi_bits_at(c->values, c->bytes, place), t->codes[i]));
      }
    }
  return lwyi_is_used_up(&rans->rest) || lwyi_corrupt(c->s, "bytes left over behind repairs");
}

static int LWYI(decode_wavelet)(lwyi_chunk* c, lwyi_pool* pool, lwyi_reader* in, lwyi_reader* side,
                                const lwyi_patches* exact) {
  lwyi_wavelet* w = (lwyi_wavelet*)lwyi_take(pool, 1, sizeof *w);
  LWYI_TRANSFORM* t = (LWYI_TRANSFORM*)lwyi_take(pool, 1, sizeof *t);
  LWYI_SOURCE* source = (LWYI_SOURCE*)lwyi_take(pool, 1, sizeof *source);
  lwyi_rans rans;
  size_t b, i;
  if (!w || !t || !source) return 0;
  if (!lwyi_read_wavelet_head(w, c, side)) return lwyi_corrupt(c->s, "impossible settings of a wavelet");
  if (!lwyi_find_bands(w, pool)) return 0;
  if (!lwyi_read_band_weights(w, side)) return lwyi_corrupt(c->s, "impossible weights of a wavelet");
  t->c = c, t->w = w, t->source = source, source->c = c;
  t->values = (LWYI_REAL*)lwyi_take(pool, c->size, sizeof *t->values);
  if (!t->values) return 0;
  if (c->recipe->encoder == LWYI_RANS) {
    if (!lwyi_start_rans(&rans, pool, in, c->width, c->size) || !lwyi_next_segment(&rans, c->size))
      return 0;
    source->rans = &rans;
  } else {
    LWYI_CODE* codes = (LWYI_CODE*)lwyi_take(pool, c->size, sizeof *codes);
    if (!codes || !LWYI(decode_codes)(c, pool, in, codes)) return 0;
    source->codes = codes;
  }
  if (!LWYI(read_means)(t, pool)) return 0;
  for (b = 1; b < w->count; ++b)
    if (!LWYI(read_band)(t, b)) return 0;
  if (source->rans && !lwyi_is_used_up(&rans.rest))
    return lwyi_corrupt(c->s, "bytes left over behind the codes");
  if (!LWYI(undo_halvings)(w, t->values, pool)) return 0;
  for (i = 0; i < c->size; ++i)
    lwyi_put_bits(c->values, c->bytes, i, lwyi_value_of(w, c->dtype, (double)t->values[i]));
  if (w->has_repairs && !LWYI(repair)(t, pool, side)) return 0;
  lwyi_apply_patches(c, exact);
  return 1;
}

/* ---- a chunk: from codes to values ---- */

static int LWYI(decode_pyramid)(lwyi_chunk* c, lwyi_pool* pool, lwyi_reader* in, lwyi_reader* side,
                                lwyi_patches* exact) {
  LWYI_SOURCE* source = (LWYI_SOURCE*)lwyi_take(pool, 1, sizeof *source);
  lwyi_rans rans;
  if (!source) return 0;
  source->c = c;
  if (c->recipe->encoder == LWYI_RANS) {
    if (!lwyi_start_rans(&rans, pool, in, c->width, c->size)) return 0;
    source->rans = &rans;
  } else {
    LWYI_CODE* codes = (LWYI_CODE*)lwyi_take(pool, c->size, sizeof *codes);
    if (!codes || !LWYI(decode_codes)(c, pool, in, codes)) return 0;
    source->codes = codes;
  }
  if (!LWYI(walk_pyramid)(c, pool, source, exact, side)) return 0;
  if (source->rans && c->last_level == 0 && !lwyi_is_used_up(&rans.rest))
    return lwyi_corrupt(c->s, "bytes left over behind the codes");
  return 1;
}

static int LWYI(decode_values)(lwyi_chunk* c, lwyi_pool* pool, lwyi_reader* in, lwyi_reader* side,
                               lwyi_patches* exact) {
  LWYI_CODE* codes;
  if (!lwyi_read_range(c, side)) return 0;
  if (c->recipe->predictor == LWYI_PYRAMID) return LWYI(decode_pyramid)(c, pool, in, side, exact);
  if (c->recipe->predictor == LWYI_WAVELET) return LWYI(decode_wavelet)(c, pool, in, side, exact);
  codes = (LWYI_CODE*)lwyi_take(pool, c->size, sizeof *codes);
  if (!codes || !LWYI(decode_codes)(c, pool, in, codes)) return 0;
  if (c->recipe->predictor == LWYI_INTERP) return LWYI(walk_interp)(c, pool, codes, exact, side);
  if (c->recipe->predictor == LWYI_LORENZO && !LWYI(undo_lorenzo)(c, side, codes)) return 0;
  if (c->recipe->predictor == LWYI_BLOCKS && !LWYI(undo_blocks)(c, pool, &codes)) return 0;
  LWYI(recover_all)(c, codes);
  lwyi_apply_patches(c, exact);
  return 1;
}

#endif /* LWYI_REAL */
