// SPDX-License-Identifier: BSD-3-Clause
// The interpreter's lock, given away for work and taken back.
//
// Where the interpreter ends, daemon threads never get the lock again: Python ends the thread by
// unwinding it, which C++ frames that catch everything, or must not throw, answer with an abort.
// Such a thread sleeps here instead until the process is gone, as Python itself does from 3.14 on.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <exception>
#include <thread>

namespace leeway::python {

namespace nb = nanobind;

[[noreturn]] inline void sleep_forever() noexcept {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

// Taking the lock throws nothing of ours: whatever comes out is the end of the thread.
template <class F>
auto take_lock(F&& take) noexcept {
  if (!Py_IsInitialized()) sleep_forever();
  try {
    return take();
  } catch (...) {
    sleep_forever();
  }
}

// The lock is free as long as this lives.
class Unlocked {
 public:
  Unlocked() : thread_(PyEval_SaveThread()) {}
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked() {
    take_lock([&] { PyEval_RestoreThread(thread_); });
  }

 private:
  PyThreadState* thread_;
};

// Calls `f` with the lock, on any thread. Python code may let go of the lock, and so be ended, too.
template <class F>
void with_lock(F&& f) {
  const PyGILState_STATE state = take_lock([] { return PyGILState_Ensure(); });
  std::exception_ptr raised;
  try {
    f();
  } catch (const std::exception&) {
    raised = std::current_exception();
  } catch (...) {
    sleep_forever();
  }
  PyGILState_Release(state);
  if (raised) std::rethrow_exception(raised);
}

}  // namespace leeway::python
