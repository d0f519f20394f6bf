/* SPDX-License-Identifier: BSD-3-Clause
 * What the tests of decoder/leeway_decode.h call. C99 and C++11.
 *
 *   driver compare IN.lwy ...       each against the .raw beside it; a line for each
 *   driver whole IN.lwy OUT
 *   driver box IN.lwy OUT FIRST:EXTENT ...
 *   driver level IN.lwy OUT LEVEL
 *   driver info IN.lwy
 *   driver mutate ROUNDS IN.lwy ... damaged streams: whatever comes out, nothing breaks
 *   driver starve IN.lwy ...        every allocation fails once
 *
 * Ends with the status of the decoder, its message on the standard output. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define LEEWAY_DECODE_IMPLEMENTATION
#include "../../decoder/leeway_decode.h"

static void die(const char* what, const char* name) {
  printf("driver: %s %s\n", what, name);
  exit(99);
}

/* Memory that knows how much of it is out, and can end: `left` allocations are granted. */
typedef struct budget {
  size_t live, bytes, most_bytes;
  long left;
} budget;
static void* grant(void* host, size_t bytes) {
  budget* b = (budget*)host;
  size_t* memory;
  if (b->left-- <= 0 || bytes > b->most_bytes - b->bytes) return NULL;
  memory = (size_t*)malloc(bytes + 16);
  if (!memory) return NULL;
  memory[0] = bytes;
  ++b->live;
  b->bytes += bytes;
  return (char*)memory + 16;
}
static void take_back(void* host, void* memory) {
  budget* b = (budget*)host;
  --b->live;
  b->bytes -= *(size_t*)((char*)memory - 16);
  free((char*)memory - 16);
}
static lwy_allocator allocator_of(budget* b, long allocations) {
  lwy_allocator allocator;
  b->live = b->bytes = 0;
  b->most_bytes = (size_t)512 << 20;
  b->left = allocations;
  allocator.allocate = grant, allocator.release = take_back, allocator.host = b;
  return allocator;
}

static uint8_t* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  uint8_t* bytes;
  if (!file || fseek(file, 0, SEEK_END) != 0) die("cannot read", path);
  *size = (size_t)ftell(file);
  rewind(file);
  bytes = (uint8_t*)malloc(*size ? *size : 1);
  if (!bytes || fread(bytes, 1, *size, file) != *size) die("cannot read", path);
  fclose(file);
  return bytes;
}

static void write_file(const char* path, const void* bytes, size_t size) {
  FILE* file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) die("cannot write", path);
}

static void* values_for(uint64_t bytes) {
  void* values = malloc(bytes ? (size_t)bytes : 1);
  if (!values) die("not enough memory", "");
  return values;
}

static int compare(int count, char** paths) {
  int i, worst = 0;
  for (i = 0; i < count; ++i) {
    size_t size, raw_size;
    uint8_t* bytes = read_file(paths[i], &size);
    char raw_path[1000];
    uint8_t* raw;
    lwy_stream stream;
    int status = lwy_open(&stream, bytes, size, NULL);
    void* values = values_for(stream.info.bytes);
    snprintf(raw_path, sizeof raw_path, "%.*s.raw", (int)strlen(paths[i]) - 4, paths[i]);
    raw = read_file(raw_path, &raw_size);
    if (status == LWY_OK) status = lwy_decode(&stream, values, (size_t)stream.info.bytes);
    if (status == LWY_OK) /* raw files have the byte order of streams */
      lwyi_swap_if_big_endian(values, stream.info.value_bytes, (size_t)stream.info.values);
    if (status == LWY_UNSUPPORTED)
      printf("%s unsupported: %s\n", paths[i], lwy_message(&stream));
    else if (status != LWY_OK)
      printf("%s failed: %s\n", paths[i], lwy_message(&stream));
    else if (raw_size != stream.info.bytes || memcmp(values, raw, raw_size) != 0)
      printf("%s differs\n", paths[i]), status = 98;
    else
      printf("%s same\n", paths[i]);
    if (status > worst) worst = status;
    lwy_close(&stream);
    free(values), free(raw), free(bytes);
  }
  return worst;
}

