/* SPDX-License-Identifier: BSD-3-Clause
 * Writes a compressed dataset in a program that links HDF5 and leeway, and reads it back: no plugin
 * is needed. Prints the largest error. Usage: hello_hdf5 FILE */
#include <math.h>
#include <stdio.h>

#include "leeway/hdf5.h"

enum { kRows = 200, kColumns = 300 };
static double field[kRows][kColumns], again[kRows][kColumns];

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "hello.h5";
  const hsize_t shape[] = {kRows, kColumns}, chunk[] = {100, 100};
  unsigned words[LEEWAY_H5Z_MAX_WORDS];
  const size_t count = leeway_h5z_words("abs=1e-4 recipe=small", words);
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) field[i][j] = sin(0.05 * i) * cos(0.03 * j);
  field[3][4] = NAN;
  if (leeway_h5z_register() < 0 || count == 0) return 1;

  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = H5Screate_simple(2, shape, NULL), dcpl = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(dcpl, 2, chunk);
  H5Pset_filter(dcpl, LEEWAY_H5Z_ID, H5Z_FLAG_MANDATORY, count, words);
  hid_t dataset = H5Dcreate2(file, "field", H5T_IEEE_F64LE, space, H5P_DEFAULT, dcpl, H5P_DEFAULT);
  if (dataset < 0 || H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, field) < 0)
    return 1;
  H5Dclose(dataset);
  H5Pclose(dcpl);
  H5Sclose(space);
  H5Fclose(file);

  file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  dataset = H5Dopen2(file, "field", H5P_DEFAULT);
  if (H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, again) < 0) return 1;
  double largest = 0;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j)
      if (!isnan(field[i][j])) largest = fmax(largest, fabs(field[i][j] - again[i][j]));
  printf("%zu -> %llu bytes, largest error %g\n", sizeof field,
         (unsigned long long)H5Dget_storage_size(dataset), largest);
  H5Dclose(dataset);
  H5Fclose(file);
  return !(largest <= 1e-4 && isnan(again[3][4]));
}
