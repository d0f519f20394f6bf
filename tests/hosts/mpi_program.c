/* SPDX-License-Identifier: BSD-3-Clause
 * Many ways to write and read one array on many ranks, for test_mpi.py:
 *   mpi_program write FILE SHAPE CHUNK HOW RECIPE BOUND=VALUE [FIELD] [OPTION ...]
 *   mpi_program append FILE SHAPE ...    the same for rows behind a growing stream
 *   mpi_program read FILE SHAPE SEED     boxes at random; prints a sum that must not depend on
 * ranks mpi_program field FILE SHAPE FIELD [type=TYPE]   the array in a raw file Several commands
 * may follow each other, with -- between them.
 *
 * HOW: slab, block, odd (60 boxes dealt to the ranks), half (every second rank has nothing), one
 * (one rank has all). FIELD: smooth, nan (one rank has NaN only), fill, const, huge, exact (the
 * same in every language). Options: die=RANK,CALL kills a rank (-9) at its n-th call of the team;
 * limit=BYTES: no file may be larger; memory=BYTES: the last rank gets no more than
 * that from then on;
 * lose=RANK: a page of what this rank writes never reaches the file; disagree: the last rank has
 * another bound; at=N: the field begins N planes later; streamed=BYTES; sleep=SECONDS: the last
 * rank comes late; type=TYPE: f32, f64 or i16.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "leeway_mpi.h"

enum { kGhost = 2, kMostBlocks = 64 };

static int me, ranks, dtype = LEEWAY_F32;
static uint64_t shape[3], chunk[3], field_at;

static uint64_t width(void) { return dtype == LEEWAY_F64 ? 8 : dtype == LEEWAY_I16 ? 2 : 4; }

static void set_type(const char* option) {
  if (strcmp(option, "type=f64") == 0) dtype = LEEWAY_F64;
  if (strcmp(option, "type=i16") == 0) dtype = LEEWAY_I16;
}

static double value(const char* field, uint64_t i, uint64_t j, uint64_t k) {
  if (strcmp(field, "const") == 0) return 1.25f;
  if (strcmp(field, "nan") == 0 && i < shape[0] / 4) return NAN;
  if (strcmp(field, "fill") == 0 && i < shape[0] / 4) return -999;
  i += field_at;
  if (strcmp(field, "exact") == 0) return (double)((7 * i + 13 * j + 3 * k) % 101) * 0.25;
  const float x = sinf(0.13f * (float)i) * cosf(0.21f * (float)j) + sinf(0.002f * (float)(k * i));
  if (strcmp(field, "huge") == 0) return x * (dtype == LEEWAY_F64 ? 1e300 : 1e30);
  return dtype == LEEWAY_F64 ? x * (1 + 1e-9 * (double)k) : dtype == LEEWAY_I16 ? 1000.f * x : x;
}

static void put_value(double x, char* to) {
  const float single = (float)x;
  if (dtype == LEEWAY_F64) memcpy(to, &x, sizeof x);
  if (dtype == LEEWAY_F32) memcpy(to, &single, sizeof single);
  if (dtype == LEEWAY_I16) {
    const int16_t number = (int16_t)x;
    memcpy(to, &number, sizeof number);
  }
}

typedef struct Box {
  uint64_t first[3], extent[3];
} Box;

static void cut(uint64_t n, int parts, int part, uint64_t* first, uint64_t* extent) {
  *first = n * (uint64_t)part / (uint64_t)parts;
  *extent = n * (uint64_t)(part + 1) / (uint64_t)parts - *first;
}

static Box part_of(const int parts[3], int index) {
  Box box;
  for (int axis = 2; axis >= 0; index /= parts[axis--])
    cut(shape[axis], parts[axis], index % parts[axis], &box.first[axis], &box.extent[axis]);
  return box;
}

/* The boxes of this rank. */
static int boxes_of(const char* how, Box* boxes) {
  int count = 0, parts[3] = {1, 1, 1};
  if (strcmp(how, "slab") == 0) {
    parts[0] = ranks;
    boxes[count++] = part_of(parts, me);
  } else if (strcmp(how, "block") == 0) {
    memset(parts, 0, sizeof parts);
    MPI_Dims_create(ranks, 3, parts);
    boxes[count++] = part_of(parts, me);
  } else if (strcmp(how, "odd") == 0) {
    parts[0] = 5, parts[1] = 3, parts[2] = 4;
    for (int i = me; i < 60; i += ranks) boxes[count++] = part_of(parts, i);
  } else if (strcmp(how, "half") == 0) {
    parts[0] = (ranks + 1) / 2;
    if (me % 2 == 0) boxes[count++] = part_of(parts, me / 2);
  } else if (me == ranks - 1) {
    boxes[count++] = part_of(parts, 0);
  }
  return count;
}

