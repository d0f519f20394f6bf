// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "leeway/base/buffer.h"
#include "leeway/base/environment.h"

namespace leeway {
namespace {

thread_local unsigned to_share = 1;

class Sharing {
 public:
  explicit Sharing(unsigned threads) : outer_(std::exchange(to_share, threads)) {}
  ~Sharing() { to_share = outer_; }

 private:
  unsigned outer_;
};

// The work must not throw. If the system gives fewer threads than asked for, those that there are
// do all the work.
void run_on_threads(unsigned workers, const std::function<void(unsigned)>& work) {
  std::vector<std::jthread> threads;
  try {
    threads.reserve(workers - 1);
    for (unsigned i = 1; i < workers; ++i) threads.emplace_back(std::cref(work), i);
  } catch (const std::system_error&) {
  } catch (const std::bad_alloc&) {
  }
  work(0);
}

class FirstError {
 public:
  void capture() noexcept {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::current_exception();
    failed_ = true;
  }
  bool failed() const { return failed_; }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> failed_ = false;
  std::exception_ptr error_;
};

void run(u64 count, unsigned threads, const Executor& executor,
         const std::function<void(unsigned)>& work) {
  const auto workers = unsigned(std::min<u64>(std::max(threads, 1u), count));
  const auto guarded = [&](unsigned worker) {
    const DefaultFloatingPoint environment;
    const Sharing sharing(executor ? 1 : std::max(1u, threads / workers));
    const BufferPool::UseOwn use;
    work(worker);
  };
  if (workers <= 1) {
    if (count > 0) guarded(0);
  } else if (executor) {
    const HostFloatingPoint host;
    executor(workers, guarded);
  } else {
    run_on_threads(workers, guarded);
  }
}

}  // namespace

unsigned threads_to_share() { return to_share; }

void for_each_index(u64 count, unsigned threads, const Executor& executor,
                    const std::function<void(u64)>& f) {
  std::atomic<u64> ticket = 0;
  FirstError error;
  run(count, threads, executor, [&](unsigned) {
    try {
      for (u64 i; !error.failed() && (i = ticket++) < count;) f(i);
    } catch (...) {
      error.capture();
    }
  });
  error.rethrow();
}

void for_each_in_order(u64 count, unsigned threads, u64 window, const Executor& executor,
                       const std::function<void(u64)>& make,
                       const std::function<void(u64)>& finish) {
  std::mutex mutex;
  std::condition_variable room;
  std::set<u64> made;  // but not finished
  u64 ticket = 0, next = 0;
  bool finishing = false;
  FirstError error;
  run(count, threads, executor, [&](unsigned) {
    try {
      for (;;) {
        u64 mine;
        {
          std::unique_lock lock(mutex);
          // The worker with the lowest index never waits, so the window always moves on.
          room.wait(lock,
                    [&] { return error.failed() || ticket == count || ticket < next + window; });
          if (error.failed() || ticket == count) return;
          mine = ticket++;
        }
        make(mine);
        std::unique_lock lock(mutex);
        made.insert(mine);
        if (finishing) continue;
        finishing = true;
        while (!error.failed() && made.erase(next) == 1) {
          lock.unlock();
          finish(next);
          lock.lock();
          ++next;
          room.notify_all();
        }
        finishing = false;
      }
    } catch (...) {
      error.capture();
      const std::lock_guard lock(mutex);
      room.notify_all();
    }
  });
  error.rethrow();
}

}  // namespace leeway
