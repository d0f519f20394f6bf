/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks write one netCDF-4 variable together, compressed; the last rank has nothing:
 *   parallel_netcdf FILE WORD ... */
#include <math.h>
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_filter.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRows = 16, kColumns = 128 };

static void must(int status) {
  if (status == NC_NOERR) return;
  fprintf(stderr, "%s\n", nc_strerror(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  static float rows[kRows][kColumns];
  unsigned words[64];
  int rank, ranks, file, dims[2], variable;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int writers = ranks > 1 ? ranks - 1 : 1;
  for (int i = 2; i < argc; ++i) words[i - 2] = (unsigned)strtoul(argv[i], NULL, 10);
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j)
      rows[i][j] = sinf(0.1f * (float)(rank * kRows + i)) * cosf(0.07f * (float)j);
  must(nc_create_par(argv[1], NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
  must(nc_def_dim(file, "y", (size_t)(writers * kRows), &dims[0]));
  must(nc_def_dim(file, "x", kColumns, &dims[1]));
  must(nc_def_var(file, "t", NC_FLOAT, 2, dims, &variable));
  const size_t chunk[] = {kRows, kColumns};
  must(nc_def_var_chunking(file, variable, NC_CHUNKED, chunk));
  must(nc_def_var_filter(file, variable, 47310, (size_t)(argc - 2), words));
  must(nc_enddef(file));
  must(nc_var_par_access(file, variable, NC_COLLECTIVE)); /* compressed variables are written so */
  const int has_rows = rank < writers;
  const size_t first[] = {has_rows ? (size_t)(rank * kRows) : 0, 0},
               count[] = {has_rows ? kRows : 0, has_rows ? kColumns : 0};
  must(nc_put_vara_float(file, variable, first, count, &rows[0][0]));
  must(nc_close(file));
  MPI_Finalize();
  return 0;
}