/* Memory of a box with ghost zones that nobody may look at. */
static leeway_block block_of(const Box* box, int64_t strides[3], const char* field) {
  const uint64_t row = box->extent[2] + 2 * kGhost, plane = row * (box->extent[1] + 2 * kGhost);
  const uint64_t all = plane * (box->extent[0] + 2 * kGhost);
  const uint64_t bytes = width();
  char* memory = malloc(all * bytes + 1);
  for (uint64_t i = 0; i < all; ++i)
    put_value(dtype == LEEWAY_I16 ? 32767 : 1e38, memory + i * bytes);
  char* inner = memory + kGhost * (plane + row + 1) * bytes;
  if (field)
    for (uint64_t i = 0; i < box->extent[0]; ++i)
      for (uint64_t j = 0; j < box->extent[1]; ++j)
        for (uint64_t k = 0; k < box->extent[2]; ++k)
          put_value(value(field, box->first[0] + i, box->first[1] + j, box->first[2] + k),
                    inner + (i * plane + j * row + k) * bytes);
  strides[0] = (int64_t)(plane * bytes);
  strides[1] = (int64_t)(row * bytes);
  strides[2] = (int64_t)bytes;
  const leeway_block block = {box->first, {inner, dtype, 3, box->extent, strides}};
  return block;
}

/* ---- a team that kills a rank, or loses what it writes ---- */
static leeway_team healthy;
static int careless = -1;
static int lose_write(void* s, void* f, uint64_t o, const void* d, uint64_t b) {
  enum { kPage = 4096 };
  if (me != careless || b < 3 * kPage) return healthy.file_write(s, f, o, d, b);
  const uint64_t before = b / 2 / kPage * kPage; /* a page in the middle */
  return healthy.file_write(s, f, o, d, before) |
         healthy.file_write(s, f, o + before + kPage, (const char*)d + before + kPage,
                            b - before - kPage);
}
static int victim = -1, calls_left;
static void maybe_die(void) {
  if (me == victim && calls_left-- == 0) raise(SIGKILL);
}
static int die_bcast(void* s, void* d, uint64_t b, int r) {
  maybe_die();
  return healthy.bcast(s, d, b, r);
}
static int die_allgatherv(void* s, const void* m, void* a, const uint64_t* b) {
  maybe_die();
  return healthy.allgatherv(s, m, a, b);
}
static int die_reduce(void* s, uint64_t* v, uint64_t c, int o) {
  maybe_die();
  return healthy.reduce(s, v, c, o);
}
static int die_isend(void* s, const void* d, uint64_t b, int t, void** r) {
  maybe_die();
  return healthy.isend(s, d, b, t, r);
}
static int die_wait(void* s, void** r) {
  maybe_die();
  return healthy.wait(s, r);
}
static int die_write(void* s, void* f, uint64_t o, const void* d, uint64_t b) {
  maybe_die();
  const int failed = healthy.file_write(s, f, o, d, b / 2); /* half of it is there */
  maybe_die();
  return failed | healthy.file_write(s, f, o + b / 2, (const char*)d + b / 2, b - b / 2);
}
static int die_sync(void* s, void* f) {
  maybe_die();
  return healthy.file_sync(s, f);
}

static void make_mortal(leeway_team* team) {
  healthy = *team;
  team->bcast = die_bcast;
  team->allgatherv = die_allgatherv;
  team->reduce = die_reduce;
  team->isend = die_isend;
  team->wait = die_wait;
  if (team->file_write) team->file_write = die_write, team->file_sync = die_sync;
}

static void parse(const char* text, uint64_t to[3]) {
  unsigned long long a, b, c;
  if (sscanf(text, "%llux%llux%llu", &a, &b, &c) != 3) exit(2);
  to[0] = a, to[1] = b, to[2] = c;
}

