// SPDX-License-Identifier: BSD-3-Clause
// The body of simt.h for CUDA.
#pragma once

#define LEEWAY_DEVICE __device__ __forceinline__
#define LEEWAY_DEVICE_CALL __device__ __noinline__
#define LEEWAY_UNROLL _Pragma("unroll")
#define LEEWAY_NO_UNROLL _Pragma("unroll 1")
#define LEEWAY_ANYWHERE __host__ __device__ constexpr
#define LEEWAY_TABLE static __device__ __constant__ const

namespace leeway::gpu {

// Memory of a CTA that its threads share; the emulator watches it.
template <class T>
using Cell = T;

LEEWAY_DEVICE u32 thread() { return threadIdx.x; }
LEEWAY_DEVICE u32 cta() { return blockIdx.x; }
LEEWAY_DEVICE u32 ctas() { return gridDim.x; }
LEEWAY_DEVICE void barrier() { __syncthreads(); }
LEEWAY_DEVICE void tile_sync() { __syncwarp(); }

constexpr u32 kAllLanes = ~u32(0);
LEEWAY_DEVICE u32 shuffle_up(u32 v, u32 delta) { return __shfl_up_sync(kAllLanes, v, delta); }
LEEWAY_DEVICE u32 shuffle_xor(u32 v, u32 mask) { return __shfl_xor_sync(kAllLanes, v, mask); }
LEEWAY_DEVICE u32 shuffle(u32 v, u32 from) { return __shfl_sync(kAllLanes, v, from); }
LEEWAY_DEVICE u32 ballot(bool p) { return __ballot_sync(kAllLanes, p); }

LEEWAY_DEVICE u32 bit_width(u32 v) { return 32 - u32(__clz(int(v))); }
LEEWAY_DEVICE u32 bit_width(u64 v) { return 64 - u32(__clzll((long long)v)); }
LEEWAY_DEVICE u32 count_bits(u32 v) { return u32(__popc(v)); }
LEEWAY_DEVICE u32 reverse_bits(u32 v) { return __brev(v); }
LEEWAY_DEVICE u64 mul_high(u64 a, u64 b) { return __umul64hi(a, b); }
LEEWAY_DEVICE u32 byte_perm(u32 a, u32 b, u32 selector) { return __byte_perm(a, b, selector); }
LEEWAY_DEVICE u32 funnel_left(u32 low, u32 high, u32 shift) {
  return __funnelshift_l(low, high, shift);
}
LEEWAY_DEVICE u32 funnel_right(u32 low, u32 high, u32 shift) {
  return __funnelshift_r(low, high, shift);
}

LEEWAY_DEVICE u32 to_bits(float v) { return __float_as_uint(v); }
LEEWAY_DEVICE u64 to_bits(double v) { return u64(__double_as_longlong(v)); }
LEEWAY_DEVICE float from_bits(u32 v) { return __uint_as_float(v); }
LEEWAY_DEVICE double from_bits(u64 v) { return __longlong_as_double((long long)v); }
LEEWAY_DEVICE float add(float a, float b) { return __fadd_rn(a, b); }
LEEWAY_DEVICE float sub(float a, float b) { return __fsub_rn(a, b); }
LEEWAY_DEVICE float mul(float a, float b) { return __fmul_rn(a, b); }
LEEWAY_DEVICE double add(double a, double b) { return __dadd_rn(a, b); }
LEEWAY_DEVICE double sub(double a, double b) { return __dsub_rn(a, b); }
LEEWAY_DEVICE double mul(double a, double b) { return __dmul_rn(a, b); }
LEEWAY_DEVICE double divide(double a, double b) { return __ddiv_rn(a, b); }
LEEWAY_DEVICE float to_float(double v) { return __double2float_rn(v); }
LEEWAY_DEVICE double to_double(i64 v) { return __ll2double_rn(v); }
LEEWAY_DEVICE float to_float(i32 v) { return __int2float_rn(v); }
LEEWAY_DEVICE i64 to_integer(double v) { return __double2ll_rz(v); }

template <class T>
LEEWAY_DEVICE T load(const T* p) {
  return *p;
}
template <class T>
LEEWAY_DEVICE void store(T* p, T v) {
  *p = v;
}
// Values that nobody needs again soon.
LEEWAY_DEVICE Quad load_stream(const Quad* p) {
  const uint4 v = __ldcs(reinterpret_cast<const uint4*>(p));
  return {v.x, v.y, v.z, v.w};
}
LEEWAY_DEVICE void store_stream(Quad* p, Quad v) {
  __stcs(reinterpret_cast<uint4*>(p), make_uint4(v.x, v.y, v.z, v.w));
}
// A part of shared memory as one number.
template <class To, class T>
LEEWAY_DEVICE To load_shared(const T* p) {
  return *reinterpret_cast<const To*>(p);
}
template <class To, class T>
LEEWAY_DEVICE void store_shared(T* p, To v) {
  *reinterpret_cast<To*>(p) = v;
}
LEEWAY_DEVICE void shared_or(Cell<u32>* p, u32 v) { atomicOr(p, v); }

LEEWAY_DEVICE u32 take_ticket(u32* p) { return atomicAdd(p, 1u); }
LEEWAY_DEVICE void global_max(u64* p, u64 v) {
  atomicMax(reinterpret_cast<unsigned long long*>(p), (unsigned long long)v);
}
LEEWAY_DEVICE u64 load_relaxed(const u64* p) {
  u64 v;
  asm volatile("ld.relaxed.gpu.global.u64 %0,[%1];" : "=l"(v) : "l"(p) : "memory");
  return v;
}
LEEWAY_DEVICE void store_relaxed(u64* p, u64 v) {
  asm volatile("st.relaxed.gpu.global.u64 [%0],%1;" : : "l"(p), "l"(v) : "memory");
}
LEEWAY_DEVICE void fence() { __threadfence(); }
// Somebody else has to do something first.
LEEWAY_DEVICE void wait_a_little() { __nanosleep(64); }

}  // namespace leeway::gpu
