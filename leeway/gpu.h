/* SPDX-License-Identifier: BSD-3-Clause
 * leeway on a GPU: one kernel makes a whole leeway stream in device memory, byte for byte the one
 * that the host makes (with fill values declared, not detected), and another reads it. The recipes
 * are cuszp2-outlier, cuszp2-plain and ceresz, for f32 and f64, with absolute and relative bounds.
 *
 *   leeway_gpu* device;
 *   leeway_gpu_open(leeway, "0", &device);             // or "emulator": the kernels on the host
 *   leeway_gpu_plan* plan;
 *   leeway_gpu_plan_create(leeway, device, &array, &plan);
 *   cudaMalloc(&workspace, leeway_gpu_workspace(plan)), cudaMalloc(&stream, leeway_gpu_most(plan));
 *   leeway_gpu_compress(leeway, plan, values, stream, leeway_gpu_most(plan), report, workspace,
 * queue);
 *
 * No header of CUDA or HIP is needed: a queue is a cudaStream_t or hipStream_t. Functions that get
 * a queue only put work into it: they wait for nothing, allocate nothing, and may be captured in a
 * graph. docs/GPU.md shows how it is used. */
#ifndef LEEWAY_GPU_H
#define LEEWAY_GPU_H

#include "leeway/leeway.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct leeway_gpu leeway_gpu;           /* a device */
typedef struct leeway_gpu_plan leeway_gpu_plan; /* host memory only; for any number of queues */

/* In device, pinned or managed memory; written by a kernel when all else is done. */
typedef struct leeway_gpu_report {
  uint64_t bytes;         /* of the stream; with LEEWAY_TOO_SMALL, those that would be needed */
  uint32_t status, chunk; /* a leeway_status, and the first chunk that has it; 2^32 - 1: none has */
  double abs_bound, max_error;
  uint64_t special, exact; /* values */
  uint64_t stored;         /* chunks that did not shrink */
} leeway_gpu_report;

/* "0", "1", ...: a GPU; "emulator": the kernels run on the host, in its memory, slowly. The message
 * of the context says what is missing if there is no driver or no such device. */
LEEWAY_API leeway_status leeway_gpu_open(leeway_context*, const char* name, leeway_gpu** device);
LEEWAY_API void leeway_gpu_close(leeway_gpu* device);
LEEWAY_API const char* leeway_gpu_name(const leeway_gpu* device);

/* Type, shape and strides of `like`, whose data are ignored; bound, recipe, chunk shape and fill
 * values of the context. LEEWAY_UNSUPPORTED if the device cannot do it; the message says what it
 * can. The device outlives the plan. */
LEEWAY_API leeway_status leeway_gpu_plan_create(leeway_context*, leeway_gpu* device,
                                                const leeway_array* like, leeway_gpu_plan** plan);
/* A plan for decompressing a stream that is in the memory of the host, to contiguous values; the
 * first 4096 bytes will do. */
LEEWAY_API leeway_status leeway_gpu_plan_for_stream(leeway_context*, leeway_gpu* device,
                                                    const void* stream, size_t bytes,
                                                    leeway_gpu_plan** plan);
LEEWAY_API void leeway_gpu_plan_free(leeway_gpu_plan* plan);
LEEWAY_API size_t leeway_gpu_workspace(const leeway_gpu_plan* plan); /* bytes of device memory */
LEEWAY_API size_t leeway_gpu_most(const leeway_gpu_plan* plan);      /* a capacity that is enough */

/* Stream and workspace are aligned to 16 bytes. A status other than LEEWAY_OK says that the call
 * makes no sense or that the device refused the work; what only the device knows is in the report.
 */
LEEWAY_API leeway_status leeway_gpu_compress(leeway_context*, const leeway_gpu_plan* plan,
                                             const void* values, void* stream, size_t capacity,
                                             leeway_gpu_report* report, void* workspace,
                                             void* queue);
/* With bytes = 0, as many as `made` says, the report of the compressor, which may still be on its
 * way; else `made` may be NULL. */
LEEWAY_API leeway_status leeway_gpu_decompress(leeway_context*, const leeway_gpu_plan* plan,
                                               const void* stream, size_t bytes,
                                               const leeway_gpu_report* made, void* values,
                                               leeway_gpu_report* report, void* workspace,
                                               void* queue);
/* The box of the shape of `part` that begins at the index `first`, to the memory of `part`. */
LEEWAY_API leeway_status leeway_gpu_decompress_region(
    leeway_context*, const leeway_gpu_plan* plan, const void* stream, size_t bytes,
    const leeway_gpu_report* made, const uint64_t* first, const leeway_array* part,
    leeway_gpu_report* report, void* workspace, void* queue);

/* Random-access write: new values for the box of the shape of `part` that begins at `first`, which
 * is made of whole chunks (LEEWAY_UNSUPPORTED if not). New frames and a new tail go behind the
 * stream, up to `capacity` bytes in all; leeway_gpu_update_room() more than it has are always
 * enough. The report says how many bytes it has then. With another status than LEEWAY_OK it is as
 * it was, with as many bytes as before. */
LEEWAY_API leeway_status leeway_gpu_update(leeway_context*, const leeway_gpu_plan* plan,
                                           void* stream, size_t bytes,
                                           const leeway_gpu_report* made, size_t capacity,
                                           const uint64_t* first, const leeway_array* part,
                                           leeway_gpu_report* report, void* workspace, void* queue);
LEEWAY_API leeway_status leeway_gpu_update_room(leeway_context*, const leeway_gpu_plan* plan,
                                                const leeway_array* part, size_t* bytes);

/* Waits: copies report and stream to the memory of the host. Returns the status of the report. */
LEEWAY_API leeway_status leeway_gpu_to_host(leeway_context*, const leeway_gpu_plan* plan,
                                            const leeway_gpu_report* report, const void* stream,
                                            void* host, size_t capacity, size_t* bytes,
                                            void* queue);

#ifdef __cplusplus
}
#endif

#endif
