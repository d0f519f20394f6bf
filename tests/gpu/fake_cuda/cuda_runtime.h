// SPDX-License-Identifier: BSD-3-Clause
// Fake CUDA: those functions of the CUDA runtime that leeway calls, on the emulator, so that what
// reaches a GPU is tested where there is none: leeway/gpu/cuda_device.cu is compiled against this
// header, and its kernels are functions (leeway/gpu/kernels.cu).
//
// It is as unkind as the real one. Work is done when somebody waits for its queue, not before;
// kernels may touch memory of their device and pinned memory, nothing else; a queue belongs to a
// device; more than 48 KiB of shared memory must be asked for; while a queue is captured, nothing
// may be allocated or waited for. A kernel's fault stays: all that waits afterwards fails.
#pragma once

#include <cstddef>

#define FAKE_CUDA extern "C" __attribute__((visibility("default")))

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorIllegalAddress = 700,
  cudaErrorStreamCaptureUnsupported = 900
};
enum cudaDeviceAttr { cudaDevAttrMemoryPoolsSupported = 115 };
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal = 0 };
enum cudaMemoryType { cudaMemoryTypeUnregistered = 0, cudaMemoryTypeHost, cudaMemoryTypeDevice };
constexpr unsigned cudaEventDisableTiming = 2;

using cudaStream_t = struct FakeStream*;
using cudaEvent_t = struct FakeEvent*;
using cudaGraph_t = struct FakeGraph*;
using cudaGraphExec_t = struct FakeGraph*;

struct dim3 {
  unsigned x, y = 1, z = 1;
  explicit dim3(unsigned count) : x(count) {}
};
struct cudaDeviceProp {
  char name[256];
  int major, minor, multiProcessorCount;
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
};

FAKE_CUDA const char* cudaGetErrorString(cudaError_t error);
FAKE_CUDA cudaError_t cudaGetLastError();
FAKE_CUDA cudaError_t cudaGetDeviceCount(int* count);
FAKE_CUDA cudaError_t cudaGetDevice(int* device);
FAKE_CUDA cudaError_t cudaSetDevice(int device);
FAKE_CUDA cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
FAKE_CUDA cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
FAKE_CUDA cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* found, const void* at);
FAKE_CUDA cudaError_t cudaMalloc(void** memory, std::size_t bytes);
FAKE_CUDA cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t queue);
FAKE_CUDA cudaError_t cudaMallocHost(void** memory, std::size_t bytes);
FAKE_CUDA cudaError_t cudaFree(void* memory);
FAKE_CUDA cudaError_t cudaFreeAsync(void* memory, cudaStream_t queue);
FAKE_CUDA cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t queue);
FAKE_CUDA cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                      cudaMemcpyKind kind, cudaStream_t queue);
FAKE_CUDA cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute,
                                           int value);
FAKE_CUDA cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, const void* kernel,
                                                                    int threads,
                                                                    std::size_t shared_bytes);
FAKE_CUDA cudaError_t cudaLaunchKernel(const void* kernel, dim3 ctas, dim3 threads,
                                       void** arguments, std::size_t shared_bytes,
                                       cudaStream_t queue);
FAKE_CUDA cudaError_t cudaStreamCreate(cudaStream_t* queue);
FAKE_CUDA cudaError_t cudaStreamDestroy(cudaStream_t queue);
FAKE_CUDA cudaError_t cudaStreamSynchronize(cudaStream_t queue);
FAKE_CUDA cudaError_t cudaStreamWaitEvent(cudaStream_t queue, cudaEvent_t event, unsigned flags);
FAKE_CUDA cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
FAKE_CUDA cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t queue);
FAKE_CUDA cudaError_t cudaEventDestroy(cudaEvent_t event);
FAKE_CUDA cudaError_t cudaStreamBeginCapture(cudaStream_t queue, cudaStreamCaptureMode mode);
FAKE_CUDA cudaError_t cudaStreamEndCapture(cudaStream_t queue, cudaGraph_t* graph);
FAKE_CUDA cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t queue);

// What tests ask of it and tell it.
struct FakeCudaCalls {
  unsigned clears = 0, kernels = 0, copies = 0, allocations = 0, frees = 0, waits = 0;
};
FAKE_CUDA FakeCudaCalls fake_cuda_calls();
// -1: there is no driver. What a kernel has done wrong is forgotten.
FAKE_CUDA void fake_cuda_set_devices(int count);
FAKE_CUDA void fake_cuda_set_seed(unsigned seed);
