/* SPDX-License-Identifier: BSD-3-Clause
 * A program with a static HDF5 whose functions are hidden, for test_hidden_hdf5.py: the plugin
 * finds none of them.
 *
 *   hidden_hdf5 write FILE WORD ...    a dataset "t" of 64x64 f32, chunks of 32x32, these parameters
 *   hidden_hdf5 read FILE              the largest difference from what write puts there */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSide = 64 };

static float value(int i, int j) { return sinf(0.1f * (float)i) * cosf(0.07f * (float)j); }

int main(int argc, char** argv) {
  static float field[kSide][kSide];
  const hsize_t shape[] = {kSide, kSide}, chunk[] = {kSide / 2, kSide / 2};
  if (argc > 3 && strcmp(argv[1], "write") == 0) {
    unsigned words[64];
    for (int i = 3; i < argc; ++i) words[i - 3] = (unsigned)strtoul(argv[i], NULL, 10);
    for (int i = 0; i < kSide; ++i)
      for (int j = 0; j < kSide; ++j) field[i][j] = value(i, j);
    hid_t file = H5Fcreate(argv[2], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(2, shape, NULL), dcpl = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(dcpl, 2, chunk);
    if (H5Pset_filter(dcpl, 47310, H5Z_FLAG_MANDATORY, (size_t)(argc - 3), words) < 0) return 1;
    hid_t set = H5Dcreate2(file, "t", H5T_IEEE_F32LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
    if (H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, field) < 0) return 1;
    // Chunks that are still in memory are filtered now.
    if (H5Dclose(set) < 0) return 1;
    return H5Fclose(file) < 0;
  }
  hid_t file = H5Fopen(argv[2], H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t set = H5Dopen2(file, "t", H5P_DEFAULT);
  if (H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, field) < 0) return 1;
  double most = 0;
  for (int i = 0; i < kSide; ++i)
    for (int j = 0; j < kSide; ++j) most = fmax(most, fabs((double)field[i][j] - value(i, j)));
  printf("largest error %g\n", most);
  return 0;
}
