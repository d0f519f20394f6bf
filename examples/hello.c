/* SPDX-License-Identifier: BSD-3-Clause
 * Compress a field in C and read it back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "leeway/leeway.h"

int main(void) {
  const uint64_t shape[] = {200, 300}; /* slowest axis first */
  double* field = malloc(200 * 300 * sizeof *field);
  double* decoded = malloc(200 * 300 * sizeof *decoded);
  for (int i = 0; i < 200 * 300; ++i) field[i] = sin(0.01 * i) * cos(0.003 * i);

  leeway_context* leeway = leeway_create();
  leeway_set_bound(leeway, "rel", 1e-4); /* of the value range */
  leeway_set_threads(leeway, 2);

  leeway_array array = {field, LEEWAY_F64, 2, shape, NULL};
  leeway_buffer* stream = NULL;
  if (leeway_compress(leeway, &array, &stream) != LEEWAY_OK) {
    fprintf(stderr, "%s\n", leeway_message(leeway));
    return 1;
  }
  leeway_info info;
  leeway_inspect(leeway, leeway_buffer_data(stream), leeway_buffer_size(stream), &info);
  printf("%zu -> %zu bytes, bound %g, largest error %g\n", 200 * 300 * sizeof *field,
         leeway_buffer_size(stream), info.abs_bound, info.max_error);

  array.data = decoded;
  leeway_status status =
      leeway_decompress(leeway, leeway_buffer_data(stream), leeway_buffer_size(stream), &array);
  int bad = status != LEEWAY_OK;
  for (int i = 0; i < 200 * 300; ++i) bad |= !(fabs(field[i] - decoded[i]) <= info.abs_bound);

  leeway_buffer_free(stream);
  leeway_destroy(leeway);
  free(field);
  free(decoded);
  return bad;
}
