/* SPDX-License-Identifier: BSD-3-Clause
 * Device library: what libleeway_cuda.so, which has the kernels, shows to libleeway. It is loaded
 * when a GPU is asked for, so that nothing is linked that a machine without a GPU lacks. */
#ifndef LEEWAY_GPU_DEVICE_LIBRARY_H
#define LEEWAY_GPU_DEVICE_LIBRARY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  LEEWAY_DEVICE_VERSION = 1,
  LEEWAY_KERNEL_RANGE = 0,
  LEEWAY_KERNEL_COMPRESS,
  LEEWAY_KERNEL_FIND_FRAMES,
  LEEWAY_KERNEL_DECOMPRESS,
  LEEWAY_KERNEL_UPDATE
};

/* Functions return NULL, or what went wrong. */
typedef struct leeway_device_functions {
  int version;
  char name[256];
  unsigned resident; /* CTAs that have work at the same time */
  const char* (*clear)(int device, void* memory, size_t bytes, void* queue);
  /* `args` are CompressArgs, DecompressArgs or UpdateArgs (layout.h). */
  const char* (*launch)(int device, int kernel, int is_f64, unsigned ctas, const void* args,
                        void* queue);
  const char* (*allocate)(int device, size_t bytes, void** memory, void* queue);
  const char* (*release)(int device, void* memory, void* queue);
  const char* (*copy)(int device, void* to, const void* from, size_t bytes, void* queue);
  const char* (*wait)(int device, void* queue);
  /* What comes into `after` from now on waits for what is in `before`. */
  const char* (*order)(int device, void* before, void* after);
  /* The device whose memory it is, -1 for that of the host. */
  const char* (*locate)(const void* memory, int* device);
} leeway_device_functions;

/* Fills the table for the device of this number. */
typedef const char* leeway_open_device_function(int device, leeway_device_functions* functions);
__attribute__((visibility("default"))) leeway_open_device_function leeway_open_device;

#ifdef __cplusplus
}
#endif

#endif
