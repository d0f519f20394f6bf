/* SPDX-License-Identifier: BSD-3-Clause
 * Fills a leeway_team from the functions of MPI-3. Messages are cut into pieces of 1 GiB, because
 * counts are ints. */
#include "leeway_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPiece = 1 << 30, kTag = 1 };

typedef struct Requests {
  int count;
  MPI_Request each[];
} Requests;

static MPI_Comm comm_of(void* self) { return *(MPI_Comm*)self; }

static int piece(uint64_t bytes) { return bytes < kPiece ? (int)bytes : kPiece; }

static int team_bcast(void* self, void* data, uint64_t bytes, int root) {
  int failed = 0;
  do {
    const int now = piece(bytes);
    failed |= MPI_Bcast(data, now, MPI_BYTE, root, comm_of(self));
    data = (char*)data + now;
    bytes -= (uint64_t)now;
  } while (bytes > 0);
  return failed;
}

/* Who has more than a piece, or lies beyond 2^31, sends it to all one after the other. */
static int allgather_large(void* self, int ranks, const void* mine, char* all,
                           const uint64_t* bytes) {
  int me, failed = MPI_Comm_rank(comm_of(self), &me);
  for (int rank = 0; rank < ranks; all += bytes[rank++]) {
    if (rank == me && bytes[rank] > 0) memcpy(all, mine, bytes[rank]);
    failed |= team_bcast(self, all, bytes[rank], rank);
  }
  return failed;
}

static int team_allgatherv(void* self, const void* mine, void* all, const uint64_t* bytes) {
  int ranks, me;
  uint64_t total = 0;
  MPI_Comm_size(comm_of(self), &ranks);
  MPI_Comm_rank(comm_of(self), &me);
  for (int i = 0; i < ranks; ++i) total += bytes[i];
  if (total > kPiece) return allgather_large(self, ranks, mine, all, bytes);
  int* counts = malloc(2 * (size_t)ranks * sizeof *counts);
  /* All must go on together: without memory, in a way that needs none. */
  int lacks_memory = counts == NULL;
  int failed = MPI_Allreduce(MPI_IN_PLACE, &lacks_memory, 1, MPI_INT, MPI_MAX, comm_of(self));
  if (lacks_memory) {
    free(counts);
    return allgather_large(self, ranks, mine, all, bytes);
  }
  int* places = counts + ranks;
  for (int i = 0, at = 0; i < ranks; at += counts[i++]) {
    counts[i] = (int)bytes[i];
    places[i] = at;
  }
  failed |=
      MPI_Allgatherv(mine, counts[me], MPI_BYTE, all, counts, places, MPI_BYTE, comm_of(self));
  free(counts);
  return failed;
}

/* The other end of the number line: what is smaller without a sign is smaller with one. */
static void turn_signs(uint64_t* values, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) values[i] ^= (uint64_t)1 << 63;
}

/* Minima and maxima are found of signed numbers: MPICH 4.0 compares MPI_UINT64_T with a sign. */
static int team_reduce(void* self, uint64_t* values, uint64_t count, int operation) {
  const MPI_Op op = operation == LEEWAY_TEAM_SUM   ? MPI_SUM
                    : operation == LEEWAY_TEAM_MIN ? MPI_MIN
                                                   : MPI_MAX;
  int failed = 0;
  if (op != MPI_SUM) turn_signs(values, count);
  for (uint64_t done = 0; done < count;) {
    const int now = piece((count - done) * 8) / 8;
    failed |= MPI_Allreduce(MPI_IN_PLACE, values + done, now, MPI_INT64_T, op, comm_of(self));
    done += (uint64_t)now;
  }
  if (op != MPI_SUM) turn_signs(values, count);
  return failed;
}

static Requests* requests_for(uint64_t bytes) {
  const size_t pieces = bytes > 0 ? (size_t)((bytes + kPiece - 1) / kPiece) : 1;
  Requests* requests = malloc(sizeof *requests + pieces * sizeof(MPI_Request));
  if (requests) requests->count = 0;
  return requests;
}

static int team_isend(void* self, const void* data, uint64_t bytes, int to, void** request) {
  Requests* requests = requests_for(bytes);
  int failed = requests == NULL;
  do { /* without memory for requests: one after the other */
    const int now = piece(bytes);
    if (requests)
      failed |= MPI_Isend(data, now, MPI_BYTE, to, kTag, comm_of(self),
                          &requests->each[requests->count++]);
    else
      failed |= MPI_Send(data, now, MPI_BYTE, to, kTag, comm_of(self));
    data = (const char*)data + now;
    bytes -= (uint64_t)now;
  } while (bytes > 0);
  *request = requests;
  return failed;
}

