// SPDX-License-Identifier: BSD-3-Clause
// Fiber: a function with a stack of its own, that goes on and pauses by turns with its caller.
#pragma once

#include <cstddef>
#include <memory>

namespace leeway::gpu {

class Fiber {
 public:
  static constexpr std::size_t kStackBytes = std::size_t(64) << 10;

  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;

  // Begins anew: the next resume() calls entry(argument), which must never return.
  void start(void (*entry)(void*), void* argument);
  // Goes on until the fiber pauses. Called outside of it.
  void resume();
  // Called inside.
  void pause();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace leeway::gpu
