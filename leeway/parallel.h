/* SPDX-License-Identifier: BSD-3-Clause
 * leeway in parallel: many processes ("ranks") write one array into one stream, read it, and send
 * each other compressed arrays. Nothing here knows MPI: a team is a table of functions, which
 * leeway_mpi.h fills for any MPI. Users of MPI include that header; this one is for other ways to
 * run together. docs/MPI.md shows how it is used. */
#ifndef LEEWAY_PARALLEL_H
#define LEEWAY_PARALLEL_H

#include "leeway/leeway.h"

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
  /* Messages between two ranks, in order; one may be shorter than the receive says. A request
   * becomes NULL when it is done. */
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
  int exclusive;        /* refuse to replace a file */
  int not_durable;      /* do not wait until the disk has it */
  int check;            /* read back and compare: 0: the ends of what each rank wrote, 1: all */
  int unbalanced;       /* leave chunks where most of their values are, however uneven that is */
  int writers;          /* how many ranks write; 0: as suits the machine */
  uint64_t stripe;      /* ranges of writers begin at multiples of this many bytes; 0: 4 MiB */
  uint64_t streamed;    /* write while compressing, in rounds of so many bytes of the array on each
                           rank; 1: of 64 MiB; 0: all frames first, in the order of the chunks */
  uint64_t reserved[7]; /* 0 */
} leeway_write_options;

