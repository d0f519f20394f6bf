// SPDX-License-Identifier: BSD-3-Clause
// The body of simt.h for the emulator (emulator.h): every operation and every access to memory that
// others may see goes through the machine that runs the kernel.
#pragma once

#include <cmath>
#include <cstring>

#include "leeway/gpu/emulator.h"

#define LEEWAY_DEVICE inline
#define LEEWAY_DEVICE_CALL inline
#define LEEWAY_UNROLL
#define LEEWAY_NO_UNROLL
#define LEEWAY_ANYWHERE constexpr
#define LEEWAY_TABLE inline constexpr

namespace leeway::gpu {

template <class T>
class Cell {
 public:
  operator T() const {
    emulator::shared_access(&value_, sizeof value_, emulator::Access::read);
    return value_;
  }
  T operator=(T value) {
    emulator::shared_access(&value_, sizeof value_, emulator::Access::write);
    return value_ = value;
  }
  Cell() = default;
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

 private:
  T value_;
};

inline u32 thread() { return emulator::thread(); }
inline u32 cta() { return emulator::cta(); }
inline u32 ctas() { return emulator::ctas(); }
inline void barrier() { emulator::barrier(); }
inline void tile_sync() { emulator::tile_sync(); }

inline u32 shuffle_up(u32 v, u32 delta) {
  const u32 l = emulator::thread() % kTile;
  return u32(emulator::shuffle(v, l >= delta ? l - delta : l));
}
inline u32 shuffle_xor(u32 v, u32 mask) {
  return u32(emulator::shuffle(v, (emulator::thread() % kTile) ^ mask));
}
inline u32 shuffle(u32 v, u32 from) { return u32(emulator::shuffle(v, from % kTile)); }
inline u32 ballot(bool p) { return emulator::ballot(p); }

inline u32 bit_width(u32 v) { return v ? 32 - u32(__builtin_clz(v)) : 0; }
inline u32 bit_width(u64 v) { return v ? 64 - u32(__builtin_clzll(v)) : 0; }
inline u32 count_bits(u32 v) { return u32(__builtin_popcount(v)); }
inline u32 reverse_bits(u32 v) {
  u32 reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (v >> i & 1) << (31 - i);
  return reversed;
}
inline u64 mul_high(u64 a, u64 b) {
  __extension__ using u128 = unsigned __int128;
  return u64(u128(a) * b >> 64);
}
inline u32 byte_perm(u32 a, u32 b, u32 selector) {
  const u64 both = u64(b) << 32 | a;
  u32 v = 0;
  for (int i = 0; i < 4; ++i) v |= u32(both >> 8 * (selector >> 4 * i & 7) & 0xff) << 8 * i;
  return v;
}
inline u32 funnel_left(u32 low, u32 high, u32 shift) {
  shift &= 31;
  return shift ? high << shift | low >> (32 - shift) : high;
}
inline u32 funnel_right(u32 low, u32 high, u32 shift) {
  shift &= 31;
  return shift ? low >> shift | high << (32 - shift) : low;
}

inline u32 to_bits(float v) {
  u32 bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}
inline u64 to_bits(double v) {
  u64 bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}
inline float from_bits(u32 v) {
  float value;
  std::memcpy(&value, &v, sizeof value);
  return value;
}
inline double from_bits(u64 v) {
  double value;
  std::memcpy(&value, &v, sizeof value);
  return value;
}
// Compiled with -ffp-contract=off.
inline float add(float a, float b) { return a + b; }
inline float sub(float a, float b) { return a - b; }
inline float mul(float a, float b) { return a * b; }
inline double add(double a, double b) { return a + b; }
inline double sub(double a, double b) { return a - b; }
inline double mul(double a, double b) { return a * b; }
inline double divide(double a, double b) { return a / b; }
inline float to_float(double v) { return float(v); }
inline double to_double(i64 v) { return double(v); }
inline float to_float(i32 v) { return float(v); }
inline i64 to_integer(double v) { return i64(v); }

template <class T>
inline T load(const T* p) {
  T v;
  emulator::read(p, &v, sizeof v);
  return v;
}
template <class T>
inline void store(T* p, T v) {
  emulator::write(p, &v, sizeof v);
}
inline Quad load_stream(const Quad* p) { return load(p); }
inline void store_stream(Quad* p, Quad v) { store(p, v); }
template <class To, class T>
inline To load_shared(const T* p) {
  emulator::shared_access(p, sizeof(To), emulator::Access::read);
  To v;
  std::memcpy(&v, static_cast<const void*>(p), sizeof v);
  return v;
}
template <class To, class T>
inline void store_shared(T* p, To v) {
  emulator::shared_access(p, sizeof(To), emulator::Access::write);
  std::memcpy(static_cast<void*>(p), &v, sizeof v);
}
inline void shared_or(Cell<u32>* p, u32 v) {
  emulator::shared_access(p, sizeof v, emulator::Access::atomic);
  u32 now;
  std::memcpy(&now, static_cast<const void*>(p), sizeof now);
  now |= v;
  std::memcpy(static_cast<void*>(p), &now, sizeof now);
}

inline u32 take_ticket(u32* p) { return emulator::take_ticket(p); }
inline void global_max(u64* p, u64 v) { emulator::global_max(p, v); }
inline u64 load_relaxed(const u64* p) { return emulator::load_relaxed(p); }
inline void store_relaxed(u64* p, u64 v) { emulator::store_relaxed(p, v); }
inline void fence() { emulator::fence(); }
inline void wait_a_little() { emulator::spin(); }

}  // namespace leeway::gpu