/* From now on, the last rank gets no more than these bytes besides those that it has. An MPI that
 * connects ranks when they first need it has done so before. */
static void limit_memory(unsigned long long bytes) {
  enum { kEach = 1 << 17 };
  char* all = calloc(2 * (size_t)ranks, kEach);
  MPI_Alltoall(all, kEach, MPI_BYTE, all + (size_t)ranks * kEach, kEach, MPI_BYTE, MPI_COMM_WORLD);
  free(all);
  if (me != ranks - 1) return;
  unsigned long long pages = 0;
  FILE* in = fopen("/proc/self/statm", "r");
  if (!in || fscanf(in, "%llu", &pages) != 1) exit(2);
  fclose(in);
  bytes += pages * (unsigned long long)sysconf(_SC_PAGESIZE);
  const struct rlimit most = {bytes, bytes};
  setrlimit(RLIMIT_AS, &most);
}

static int run_write(int argc, char** argv, leeway_context* leeway) {
  const char* field = argc > 8 ? argv[8] : "smooth";
  char kind[32];
  double bound;
  parse(argv[3], shape);
  parse(argv[4], chunk);
  if (sscanf(argv[7], "%31[a-z0-9]=%lf", kind, &bound) != 2) return 2;
  leeway_mpi_files files = LEEWAY_MPI_FILES_DEFAULT;
  leeway_write_options options = {0};
  const int appends = strcmp(argv[1], "append") == 0;
  unsigned long long memory = 0;
  field_at = 0;
  dtype = LEEWAY_F32;
  careless = -1;
  for (int i = 9; i < argc; ++i) {
    if (sscanf(argv[i], "die=%d,%d", &victim, &calls_left) == 2) files = LEEWAY_MPI_FILES_MPI;
    if (sscanf(argv[i], "lose=%d", &careless) == 1) files = LEEWAY_MPI_FILES_MPI;
    set_type(argv[i]);
    if (strcmp(argv[i], "disagree") == 0 && me == ranks - 1) bound *= 2;
    if (strcmp(argv[i], "check") == 0) options.check = 1;
    sscanf(argv[i], "writers=%d", &options.writers);
    unsigned long long limit;
    if (sscanf(argv[i], "at=%llu", &limit) == 1) field_at = limit;
    if (sscanf(argv[i], "streamed=%llu", &limit) == 1) options.streamed = limit;
    if (sscanf(argv[i], "sleep=%llu", &limit) == 1 && me == ranks - 1) sleep((unsigned)limit);
    if (sscanf(argv[i], "limit=%llu", &limit) == 1) {
      signal(SIGXFSZ, SIG_IGN);
      const struct rlimit most = {limit, limit};
      setrlimit(RLIMIT_FSIZE, &most);
    }
    sscanf(argv[i], "memory=%llu", &memory);
  }
  options.stripe = options.writers ? 4096 : 0;
  leeway_set_bound(leeway, kind, bound);
  leeway_set_recipe(leeway, argv[6]);
  leeway_add_fill(leeway, -999);
  if (chunk[0] > 0) leeway_set_chunk(leeway, 3, chunk);
  Box boxes[kMostBlocks];
  int64_t strides[kMostBlocks][3];
  leeway_block blocks[kMostBlocks];
  const int count = boxes_of(argv[5], boxes);
  for (int i = 0; i < count; ++i) blocks[i] = block_of(&boxes[i], strides[i], field);
  leeway_team team;
  leeway_write_report report;
  if (leeway_mpi_team_create(MPI_COMM_WORLD, files, &team) != 0) return 3;
  if (victim >= 0) make_mortal(&team);
  if (careless >= 0) healthy = team, team.file_write = lose_write;
  if (memory > 0) limit_memory(memory);
  const leeway_status status = (appends ? leeway_team_append : leeway_team_write)(
      leeway, &team, argv[2], dtype, 3, shape, (size_t)count, blocks, &options, &report);
  leeway_mpi_team_free(&team);
  if (status != LEEWAY_OK)
    printf("rank %d of %d: %s: %s\n", me, ranks, leeway_status_name(status),
           leeway_message(leeway));
  if (status == LEEWAY_OK && me == 0)
    printf("wrote %llu of %llu asked %llu sent %llu %llu chunks %llu to %llu calls %d rows %llu\n",
           (unsigned long long)report.output_bytes, (unsigned long long)report.input_bytes,
           (unsigned long long)report.asked_bytes, (unsigned long long)report.sent_raw,
           (unsigned long long)report.sent_compressed, (unsigned long long)report.least_chunks,
           (unsigned long long)report.most_chunks, calls_left, (unsigned long long)report.extent);
  return status != LEEWAY_OK;
}

