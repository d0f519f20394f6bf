// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/base/environment.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace leeway {
namespace {

#if defined(__SSE2__)

FloatingPointState current_state() { return {_mm_getcsr()}; }
void restore(const FloatingPointState& state) { _mm_setcsr(state.mxcsr); }
void set_defaults() { _mm_setcsr(0x1f80); }

#elif defined(__aarch64__)

FloatingPointState current_state() {
  FloatingPointState state;
  asm volatile("mrs %0, fpcr" : "=r"(state.fpcr)::"memory");
  asm volatile("mrs %0, fpsr" : "=r"(state.fpsr)::"memory");
  return state;
}
void restore(const FloatingPointState& state) {
  asm volatile("msr fpcr, %0" ::"r"(state.fpcr) : "memory");
  asm volatile("msr fpsr, %0" ::"r"(state.fpsr) : "memory");
}
void set_defaults() { asm volatile("msr fpcr, %0" ::"r"(u64(0)) : "memory"); }

#else

FloatingPointState current_state() {
  FloatingPointState state;
  std::fegetenv(&state.environment);
  return state;
}
void restore(const FloatingPointState& state) { std::fesetenv(&state.environment); }
void set_defaults() { std::fesetenv(FE_DFL_ENV); }

#endif

// The settings that the outermost DefaultFloatingPoint of this thread has saved.
thread_local const FloatingPointState* host_state = nullptr;

}  // namespace

DefaultFloatingPoint::DefaultFloatingPoint() noexcept
    : saved_(current_state()), is_outermost_(!host_state) {
  if (is_outermost_) host_state = &saved_;
  set_defaults();
}
DefaultFloatingPoint::~DefaultFloatingPoint() {
  if (is_outermost_) host_state = nullptr;
  restore(saved_);
}

HostFloatingPoint::HostFloatingPoint() noexcept : saved_(current_state()) {
  if (host_state) restore(*host_state);
}
HostFloatingPoint::~HostFloatingPoint() { restore(saved_); }

}  // namespace leeway
