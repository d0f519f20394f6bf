// SPDX-License-Identifier: BSD-3-Clause
// The body of simt.h for AMD, in builtins of clang: no header of HIP is needed. Two tiles share a
// wave of 64 lanes.
#pragma once

#define LEEWAY_DEVICE __attribute__((device, always_inline)) inline
#define LEEWAY_DEVICE_CALL __attribute__((device, noinline)) inline
#define LEEWAY_UNROLL _Pragma("unroll")
#define LEEWAY_NO_UNROLL _Pragma("nounroll")
#define LEEWAY_ANYWHERE __attribute__((host, device)) constexpr
#define LEEWAY_TABLE static __attribute__((constant)) const

namespace leeway::gpu {

template <class T>
using Cell = T;

LEEWAY_DEVICE u32 thread() { return __builtin_amdgcn_workitem_id_x(); }
LEEWAY_DEVICE u32 cta() { return __builtin_amdgcn_workgroup_id_x(); }
LEEWAY_DEVICE u32 ctas() {
  return __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x();
}
LEEWAY_DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
LEEWAY_DEVICE void tile_sync() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

LEEWAY_DEVICE u32 wave_lane() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}
LEEWAY_DEVICE u32 from_wave_lane(u32 v, u32 from) {
  return u32(__builtin_amdgcn_ds_bpermute(int(from << 2), int(v)));
}
LEEWAY_DEVICE u32 shuffle_up(u32 v, u32 delta) {
  const u32 l = wave_lane();
  return from_wave_lane(v, (l & 31) >= delta ? l - delta : l);
}
LEEWAY_DEVICE u32 shuffle_xor(u32 v, u32 mask) { return from_wave_lane(v, wave_lane() ^ mask); }
LEEWAY_DEVICE u32 shuffle(u32 v, u32 from) {
  return from_wave_lane(v, (wave_lane() & ~31u) + (from & 31));
}
LEEWAY_DEVICE u32 ballot(bool p) {
  constexpr int kNotEqual = 33;
  return u32(__builtin_amdgcn_uicmp(u32(p), 0u, kNotEqual) >> (wave_lane() & 32));
}

LEEWAY_DEVICE u32 bit_width(u32 v) { return v ? 32 - u32(__builtin_clz(v)) : 0; }
LEEWAY_DEVICE u32 bit_width(u64 v) { return v ? 64 - u32(__builtin_clzll(v)) : 0; }
LEEWAY_DEVICE u32 count_bits(u32 v) { return u32(__builtin_popcount(v)); }
LEEWAY_DEVICE u32 reverse_bits(u32 v) { return __builtin_bitreverse32(v); }
LEEWAY_DEVICE u64 mul_high(u64 a, u64 b) { return u64((unsigned __int128)a * b >> 64); }
LEEWAY_DEVICE u32 byte_perm(u32 a, u32 b, u32 s) {
  return __builtin_amdgcn_perm(
      b, a, (s & 7) | (s >> 4 & 7) << 8 | (s >> 8 & 7) << 16 | (s >> 12 & 7) << 24);
}
LEEWAY_DEVICE u32 funnel_left(u32 low, u32 high, u32 shift) {
  shift &= 31;
  return shift ? high << shift | low >> (32 - shift) : high;
}
LEEWAY_DEVICE u32 funnel_right(u32 low, u32 high, u32 shift) {
  return __builtin_amdgcn_alignbit(high, low, shift);
}

LEEWAY_DEVICE u32 to_bits(float v) { return __builtin_bit_cast(u32, v); }
LEEWAY_DEVICE u64 to_bits(double v) { return __builtin_bit_cast(u64, v); }
LEEWAY_DEVICE float from_bits(u32 v) { return __builtin_bit_cast(float, v); }
LEEWAY_DEVICE double from_bits(u64 v) { return __builtin_bit_cast(double, v); }
// Compiled with -ffp-contract=off.
LEEWAY_DEVICE float add(float a, float b) { return a + b; }
LEEWAY_DEVICE float sub(float a, float b) { return a - b; }
LEEWAY_DEVICE float mul(float a, float b) { return a * b; }
LEEWAY_DEVICE double add(double a, double b) { return a + b; }
LEEWAY_DEVICE double sub(double a, double b) { return a - b; }
LEEWAY_DEVICE double mul(double a, double b) { return a * b; }
LEEWAY_DEVICE double divide(double a, double b) { return a / b; }
LEEWAY_DEVICE float to_float(double v) { return float(v); }
LEEWAY_DEVICE double to_double(i64 v) { return double(v); }
LEEWAY_DEVICE float to_float(i32 v) { return float(v); }
LEEWAY_DEVICE i64 to_integer(double v) { return i64(v); }

template <class T>
LEEWAY_DEVICE T load(const T* p) {
  return *p;
}
template <class T>
LEEWAY_DEVICE void store(T* p, T v) {
  *p = v;
}
LEEWAY_DEVICE Quad load_stream(const Quad* p) {
  using Vector = u32 __attribute__((ext_vector_type(4)));
  const Vector v = __builtin_nontemporal_load(reinterpret_cast<const Vector*>(p));
  return {v.x, v.y, v.z, v.w};
}
LEEWAY_DEVICE void store_stream(Quad* p, Quad v) {
  using Vector = u32 __attribute__((ext_vector_type(4)));
  __builtin_nontemporal_store(Vector{v.x, v.y, v.z, v.w}, reinterpret_cast<Vector*>(p));
}
template <class To, class T>
LEEWAY_DEVICE To load_shared(const T* p) {
  return *reinterpret_cast<const To*>(p);
}
template <class To, class T>
LEEWAY_DEVICE void store_shared(T* p, To v) {
  *reinterpret_cast<To*>(p) = v;
}
LEEWAY_DEVICE void shared_or(Cell<u32>* p, u32 v) {
  __hip_atomic_fetch_or(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}

LEEWAY_DEVICE u32 take_ticket(u32* p) {
  return __hip_atomic_fetch_add(p, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
LEEWAY_DEVICE void global_max(u64* p, u64 v) {
  __hip_atomic_fetch_max(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
LEEWAY_DEVICE u64 load_relaxed(const u64* p) {
  return __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
LEEWAY_DEVICE void store_relaxed(u64* p, u64 v) {
  __hip_atomic_store(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
LEEWAY_DEVICE void fence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
LEEWAY_DEVICE void wait_a_little() { __builtin_amdgcn_s_sleep(2); }

}  // namespace leeway::gpu
