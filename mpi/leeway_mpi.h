/* SPDX-License-Identifier: BSD-3-Clause
 * leeway for MPI: ranks write one array into one stream, and read it. See leeway/parallel.h for
 * what the functions do, and docs/MPI.md for examples.
 *
 * Compile leeway_mpi.c, which is installed beside this header, with your program and your MPI: what
 * an MPI_Comm is differs from MPI to MPI. CMake's target leeway::mpi does so. MPI-3 and
 * MPI_THREAD_FUNNELED are enough. */
#ifndef LEEWAY_MPI_H
#define LEEWAY_MPI_H

#include <leeway/parallel.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How ranks reach the file. The default: MPI-IO if the library's MPI-IO is ROMIO, the operating
 * system if it is Open MPI's own (OMPIO reports success on a full disk). The environment variable
 * LEEWAY_MPI_FILES (posix, mpi) overrules the default. */
typedef enum leeway_mpi_files {
  LEEWAY_MPI_FILES_DEFAULT = 0,
  LEEWAY_MPI_FILES_POSIX = 1,
  LEEWAY_MPI_FILES_MPI = 2
} leeway_mpi_files;

/* A team of the ranks of a communicator, which is duplicated: no message of leeway can meet one of
 * yours. All ranks call both. Returns 0, or MPI's error code. */
int leeway_mpi_team_create(MPI_Comm comm, leeway_mpi_files files, leeway_team* team);
int leeway_mpi_team_free(leeway_team* team);

/* As leeway_team_write(), leeway_team_append() and leeway_team_read(), with a communicator. */
leeway_status leeway_mpi_write(leeway_context* context, MPI_Comm comm, const char* path, int dtype,
                               int rank, const uint64_t* shape, size_t blocks,
                               const leeway_block* block, const leeway_write_options* options,
                               leeway_write_report* report);
leeway_status leeway_mpi_append(leeway_context* context, MPI_Comm comm, const char* path, int dtype,
                                int rank, const uint64_t* shape, size_t blocks,
                                const leeway_block* block, const leeway_write_options* options,
                                leeway_write_report* report);
leeway_status leeway_mpi_read(leeway_context* context, MPI_Comm comm, const char* path,
                              size_t blocks, const leeway_block* block);

/* Which MPI this was compiled with and runs with, and how it reaches files: one line. */
const char* leeway_mpi_about(void);

#ifdef __cplusplus
}
#endif

#endif
