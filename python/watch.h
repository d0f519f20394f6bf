// SPDX-License-Identifier: BSD-3-Clause
// Watch: lets Python interrupt work that is done without its lock, and tells it how far that is.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include "leeway/engine/engine.h"
#include "python/lock.h"

namespace leeway::python {

class Watch {
 public:
  // `report` is None, or called with the part of the work that is done.
  explicit Watch(nb::object report = nb::none()) : report_(std::move(report)) {}

  // Settings for the work; it must be run by run().
  Execution execution(i64 threads) {
    constexpr i64 kMost = 65536;
    if (threads < 1 || threads > kMost)
      fail_argument("the number of threads is from 1 to 65536, not " + std::to_string(threads));
    Execution result;
    result.threads = unsigned(threads);
    result.pause = [this] { look(); };
    result.progress = [this](double done) {
      tell(done);
      return !stopped_;
    };
    return result;
  }

  // Without the lock. What a signal or `report` raises ends the work, and comes out here.
  template <class F>
  void run(F&& work) {
    try {
      const Unlocked unlocked;
      work();
    } catch (const Error& error) {
      if (error.code() != Errc::canceled || !raised_) throw;
    }
    if (raised_) std::rethrow_exception(raised_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kInterval{50};

  // Signals reach the thread that has called us, if any.
  void look() {
    if (stopped_) throw Error(Errc::canceled, "stopped on request");
    if (std::this_thread::get_id() != caller_ || !is_due(looked_)) return;
    with_lock([&] {
      if (PyErr_CheckSignals() != 0) stop([] { throw nb::python_error(); });
    });
    if (stopped_) throw Error(Errc::canceled, "stopped on request");
  }
  void tell(double done) {
    look();
    if (report_.is_none() || (done < 1 && !is_due(told_))) return;
    with_lock([&] { stop([&] { report_(done); }); });
  }
  // Keeps what `f` raises, if it does. The lock is held, so that only one does at a time.
  template <class F>
  void stop(F&& f) {
    try {
      f();
    } catch (const std::exception&) {
      if (!raised_) raised_ = std::current_exception();
      stopped_ = true;
    }
  }
  static bool is_due(Clock::time_point& last) {
    const Clock::time_point now = Clock::now();
    if (now - last < kInterval) return false;
    last = now;
    return true;
  }

  nb::object report_;
  const std::thread::id caller_ = std::this_thread::get_id();
  Clock::time_point looked_ = Clock::now();  // only the caller's
  Clock::time_point told_;                   // one thread at a time reports
  std::atomic<bool> stopped_ = false;
  std::exception_ptr raised_;
};

}  // namespace leeway::python