static int team_irecv(void* self, void* data, uint64_t bytes, int from, void** request) {
  Requests* requests = requests_for(bytes);
  int failed = requests == NULL;
  do {
    const int now = piece(bytes);
    if (requests)
      failed |= MPI_Irecv(data, now, MPI_BYTE, from, kTag, comm_of(self),
                          &requests->each[requests->count++]);
    else
      failed |= MPI_Recv(data, now, MPI_BYTE, from, kTag, comm_of(self), MPI_STATUS_IGNORE);
    data = (char*)data + now;
    bytes -= (uint64_t)now;
  } while (bytes > 0);
  *request = requests;
  return failed;
}

static void forget(void** request) {
  free(*request);
  *request = NULL;
}

static int team_test(void* self, void** request) {
  (void)self;
  Requests* requests = *request;
  int failed = 0, all = 1;
  for (int i = 0; requests && i < requests->count; ++i) {
    int done = 0;
    failed |= MPI_Test(&requests->each[i], &done, MPI_STATUS_IGNORE);
    all &= done;
  }
  if (all || failed) forget(request);
  return failed;
}

static int team_wait(void* self, void** request) {
  (void)self;
  Requests* requests = *request;
  int failed = 0;
  for (int i = 0; requests && i < requests->count; ++i)
    failed |= MPI_Wait(&requests->each[i], MPI_STATUS_IGNORE);
  forget(request);
  return failed;
}

/* ---- files: each rank that writes opens the file for itself, and writes whole ranges ---- */

static int file_open(void* self, const char* path, int writing, void** file) {
  (void)self;
  MPI_File* opened = malloc(sizeof *opened);
  if (!opened) return MPI_ERR_NO_MEM;
  MPI_Info info;
  int failed = MPI_Info_create(&info);
  if (!failed) {
    /* The data is arranged already: nothing to gather, nothing to read before writing. */
    MPI_Info_set(info, "romio_ds_write", "disable");
    MPI_Info_set(info, "romio_cb_write", "disable");
    failed =
        MPI_File_open(MPI_COMM_SELF, path, writing ? MPI_MODE_RDWR : MPI_MODE_RDONLY, info, opened);
    MPI_Info_free(&info);
  }
  if (failed) {
    free(opened);
    return failed;
  }
  MPI_File_set_errhandler(*opened, MPI_ERRORS_RETURN);
  *file = opened;
  return 0;
}

static int moved(int failed, MPI_Status* status, int expected) {
  int count = 0;
  if (!failed) failed = MPI_Get_count(status, MPI_BYTE, &count);
  return failed ? failed : count == expected ? 0 : MPI_ERR_IO;
}

static int file_write(void* self, void* file, uint64_t offset, const void* data, uint64_t bytes) {
  (void)self;
  while (bytes > 0) {
    const int now = piece(bytes);
    MPI_Status status;
    const int failed =
        MPI_File_write_at(*(MPI_File*)file, (MPI_Offset)offset, data, now, MPI_BYTE, &status);
    if (moved(failed, &status, now) != 0) return MPI_ERR_IO;
    offset += (uint64_t)now;
    data = (const char*)data + now;
    bytes -= (uint64_t)now;
  }
  return 0;
}

static int file_read(void* self, void* file, uint64_t offset, void* data, uint64_t bytes) {
  (void)self;
  while (bytes > 0) {
    const int now = piece(bytes);
    MPI_Status status;
    const int failed =
        MPI_File_read_at(*(MPI_File*)file, (MPI_Offset)offset, data, now, MPI_BYTE, &status);
    if (moved(failed, &status, now) != 0) return MPI_ERR_IO;
    offset += (uint64_t)now;
    data = (char*)data + now;
    bytes -= (uint64_t)now;
  }
  return 0;
}

static int file_sync(void* self, void* file) {
  (void)self;
  return MPI_File_sync(*(MPI_File*)file);
}

static int file_close(void* self, void* file) {
  (void)self;
  const int failed = MPI_File_close(file);
  free(file);
  return failed;
}

/* ---- teams ---- */

/* Whether MPI-IO is that of Open MPI, whose component may also be chosen at run time. */
static int has_ompio(void) {
#ifdef OPEN_MPI
  const char* chosen = getenv("OMPI_MCA_io");
  return !chosen || strncmp(chosen, "romio", 5) != 0;
#else
  return 0;
#endif
}

