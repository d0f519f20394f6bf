// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/gpu/fiber.h"

#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#define LEEWAY_FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEEWAY_FIBER_ASAN 1
#endif
#endif
#if defined(LEEWAY_FIBER_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

#if !(defined(__x86_64__) && defined(__linux__))
#include <ucontext.h>
#endif

namespace leeway::gpu {

#if defined(__x86_64__) && defined(__linux__)

// Saves what a called function must keep, and where the stack is, and goes on with another stack.
// swapcontext() would ask the kernel for the mask of signals, which takes longer than all the rest.
extern "C" void leeway_gpu_switch(void** from, void* to);
asm(R"(
.text
.globl leeway_gpu_switch
.hidden leeway_gpu_switch
.type leeway_gpu_switch, @function
leeway_gpu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size leeway_gpu_switch, .-leeway_gpu_switch
)");

struct Fiber::Context {
  std::unique_ptr<std::byte[]> stack{new std::byte[kStackBytes]};
  void* own = nullptr;
  void* caller = nullptr;
  void (*entry)(void*) = nullptr;
  void* argument = nullptr;

  static inline thread_local Context* starting = nullptr;
  static void begin() {
    Context* const context = starting;
    context->entered();
    context->entry(context->argument);
    __builtin_trap();
  }
  void prepare() {
    auto top = reinterpret_cast<std::uintptr_t>(stack.get() + kStackBytes) & ~std::uintptr_t(15);
    auto** at = reinterpret_cast<void**>(top);
    *--at = nullptr;  // keeps the stack aligned as after a call
    *--at = reinterpret_cast<void*>(&begin);
    for (int i = 0; i < 6; ++i) *--at = nullptr;
    own = at;
  }
  void enter() {
    starting = this;
    leeway_gpu_switch(&caller, own);
  }
  void leave() { leeway_gpu_switch(&own, caller); }
#else

struct Fiber::Context {
  std::unique_ptr<std::byte[]> stack{new std::byte[kStackBytes]};
  ucontext_t own{}, caller{};
  void (*entry)(void*) = nullptr;
  void* argument = nullptr;

  static inline thread_local Context* starting = nullptr;
  static void begin() {
    Context* const context = starting;
    context->entered();
    context->entry(context->argument);
    __builtin_trap();
  }
  void prepare() {
    getcontext(&own);
    own.uc_stack.ss_sp = stack.get();
    own.uc_stack.ss_size = kStackBytes;
    own.uc_link = nullptr;
    makecontext(&own, begin, 0);
  }
  void enter() {
    starting = this;
    swapcontext(&caller, &own);
  }
  void leave() { swapcontext(&own, &caller); }
#endif

#if defined(LEEWAY_FIBER_ASAN)
  void* own_fake = nullptr;
  void* caller_fake = nullptr;
  const void* caller_stack = nullptr;
  std::size_t caller_bytes = 0;
  void entered() { __sanitizer_finish_switch_fiber(own_fake, &caller_stack, &caller_bytes); }
  void resume() {
    __sanitizer_start_switch_fiber(&caller_fake, stack.get(), kStackBytes);
    enter();
    __sanitizer_finish_switch_fiber(caller_fake, nullptr, nullptr);
  }
  void pause() {
    __sanitizer_start_switch_fiber(&own_fake, caller_stack, caller_bytes);
    leave();
    __sanitizer_finish_switch_fiber(own_fake, &caller_stack, &caller_bytes);
  }
#else
  void entered() {}
  void resume() { enter(); }
  void pause() { leave(); }
#endif
};

Fiber::Fiber() : context_(std::make_unique<Context>()) {}
Fiber::~Fiber() = default;
void Fiber::start(void (*entry)(void*), void* argument) {
  context_->entry = entry;
  context_->argument = argument;
  context_->prepare();
}
void Fiber::resume() { context_->resume(); }
void Fiber::pause() { context_->pause(); }

}  // namespace leeway::gpu
