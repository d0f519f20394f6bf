// SPDX-License-Identifier: BSD-3-Clause
// The kernels as CUDA and HIP see them; for any other compiler they are functions that run on the
// emulator.
#include "leeway/gpu/compress_kernel.h"
#include "leeway/gpu/decompress_kernel.h"
#include "leeway/gpu/range_kernel.h"
#include "leeway/gpu/update_kernel.h"

#if defined(__CUDACC__)
#define LEEWAY_KERNEL(ctas) \
  extern "C" __global__ void __launch_bounds__(leeway::gpu::kThreads, ctas)
#define LEEWAY_ARGUMENTS(T) const __grid_constant__ T
#define LEEWAY_SHARED(T, name)                            \
  extern __shared__ __align__(16) unsigned char memory[]; \
  T& name = *reinterpret_cast<T*>(memory)
#elif defined(LEEWAY_GPU_HIP)
#define LEEWAY_KERNEL(ctas)                                                 \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256))) \
  __attribute__((visibility("default"))) void
#define LEEWAY_ARGUMENTS(T) const T
#define LEEWAY_SHARED(T, name)                                                                 \
  static __attribute__((shared)) __attribute__((aligned(16))) unsigned char memory[sizeof(T)]; \
  T& name = *reinterpret_cast<T*>(memory)
#else
#define LEEWAY_KERNEL(ctas) extern "C" void
#define LEEWAY_ARGUMENTS(T) const T
#define LEEWAY_SHARED(T, name) T& name = *static_cast<T*>(leeway::gpu::emulator::shared_memory())
#endif

namespace leeway::gpu {

LEEWAY_KERNEL(2) leeway_range_f32(LEEWAY_ARGUMENTS(CompressArgs) args) {
  LEEWAY_SHARED(RangeShared, s);
  find_range<float>(args, s);
}
LEEWAY_KERNEL(2) leeway_range_f64(LEEWAY_ARGUMENTS(CompressArgs) args) {
  LEEWAY_SHARED(RangeShared, s);
  find_range<double>(args, s);
}
LEEWAY_KERNEL(3) leeway_compress_f32(LEEWAY_ARGUMENTS(CompressArgs) args) {
  LEEWAY_SHARED(CompressShared, s);
  compress<float>(args, s);
}
LEEWAY_KERNEL(2) leeway_compress_f64(LEEWAY_ARGUMENTS(CompressArgs) args) {
  LEEWAY_SHARED(CompressShared, s);
  compress<double>(args, s);
}
LEEWAY_KERNEL(2) leeway_find_frames(LEEWAY_ARGUMENTS(DecompressArgs) args) {
  LEEWAY_SHARED(FindShared, s);
  FrameFinder(args, s).run();
}
LEEWAY_KERNEL(3) leeway_decompress_f32(LEEWAY_ARGUMENTS(DecompressArgs) args) {
  LEEWAY_SHARED(DecompressShared, s);
  decompress<float>(args, s);
}
LEEWAY_KERNEL(2) leeway_decompress_f64(LEEWAY_ARGUMENTS(DecompressArgs) args) {
  LEEWAY_SHARED(DecompressShared, s);
  decompress<double>(args, s);
}
LEEWAY_KERNEL(3) leeway_update_f32(LEEWAY_ARGUMENTS(UpdateArgs) args) {
  LEEWAY_SHARED(CompressShared, s);
  update_chunks<float>(args, s);
}
LEEWAY_KERNEL(2) leeway_update_f64(LEEWAY_ARGUMENTS(UpdateArgs) args) {
  LEEWAY_SHARED(CompressShared, s);
  update_chunks<double>(args, s);
}

}  // namespace leeway::gpu
