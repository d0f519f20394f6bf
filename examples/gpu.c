/* SPDX-License-Identifier: BSD-3-Clause
 * An array in the memory of a GPU becomes a stream there, and comes back: leeway/gpu.h.
 *
 *   cc examples/gpu.c -lleeway -lm -o gpu && ./gpu
 *
 * "emulator" runs the kernels on the processor, in the memory of the host, so that this program runs
 * anywhere. For a GPU: "0" instead, cudaMalloc() and cudaFree() for malloc() and free(), and a
 * cudaStream_t for the queue. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "leeway/gpu.h"

enum { ROWS = 100, COLUMNS = 200 };

static void check(leeway_context* leeway, leeway_status status) {
  if (status == LEEWAY_OK) return;
  fprintf(stderr, "%s\n", leeway_message(leeway));
  exit(1);
}

/* Streams and workspaces begin at multiples of 16 bytes, as malloc() and cudaMalloc() have it. */
static void* memory(size_t bytes) {
  void* const made = malloc(bytes);
  if (!made) exit(1);
  return made;
}

int main(void) {
  static float field[ROWS * COLUMNS];
  for (int i = 0; i < ROWS * COLUMNS; ++i) field[i] = sinf(0.003f * (float)i);

  leeway_context* const leeway = leeway_create();
  if (!leeway) return 1;
  check(leeway, leeway_set_bound(leeway, "abs", 1e-3));
  check(leeway, leeway_set_recipe(leeway, "cuszp2-outlier"));

  leeway_gpu* device;
  check(leeway, leeway_gpu_open(leeway, "emulator", &device));
  const uint64_t shape[] = {ROWS, COLUMNS};
  const leeway_array like = {NULL, LEEWAY_F32, 2, shape, NULL};
  leeway_gpu_plan* plan; /* for any number of arrays of this shape */
  check(leeway, leeway_gpu_plan_create(leeway, device, &like, &plan));

  void* const queue = NULL; /* the default stream */
  const size_t most = leeway_gpu_most(plan);
  void* const workspace = memory(leeway_gpu_workspace(plan));
  unsigned char* const stream = memory(most);
  leeway_gpu_report* const made = memory(sizeof *made);
  leeway_gpu_report* const read = memory(sizeof *read);
  float* const decoded = memory(sizeof field);

  /* Nothing waits here: the size of the stream is in a report on the device. */
  check(leeway, leeway_gpu_compress(leeway, plan, field, stream, most, made, workspace, queue));
  check(leeway, leeway_gpu_decompress(leeway, plan, stream, 0, made, decoded, read, workspace,
                                      queue));

  /* This waits. */
  unsigned char* const host = memory(most);
  size_t bytes;
  check(leeway, leeway_gpu_to_host(leeway, plan, made, stream, host, most, &bytes, queue));
  printf("%zu bytes of values, %zu of the stream, largest error %g\n", sizeof field, bytes,
         made->max_error);

  int is_well = read->status == LEEWAY_OK;
  for (int i = 0; i < ROWS * COLUMNS; ++i) is_well &= fabsf(decoded[i] - field[i]) <= 1e-3f;
  puts(is_well ? "the bound holds" : "the bound does not hold");

  leeway_gpu_plan_free(plan);
  leeway_gpu_close(device);
  leeway_destroy(leeway);
  free(workspace), free(stream), free(made), free(read), free(decoded), free(host);
  return !is_well;
}