typedef struct leeway_write_report {
  uint64_t input_bytes, output_bytes;         /* of the array, of the stream */
  uint64_t asked_bytes;                       /* the size asked for by ratio or rate; 0: none */
  double abs_bound;                           /* in force; 0: no loss */
  double max_error;                           /* reached, in the whole array */
  uint64_t special;                           /* NaN, infinities and fill values */
  uint64_t chunks, least_chunks, most_chunks; /* in all; of the ranks with fewest and most */
  uint64_t sent_raw;        /* bytes of values that went to another rank, all ranks together */
  uint64_t sent_compressed; /* bytes of frames that went to a writer, all ranks together */
  double seconds[4];        /* of the slowest rank: arranging, compressing, writing, committing */
  uint64_t chunk[LEEWAY_MAX_RANK];
  uint64_t extent; /* of the array along its first axis, now */
  uint64_t reserved[7];
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

/* Appends rows along the first axis to the growing stream in the file `path`; if there is no such
 * file, makes it of these rows, the first ones. `shape` is that of the rows which are appended now;
 * blocks lie in it, and have all of it once. A step of a simulation is one row, or some. Bound
 * (abs, rel, pointwise or lossless), recipe, fill values and chunks count for the first rows; later
 * ones follow them. Whoever reads the file finds the rows of the last call that returned, also
 * while another one is under way or after it was killed. */
LEEWAY_API leeway_status leeway_team_append(leeway_context* context, const leeway_team* team,
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

/* ---- arrays as messages ----
 * Compressed once and decoded once, under the bound of the context, which is that of one array. The
 * message says what it is; arrays of up to 4 KiB, and those that do not shrink, go as they are.
 * Type and shape of the receiver's array are those of the sender's. A rank that fails tells whoever
 * waits for it. */

LEEWAY_API leeway_status leeway_team_send(leeway_context* context, const leeway_team* team,
                                          const leeway_array* array, int to);
LEEWAY_API leeway_status leeway_team_receive(leeway_context* context, const leeway_team* team,
                                             const leeway_array* array, int from);

/* The same without waiting. leeway_team_isend() returns when the array is compressed and may be
 * changed again; an array to be received stays where it is until its transfer is done. Start the
 * next transfer from a rank when the last one from it is done. test sets *done; wait waits; either,
 * when it is done, or has failed, frees the transfer and makes it NULL. The team must live on. */
typedef struct leeway_transfer leeway_transfer;
LEEWAY_API leeway_status leeway_team_isend(leeway_context* context, const leeway_team* team,
                                           const leeway_array* array, int to,
                                           leeway_transfer** transfer);
LEEWAY_API leeway_status leeway_team_ireceive(leeway_context* context, const leeway_team* team,
                                              const leeway_array* array, int from,
                                              leeway_transfer** transfer);
LEEWAY_API leeway_status leeway_transfer_test(leeway_context* context, leeway_transfer** transfer,
                                              int* done);
LEEWAY_API leeway_status leeway_transfer_wait(leeway_context* context, leeway_transfer** transfer);

/* ---- collectives: all ranks call them, and return the same status ----
 * `parts` has an array for each rank, of any shapes; where only the root has parts, others give
 * NULL. After bcast and allgather all ranks have the same bits, the sender too. */

LEEWAY_API leeway_status leeway_team_bcast(leeway_context* context, const leeway_team* team,
                                           const leeway_array* array, int root);
LEEWAY_API leeway_status leeway_team_gather(leeway_context* context, const leeway_team* team,
                                            const leeway_array* mine, const leeway_array* parts,
                                            int root);
/* The root gets the streams, not decoded: `streams` has room for one of each rank. */
LEEWAY_API leeway_status leeway_team_gather_streams(leeway_context* context,
                                                    const leeway_team* team,
                                                    const leeway_array* mine,
                                                    leeway_buffer** streams, int root);
LEEWAY_API leeway_status leeway_team_scatter(leeway_context* context, const leeway_team* team,
                                             const leeway_array* parts, const leeway_array* mine,
                                             int root);
LEEWAY_API leeway_status leeway_team_allgather(leeway_context* context, const leeway_team* team,
                                               const leeway_array* mine, const leeway_array* parts);

/* The same without waiting: all ranks call them, go on, and test or wait for the transfer. What is
 * sent is compressed, and may be changed, when the call returns; what is received stays where it is
 * until the transfer is done. Start the next one of a team when this one is done. One that fails is
 * told by those whom it concerns. */
LEEWAY_API leeway_status leeway_team_ibcast(leeway_context* context, const leeway_team* team,
                                            const leeway_array* array, int root,
                                            leeway_transfer** transfer);
LEEWAY_API leeway_status leeway_team_igather(leeway_context* context, const leeway_team* team,
                                             const leeway_array* mine, const leeway_array* parts,
                                             int root, leeway_transfer** transfer);
/* `streams` gets them when the transfer is done. */
LEEWAY_API leeway_status leeway_team_igather_streams(leeway_context* context,
                                                     const leeway_team* team,
                                                     const leeway_array* mine,
                                                     leeway_buffer** streams, int root,
                                                     leeway_transfer** transfer);
LEEWAY_API leeway_status leeway_team_iscatter(leeway_context* context, const leeway_team* team,
                                              const leeway_array* parts, const leeway_array* mine,
                                              int root, leeway_transfer** transfer);
LEEWAY_API leeway_status leeway_team_iallgather(leeway_context* context, const leeway_team* team,
                                                const leeway_array* mine, const leeway_array* parts,
                                                leeway_transfer** transfer);

typedef enum leeway_operation {
  LEEWAY_OPERATION_SUM = 0,
  LEEWAY_OPERATION_MIN = 1,
  LEEWAY_OPERATION_MAX = 2,
  LEEWAY_OPERATION_MEAN = 3
} leeway_operation;
/* How partial results travel; 0: chosen. The result has the same bits for each, and for any order
 * of the ranks. */
enum { LEEWAY_ROUTE_TREE = 1, LEEWAY_ROUTE_RING = 2, LEEWAY_ROUTE_DOUBLING = 3 };

/* f32 or f64. The bound, abs or rel, is that of the result: all errors together, but for the
 * rounding of the result to its type. */
LEEWAY_API leeway_status leeway_team_allreduce(leeway_context* context, const leeway_team* team,
                                               const leeway_array* mine, const leeway_array* result,
                                               leeway_operation operation, int route);
/* The root alone gets the result; others may give NULL. */
LEEWAY_API leeway_status leeway_team_reduce(leeway_context* context, const leeway_team* team,
                                            const leeway_array* mine, const leeway_array* result,
                                            leeway_operation operation, int root);

/* The same without waiting. Contributions are quantized, and may be changed, when the call returns;
 * the result stays where it is until the transfer is done. The bound is abs or lossless: the range
 * of all contributions would have to be waited for. */
LEEWAY_API leeway_status leeway_team_iallreduce(leeway_context* context, const leeway_team* team,
                                                const leeway_array* mine,
                                                const leeway_array* result,
                                                leeway_operation operation, int route,
                                                leeway_transfer** transfer);
LEEWAY_API leeway_status leeway_team_ireduce(leeway_context* context, const leeway_team* team,
                                             const leeway_array* mine, const leeway_array* result,
                                             leeway_operation operation, int root,
                                             leeway_transfer** transfer);

#ifdef __cplusplus
}
#endif

#endif
