/* SPDX-License-Identifier: BSD-3-Clause
 * Every rank writes its slab of one compressed dataset, together; then each reads its neighbour's
 * slab. The plugin does the work: nothing but HDF5 and MPI is linked. Filtered datasets must be
 * written collectively. Usage: mpirun -n 4 parallel_hdf5 FILE CHUNK_ROWS */
#include <hdf5.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRows = 64, kColumns = 128 };

static float value(long row, int j, int k) {
  return sinf(0.02f * row + 0.05f * j) * cosf(0.03f * k);
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS), dxpl = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL);
  H5Pset_dxpl_mpio(dxpl, H5FD_MPIO_COLLECTIVE);
  hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);

  /* The filter by its id; an absolute bound as a mode and a double, low word first. */
  const double bound = 1e-3;
  unsigned words[3] = {1, 0, 0};
  memcpy(words + 1, &bound, sizeof bound);
  const hsize_t shape[] = {(hsize_t)kRows * ranks, kColumns, kColumns};
  const hsize_t chunk[] = {(hsize_t)atoi(argv[2]), 64, 64};
  hid_t space = H5Screate_simple(3, shape, NULL), dcpl = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(dcpl, 3, chunk);
  H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER);
  H5Pset_filter(dcpl, 47310, H5Z_FLAG_MANDATORY, 3, words);
  hid_t dataset = H5Dcreate2(file, "field", H5T_IEEE_F32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  if (dataset < 0) MPI_Abort(MPI_COMM_WORLD, 1);

  const hsize_t count[] = {kRows, kColumns, kColumns};
  hsize_t first[] = {(hsize_t)kRows * rank, 0, 0};
  hid_t memory = H5Screate_simple(3, count, NULL);
  float* slab = malloc(sizeof(float) * kRows * kColumns * kColumns);
  for (long i = 0, n = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j)
      for (int k = 0; k < kColumns; ++k) slab[n++] = value((long)first[0] + i, j, k);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, count, NULL);
  if (H5Dwrite(dataset, H5T_NATIVE_FLOAT, memory, space, dxpl, slab) < 0)
    MPI_Abort(MPI_COMM_WORLD, 1);
  H5Dclose(dataset);
  H5Fclose(file);

  file = H5Fopen(argv[1], H5F_ACC_RDONLY, fapl);
  dataset = H5Dopen2(file, "field", H5P_DEFAULT);
  first[0] = (hsize_t)kRows * ((rank + 1) % ranks);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, first, NULL, count, NULL);
  if (H5Dread(dataset, H5T_NATIVE_FLOAT, memory, space, dxpl, slab) < 0)
    MPI_Abort(MPI_COMM_WORLD, 1);
  double largest = 0, overall = 0;
  for (long i = 0, n = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j)
      for (int k = 0; k < kColumns; ++k)
        largest = fmax(largest, fabs((double)slab[n++] - value((long)first[0] + i, j, k)));
  MPI_Allreduce(&largest, &overall, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d ranks, %llu -> %llu bytes, largest error %g\n", ranks,
           (unsigned long long)(shape[0] * shape[1] * shape[2] * sizeof(float)),
           (unsigned long long)H5Dget_storage_size(dataset), overall);
  free(slab);
  H5Dclose(dataset);
  H5Fclose(file);
  MPI_Finalize();
  return overall > bound;
}