static int uses_mpi_files(leeway_mpi_files files) {
  const char* wish = getenv("LEEWAY_MPI_FILES");
  if (files == LEEWAY_MPI_FILES_DEFAULT && wish)
    files = strcmp(wish, "mpi") == 0     ? LEEWAY_MPI_FILES_MPI
            : strcmp(wish, "posix") == 0 ? LEEWAY_MPI_FILES_POSIX
                                         : LEEWAY_MPI_FILES_DEFAULT;
  return files == LEEWAY_MPI_FILES_DEFAULT ? !has_ompio() : files == LEEWAY_MPI_FILES_MPI;
}

/* The number of machines, and of this rank's. */
static int find_nodes(MPI_Comm comm, leeway_team* team) {
  MPI_Comm node;
  int failed = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  if (failed) return failed;
  int local = 0, first = 0;
  MPI_Comm_rank(node, &local);
  MPI_Comm_free(&node);
  int is_first = local == 0;
  failed = MPI_Scan(&is_first, &first, 1, MPI_INT, MPI_SUM, comm);
  team->node = first - 1;
  return failed | MPI_Allreduce(&is_first, &team->nodes, 1, MPI_INT, MPI_SUM, comm);
}

int leeway_mpi_team_create(MPI_Comm comm, leeway_mpi_files files, leeway_team* team) {
  memset(team, 0, sizeof *team);
  MPI_Comm* own = malloc(sizeof *own);
  /* All have a place for the communicator, or none goes on. */
  int lacks = own == NULL;
  int failed = MPI_Allreduce(MPI_IN_PLACE, &lacks, 1, MPI_INT, MPI_MAX, comm);
  if (!failed && lacks) failed = MPI_ERR_NO_MEM;
  if (!failed) failed = MPI_Comm_dup(comm, own);
  if (failed) {
    free(own);
    return failed;
  }
  MPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN);
  team->self = own;
  team->bcast = team_bcast;
  team->allgatherv = team_allgatherv;
  team->reduce = team_reduce;
  team->isend = team_isend;
  team->irecv = team_irecv;
  team->test = team_test;
  team->wait = team_wait;
  if (uses_mpi_files(files)) {
    team->file_open = file_open;
    team->file_write = file_write;
    team->file_read = file_read;
    team->file_sync = file_sync;
    team->file_close = file_close;
  }
  failed = MPI_Comm_rank(*own, &team->rank);
  failed |= MPI_Comm_size(*own, &team->size);
  failed |= find_nodes(*own, team);
  if (failed) leeway_mpi_team_free(team);
  return failed;
}

int leeway_mpi_team_free(leeway_team* team) {
  const int failed = MPI_Comm_free(team->self);
  free(team->self);
  memset(team, 0, sizeof *team);
  return failed;
}

leeway_status leeway_mpi_write(leeway_context* context, MPI_Comm comm, const char* path, int dtype,
                               int rank, const uint64_t* shape, size_t blocks,
                               const leeway_block* block, const leeway_write_options* options,
                               leeway_write_report* report) {
  leeway_team team;
  if (leeway_mpi_team_create(comm, LEEWAY_MPI_FILES_DEFAULT, &team) != 0) return LEEWAY_IO;
  const leeway_status status =
      leeway_team_write(context, &team, path, dtype, rank, shape, blocks, block, options, report);
  leeway_mpi_team_free(&team);
  return status;
}

leeway_status leeway_mpi_append(leeway_context* context, MPI_Comm comm, const char* path, int dtype,
                                int rank, const uint64_t* shape, size_t blocks,
                                const leeway_block* block, const leeway_write_options* options,
                                leeway_write_report* report) {
  leeway_team team;
  if (leeway_mpi_team_create(comm, LEEWAY_MPI_FILES_DEFAULT, &team) != 0) return LEEWAY_IO;
  const leeway_status status =
      leeway_team_append(context, &team, path, dtype, rank, shape, blocks, block, options, report);
  leeway_mpi_team_free(&team);
  return status;
}

leeway_status leeway_mpi_read(leeway_context* context, MPI_Comm comm, const char* path,
                              size_t blocks, const leeway_block* block) {
  leeway_team team;
  if (leeway_mpi_team_create(comm, LEEWAY_MPI_FILES_DEFAULT, &team) != 0) return LEEWAY_IO;
  const leeway_status status = leeway_team_read(context, &team, path, blocks, block);
  leeway_mpi_team_free(&team);
  return status;
}

const char* leeway_mpi_about(void) {
  static char about[MPI_MAX_LIBRARY_VERSION_STRING + 64];
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  version[strcspn(version, ",\n")] = '\0';
  for (char* c = version; *c; ++c)
    if (*c == '\t') *c = ' ';
  snprintf(about, sizeof about, "%s, files by %s", version,
           uses_mpi_files(LEEWAY_MPI_FILES_DEFAULT) ? "MPI-IO" : "the operating system");
  return about;
}