/* One stream, in one of the ways to decode it, to a file. */
static int decode(int count, char** arguments) {
  const char* how = arguments[0];
  uint64_t first[LWY_MAX_RANK] = {0}, extents[LWY_MAX_RANK] = {0}, bytes;
  lwy_stream stream;
  size_t size;
  uint8_t* file = read_file(arguments[1], &size);
  int status = lwy_open(&stream, file, size, NULL), k;
  void* values;
  bytes = stream.info.value_bytes;
  for (k = 0; k < stream.info.rank; ++k) {
    extents[k] = stream.info.shape[k];
    if (strcmp(how, "box") == 0 && k + 3 < count) {
      char* end;
      first[k] = strtoull(arguments[k + 3], &end, 10);
      extents[k] = strtoull(end + 1, NULL, 10);
    }
  }
  if (strcmp(how, "level") == 0) lwy_level_shape(&stream, (unsigned)atoi(arguments[3]), extents);
  for (k = 0; k < stream.info.rank; ++k) bytes *= extents[k];
  values = values_for(bytes);
  if (status == LWY_OK) {
    if (strcmp(how, "whole") == 0) status = lwy_decode(&stream, values, (size_t)bytes);
    if (strcmp(how, "box") == 0)
      status = lwy_decode_box(&stream, first, extents, values, (size_t)bytes);
    if (strcmp(how, "level") == 0)
      status = lwy_decode_level(&stream, (unsigned)atoi(arguments[3]), values, (size_t)bytes);
  }
  printf("%s", lwy_message(&stream));
  if (status == LWY_OK) write_file(arguments[2], values, (size_t)bytes);
  lwy_close(&stream);
  free(values), free(file);
  return status;
}

static void print_extents(const char* name, const uint64_t* extents, int rank) {
  int k;
  printf("%s", name);
  for (k = 0; k < rank; ++k) printf(" %llu", (unsigned long long)extents[k]);
  printf("\n");
}

static int info(const char* path) {
  lwy_stream stream;
  size_t size;
  uint8_t* file = read_file(path, &size);
  const int status = lwy_open(&stream, file, size, NULL);
  const lwy_info* i = &stream.info;
  int k;
  if (status != LWY_OK) {
    printf("%s", lwy_message(&stream));
  } else {
    printf("dtype %s\nrecipe %s\nabs_bound %.17g\n", lwy_dtype_name(i->dtype), i->recipe,
           i->abs_bound);
    print_extents("shape", i->shape, i->rank);
    print_extents("chunk", i->chunk, i->rank);
    print_extents("grid", i->grid, i->rank);
    printf("chunks %llu\nbrief %d\nlevels %d\n", (unsigned long long)i->chunks, i->is_brief,
           i->levels);
    for (k = 0; k < i->bounds && k < 8; ++k)
      printf("bound %s %.17g\n", lwy_bound_name(i->bound[k].kind), i->bound[k].value);
    printf("min %.17g\nmax %.17g\nmax_error %.17g\n", i->min, i->max, i->max_error);
    printf("special %llu\nexact %llu\ndecoded_hash %016llx\n", (unsigned long long)i->special,
           (unsigned long long)i->exact, (unsigned long long)i->decoded_hash);
    for (k = 0; k < i->fills; ++k) printf("fill %llx\n", (unsigned long long)i->fill[k]);
  }
  lwy_close(&stream);
  free(file);
  return status;
}

static uint64_t state;
static size_t below(size_t limit) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return limit ? (size_t)(state >> 33) % limit : 0;
}

/* A status, with something to say if it is not that all went well. */
static int check(const lwy_stream* stream, int status) {
  if (status != LWY_OK && status != LWY_CORRUPT && status != LWY_UNSUPPORTED &&
      status != LWY_OUT_OF_MEMORY && status != LWY_INVALID_ARGUMENT)
    die("an impossible status", "");
  if ((status == LWY_OK) != (lwy_message(stream)[0] == 0)) die("a status without its message", "");
  return status;
}

