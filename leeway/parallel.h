/* SPDX-License-Identifier: BSD-3-Clause
 * leeway in parallel: many processes ("ranks") write one array into one stream, read it, and send
 * each other compressed arrays. Nothing here knows MPI: a team is a table of functions, which
 * leeway_mpi.h fills for any MPI. Users of MPI include that header; this one is for other ways to
 * run together. docs/MPI.md shows how it is used. */
#ifndef LEEWAY_PARALLEL_H
#define LEEWAY_PARALLEL_H

#include <leeway/leeway.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LEEWAY_TEAM_SUM = 0, LEEWAY_TEAM_MIN = 1, LEEWAY_TEAM_MAX = 2 };

/* What ranks can do together. Functions return 0, or something else if they failed; one that fails
 * has still taken part, so that nobody waits for it. Only the thread that called leeway calls them,
 * and sizes may be above 2^31. */
typedef struct leeway_team {
  void* self;      /* handed to every function */
  int rank, size;  /* this rank, and how many there are */
  int node, nodes; /* the machine that this rank runs on, and how many there are; 0 and 1: one */
  int (*bcast)(void* self, void* data, uint64_t bytes, int root);
  /* Everybody's bytes, one after the other in the order of the ranks; all know the sizes. */
  int (*allgatherv)(void* self, const void* mine, void* all, const uint64_t* bytes);
  int (*reduce)(void* self, uint64_t* values, uint64_t count, int operation);
  /* Messages between two ranks, in order. A request becomes NULL when it is done. */
  int (*isend)(void* self, const void* data, uint64_t bytes, int to, void** request);
  int (*irecv)(void* self, void* data, uint64_t bytes, int from, void** request);
  int (*test)(void* self, void** request); /* does not wait */
  int (*wait)(void* self, void** request);
  /* Files, opened by one rank for itself. All NULL: those of the operating system. */
  int (*file_open)(void* self, const char* path, int writing, void** file);
  int (*file_write)(void* self, void* file, uint64_t offset, const void* data, uint64_t bytes);
  int (*file_read)(void* self, void* file, uint64_t offset, void* data, uint64_t bytes);
  int (*file_sync)(void* self, void* file);
  int (*file_close)(void* self, void* file);
} leeway_team;

/* A part of the array that this rank has: where it begins, and its values with any strides; ghost
 * zones are left out by pointer and strides. */
typedef struct leeway_block {
  const uint64_t* first;
  leeway_array array;
} leeway_block;

typedef struct leeway_write_options {
  int exclusive;    /* refuse to replace a file */
  int not_durable;  /* do not wait until the disk has it */
  int check;        /* read back and compare: 0: the ends of what each rank wrote, 1: all */
  int unbalanced;   /* leave chunks where most of their values are, however uneven that is */
  int writers;      /* how many ranks write; 0: as suits the machine */
  uint64_t stripe;  /* ranges of writers begin at multiples of this many bytes; 0: 4 MiB */
  uint64_t reserved[8]; /* 0 */
} leeway_write_options;

typedef struct leeway_write_report {
  uint64_t input_bytes, output_bytes; /* of the array, of the stream */
  uint64_t asked_bytes;               /* the size asked for by ratio or rate; 0: none */
  double abs_bound;                   /* in force; 0: no loss */
  double max_error;                   /* reached, in the whole array */
  uint64_t special;                   /* NaN, infinities and fill values */
  uint64_t chunks, least_chunks, most_chunks; /* in all; of the ranks with fewest and most */
  uint64_t sent_raw;        /* bytes of values that went to another rank, all ranks together */
  uint64_t sent_compressed; /* bytes of frames that went to a writer, all ranks together */
  double seconds[4]; /* of the slowest rank: arranging, compressing, writing, committing */
  uint64_t chunk[LEEWAY_MAX_RANK];
  uint64_t reserved[8];
} leeway_write_report;

/* Writes an array that lies in blocks on all ranks into the file `path`: the stream that one
 * process would write of the whole array with these settings and chunks, byte for byte. All ranks
 * call it with the same settings, path, type and shape; each has any number of blocks, also none;
 * together they have every value once. All return the same status and message. The file appears
 * when it is whole: until then its name leads to what it led to before. options and report may be
 * NULL. */
LEEWAY_API leeway_status leeway_team_write(leeway_context* context, const leeway_team* team,
                                           const char* path, int dtype, int rank,
                                           const uint64_t* shape, size_t blocks,
                                           const leeway_block* block,
                                           const leeway_write_options* options,
                                           leeway_write_report* report);

/* Reads boxes of the array in the file `path` into the blocks of all ranks: any boxes, also
 * overlapping ones and none, on any number of ranks. All call it, and return the same status. */
LEEWAY_API leeway_status leeway_team_read(leeway_context* context, const leeway_team* team,
                                          const char* path, size_t blocks,
                                          const leeway_block* block);

#ifdef __cplusplus
}
#endif

#endif
