// SPDX-License-Identifier: BSD-3-Clause
// CUDA device: the functions of device_library.h by the CUDA runtime.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

#include "leeway/gpu/device_library.h"
#include "leeway/gpu/kernels.cu"

namespace leeway::gpu {
namespace {

const char* text_of(cudaError_t error) {
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}
// What f does on a device, which is the current one again afterwards that was before.
template <class F>
const char* on_device(int device, const F& f) {
  int before = 0;
  cudaError_t error = cudaGetDevice(&before);
  if (error == cudaSuccess && before != device) error = cudaSetDevice(device);
  if (error == cudaSuccess) error = f();
  if (before != device) cudaSetDevice(before);
  return text_of(error);
}

struct KernelFacts {
  const void* function;
  size_t shared_bytes;
};
KernelFacts facts_of(int kernel, int is_f64) {
  switch (kernel) {
    case LEEWAY_KERNEL_RANGE:
      return {is_f64 ? (const void*)leeway_range_f64 : (const void*)leeway_range_f32,
              sizeof(RangeShared)};
    case LEEWAY_KERNEL_COMPRESS:
      return {is_f64 ? (const void*)leeway_compress_f64 : (const void*)leeway_compress_f32,
              sizeof(CompressShared)};
    case LEEWAY_KERNEL_FIND_FRAMES:
      return {(const void*)leeway_find_frames, sizeof(FindShared)};
    case LEEWAY_KERNEL_UPDATE:
      return {is_f64 ? (const void*)leeway_update_f64 : (const void*)leeway_update_f32,
              sizeof(CompressShared)};
    default:
      return {is_f64 ? (const void*)leeway_decompress_f64 : (const void*)leeway_decompress_f32,
              sizeof(DecompressShared)};
  }
}

const char* clear(int device, void* memory, size_t bytes, void* queue) {
  return on_device(device, [&] { return cudaMemsetAsync(memory, 0, bytes, cudaStream_t(queue)); });
}
const char* launch(int device, int kernel, int is_f64, unsigned ctas, const void* args,
                   void* queue) {
  return on_device(device, [&] {
    const KernelFacts facts = facts_of(kernel, is_f64);
    void* arguments[] = {const_cast<void*>(args)};
    return cudaLaunchKernel(facts.function, dim3(ctas), dim3(kThreads), arguments,
                            facts.shared_bytes, cudaStream_t(queue));
  });
}
// Devices with memory pools give and take memory in the order of a queue.
bool has_pools(int device) {
  int has = 0;
  return cudaDeviceGetAttribute(&has, cudaDevAttrMemoryPoolsSupported, device) == cudaSuccess &&
         has;
}
const char* allocate(int device, size_t bytes, void** memory, void* queue) {
  return on_device(device, [&] {
    return has_pools(device) ? cudaMallocAsync(memory, bytes, cudaStream_t(queue))
                             : cudaMalloc(memory, bytes);
  });
}
const char* release(int device, void* memory, void* queue) {
  return on_device(device, [&] {
    return has_pools(device) ? cudaFreeAsync(memory, cudaStream_t(queue)) : cudaFree(memory);
  });
}
const char* order(int device, void* before, void* after) {
  return on_device(device, [&] {
    cudaEvent_t event;
    cudaError_t error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error != cudaSuccess) return error;
    error = cudaEventRecord(event, cudaStream_t(before));
    if (error == cudaSuccess) error = cudaStreamWaitEvent(cudaStream_t(after), event, 0);
    const cudaError_t destroyed = cudaEventDestroy(event);
    return error == cudaSuccess ? destroyed : error;
  });
}
const char* locate(const void* memory, int* device) {
  cudaPointerAttributes found;
  const cudaError_t error = cudaPointerGetAttributes(&found, memory);
  *device = found.type == cudaMemoryTypeUnregistered || found.type == cudaMemoryTypeHost
                ? -1
                : found.device;
  return text_of(error);
}
const char* copy(int device, void* to, const void* from, size_t bytes, void* queue) {
  return on_device(device, [&] {
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, cudaStream_t(queue));
  });
}
const char* wait(int device, void* queue) {
  return on_device(device, [&] { return cudaStreamSynchronize(cudaStream_t(queue)); });
}

// Shared memory above 48 KiB must be asked for, once for each kernel and device.
cudaError_t prepare_kernels(unsigned& resident, int processors) {
  resident = 0;
  for (int kernel = LEEWAY_KERNEL_RANGE; kernel <= LEEWAY_KERNEL_UPDATE; ++kernel)
    for (int is_f64 = 0; is_f64 < 2; ++is_f64) {
      const KernelFacts facts = facts_of(kernel, is_f64);
      cudaError_t error = cudaFuncSetAttribute(
          facts.function, cudaFuncAttributeMaxDynamicSharedMemorySize, int(facts.shared_bytes));
      int ctas = 0;
      if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, facts.function, int(kThreads),
                                                              facts.shared_bytes);
      if (error != cudaSuccess) return error;
      const unsigned all = unsigned(ctas * processors);
      resident = all > resident ? all : resident;
    }
  return cudaSuccess;
}

}  // namespace
}  // namespace leeway::gpu

extern "C" const char* leeway_open_device(int device, leeway_device_functions* functions) {
  using namespace leeway::gpu;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver)
    return "no CUDA driver (libcuda.so.1 not found), or one that is too old";
  if (error != cudaSuccess) return cudaGetErrorString(error);
  if (device >= count) return "there is no device of this number";
  cudaDeviceProp properties;
  if (const char* wrong = text_of(cudaGetDeviceProperties(&properties, device))) return wrong;
  *functions = {};
  functions->version = LEEWAY_DEVICE_VERSION;
  std::snprintf(functions->name, sizeof functions->name, "%.200s (sm_%d%d)", properties.name,
                properties.major, properties.minor);
  functions->clear = clear;
  functions->launch = launch;
  functions->allocate = allocate;
  functions->release = release;
  functions->copy = copy;
  functions->wait = wait;
  functions->order = order;
  functions->locate = locate;
  return on_device(
      device, [&] { return prepare_kernels(functions->resident, properties.multiProcessorCount); });
}
