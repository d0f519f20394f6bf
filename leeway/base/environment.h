// SPDX-License-Identifier: BSD-3-Clause
// Environment: the floating-point settings of a thread. A host may flush denormals to zero, round
// in another direction or trap exceptions; leeway computes with the defaults of IEEE 754, so that
// neither streams nor decoded values depend on that.
//
// Every function of the interface that computes with floating-point numbers begins with a
// DefaultFloatingPoint; functions that only call such ones need none.
#pragma once

#include "leeway/base/types.h"

#if !defined(__SSE2__) && !defined(__aarch64__)
#include <cfenv>
#endif

namespace leeway {

// Control and status of a thread, sticky flags included.
struct FloatingPointState {
#if defined(__SSE2__)
  u32 mxcsr;
#elif defined(__aarch64__)
  u64 fpcr, fpsr;
#else
  std::fenv_t environment;
#endif
};

// While an object of this class lives, its thread rounds to nearest, keeps denormals and traps
// nothing. Its destructor restores the settings that the thread had before.
class DefaultFloatingPoint {
 public:
  DefaultFloatingPoint() noexcept;
  ~DefaultFloatingPoint();
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;

 private:
  FloatingPointState saved_;
  bool is_outermost_;
};

// While an object of this class lives, its thread has the settings of the host again. To be used
// around calls of the host that may start threads: new threads inherit the settings for good.
class HostFloatingPoint {
 public:
  HostFloatingPoint() noexcept;
  ~HostFloatingPoint();
  HostFloatingPoint(const HostFloatingPoint&) = delete;
  HostFloatingPoint& operator=(const HostFloatingPoint&) = delete;

 private:
  FloatingPointState saved_;
};

}  // namespace leeway