/* Everything that can be done with a stream, if it is not too large. */
static int use(const uint8_t* bytes, size_t size, const lwy_allocator* allocator) {
  lwy_stream stream;
  uint64_t first[LWY_MAX_RANK], extents[LWY_MAX_RANK], shape[LWY_MAX_RANK];
  int status, k;
  lwy_open(&stream, bytes, size, allocator);
  status = check(&stream, stream.status);
  if (status != LWY_OK &&
      (lwy_level_shape(&stream, 1, shape) != LWY_INVALID_ARGUMENT ||
       lwy_decode(&stream, shape, sizeof shape) != LWY_INVALID_ARGUMENT ||
       lwy_decode_level(&stream, 1, shape, sizeof shape) != LWY_INVALID_ARGUMENT))
    die("a stream that is not open is read", "");
  if (status == LWY_OK && stream.info.bytes <= (uint64_t)1 << 22) {
    void* values = values_for(stream.info.bytes);
    status = check(&stream, lwy_decode(&stream, values, (size_t)stream.info.bytes));
    for (k = 0; k < stream.info.rank; ++k) {
      first[k] = stream.info.shape[k] / 3;
      extents[k] = (stream.info.shape[k] + 2) / 3;
    }
    check(&stream, lwy_decode_box(&stream, first, extents, values, (size_t)stream.info.bytes));
    for (k = 1; k < 4; ++k) {
      lwy_level_shape(&stream, (unsigned)k, shape);
      check(&stream, lwy_decode_level(&stream, (unsigned)k, values, (size_t)stream.info.bytes));
    }
    free(values);
  }
  lwy_close(&stream);
  return status;
}

/* One of several kinds of damage; says how long the stream is then. */
static size_t damage(uint8_t* bytes, size_t size) {
  const size_t at = below(size), kind = below(5), count = 1 + below(8);
  size_t i, n = 1 + below(size - at);
  if (kind == 0) return at;
  if (kind == 1) n = n < 8 ? n : 8;
  if (kind == 2) n = n < 4 ? n : 4;
  for (i = 0; i < count && kind == 4; ++i) bytes[below(size)] ^= (uint8_t)(1u << below(8));
  if (kind == 3) { /* something falls out */
    memmove(bytes + at, bytes + at + n, size - at - n);
    return size - n;
  }
  for (i = at; i < at + n && kind < 3; ++i) bytes[i] = kind == 1 ? (uint8_t)below(256) : 255;
  return size;
}

static int mutate(long rounds, int count, char** paths) {
  long refused = 0, read = 0, round;
  int i;
  for (i = 0; i < count; ++i) {
    size_t size, n;
    uint8_t* bytes = read_file(paths[i], &size);
    state = 1;
    for (round = 0; round < rounds; ++round) {
      budget b;
      const lwy_allocator allocator = allocator_of(&b, 1000000000);
      uint8_t* damaged = (uint8_t*)malloc(size);
      uint8_t* exact; /* ends where the stream ends, so that a sanitizer sees who reads on */
      if (!damaged) die("not enough memory", "");
      memcpy(damaged, bytes, size);
      n = damage(damaged, size);
      exact = (uint8_t*)malloc(n ? n : 1);
      memcpy(exact, damaged, n);
      *(use(exact, n, &allocator) == LWY_OK ? &read : &refused) += 1;
      if (b.live != 0) die("memory was not given back for", paths[i]);
      free(exact), free(damaged);
    }
    free(bytes);
  }
  printf("%ld refused, %ld read\n", refused, read);
  return 0;
}

static int starve(int count, char** paths) {
  int i;
  for (i = 0; i < count; ++i) {
    size_t size;
    uint8_t* bytes = read_file(paths[i], &size);
    long granted = 0;
    int status = LWY_OUT_OF_MEMORY;
    for (; status == LWY_OUT_OF_MEMORY; ++granted) {
      budget b;
      const lwy_allocator allocator = allocator_of(&b, granted);
      lwy_stream stream;
      void* values;
      status = check(&stream, lwy_open(&stream, bytes, size, &allocator));
      values = values_for(stream.info.bytes);
      if (status == LWY_OK)
        status = check(&stream, lwy_decode(&stream, values, (size_t)stream.info.bytes));
      lwy_close(&stream);
      if (b.live != 0) die("memory was not given back for", paths[i]);
      free(values);
    }
    printf("%s needs %ld allocations: %d\n", paths[i], granted - 1, status);
    free(bytes);
    if (status != LWY_OK) return status;
  }
  return 0;
}

int main(int count, char** arguments) {
  const char* verb = count > 2 ? arguments[1] : "";
  if (strcmp(verb, "compare") == 0) return compare(count - 2, arguments + 2);
  if (strcmp(verb, "info") == 0) return info(arguments[2]);
  if (strcmp(verb, "starve") == 0) return starve(count - 2, arguments + 2);
  if (strcmp(verb, "mutate") == 0) return mutate(atol(arguments[2]), count - 3, arguments + 3);
  if (strcmp(verb, "whole") == 0 || strcmp(verb, "box") == 0 || strcmp(verb, "level") == 0)
    return decode(count - 1, arguments + 1);
  die("no such verb", verb);
  return 99;
}