/* A box that depends on its number only, so that the sum does not depend on who reads it. */
static Box some_box(unsigned number) {
  Box box;
  for (int axis = 0; axis < 3; ++axis) {
    number = number * 1103515245u + 12345u;
    box.first[axis] = (number >> 8) % shape[axis];
    number = number * 1103515245u + 12345u;
    box.extent[axis] = 1 + (number >> 8) % (shape[axis] - box.first[axis]);
  }
  return box;
}

static int run_read(char** argv, leeway_context* leeway) {
  dtype = LEEWAY_F32;
  parse(argv[3], shape);
  const unsigned seed = (unsigned)atoi(argv[4]);
  enum { kBoxes = 9 };
  Box boxes[kBoxes];
  int64_t strides[kBoxes][3];
  leeway_block blocks[kBoxes];
  int count = 0;
  for (int i = me; i < kBoxes; i += ranks) {
    boxes[count] = some_box(seed * 100 + (unsigned)i);
    blocks[count] = block_of(&boxes[count], strides[count], NULL);
    ++count;
  }
  const leeway_status status =
      leeway_mpi_read(leeway, MPI_COMM_WORLD, argv[2], (size_t)count, blocks);
  if (status != LEEWAY_OK) {
    printf("rank %d of %d: %s: %s\n", me, ranks, leeway_status_name(status),
           leeway_message(leeway));
    return 1;
  }
  uint64_t sum = 0, all = 0;
  for (int b = 0; b < count; ++b)
    for (uint64_t i = 0; i < boxes[b].extent[0]; ++i)
      for (uint64_t j = 0; j < boxes[b].extent[1]; ++j)
        for (uint64_t k = 0; k < boxes[b].extent[2]; ++k) {
          uint32_t bits;
          memcpy(&bits,
                 (char*)blocks[b].array.data + (int64_t)i * strides[b][0] +
                     (int64_t)j * strides[b][1] + (int64_t)k * strides[b][2],
                 4);
          sum += bits * (1 + i * 31 + j * 1009 + k * 70001);
        }
  MPI_Reduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (me == 0) printf("sum %016llx\n", (unsigned long long)all);
  return 0;
}

/* The array as one process has it, for the serial tool. */
static int run_field(int argc, char** argv) {
  parse(argv[3], shape);
  dtype = LEEWAY_F32;
  if (argc > 5) set_type(argv[5]);
  FILE* out = me == 0 ? fopen(argv[2], "wb") : NULL;
  if (me != 0) return 0;
  for (uint64_t i = 0; i < shape[0]; ++i)
    for (uint64_t j = 0; j < shape[1]; ++j)
      for (uint64_t k = 0; k < shape[2]; ++k) {
        char x[8];
        put_value(value(argv[4], i, j, k), x);
        fwrite(x, width(), 1, out);
      }
  return fclose(out);
}

static int run(int argc, char** argv) {
  leeway_context* leeway = leeway_create();
  int failed = 2;
  if (argc == 2 && strcmp(argv[1], "about") == 0)
    failed = me == 0 ? puts(leeway_mpi_about()) < 0 : 0;
  if (argc >= 8 && (strcmp(argv[1], "write") == 0 || strcmp(argv[1], "append") == 0))
    failed = run_write(argc, argv, leeway);
  if (argc == 5 && strcmp(argv[1], "read") == 0) failed = run_read(argv, leeway);
  if (argc >= 5 && strcmp(argv[1], "field") == 0) failed = run_field(argc, argv);
  leeway_destroy(leeway);
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  return failed;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int failed = 0;
  for (int first = 0, end; first < argc - 1; first = end) { /* commands, with -- between them */
    for (end = first + 1; end < argc && strcmp(argv[end], "--") != 0; ++end) continue;
    failed |= run(end - first, argv + first);
  }
  MPI_Finalize();
  return failed;
}
