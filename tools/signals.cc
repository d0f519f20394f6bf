// SPDX-License-Identifier: BSD-3-Clause
#include "tools/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "leeway/base/error.h"
#include "tools/cli.h"

namespace leeway::cli {
namespace {

// What a handler may read at any moment: nothing here is allocated.
struct Slot {
  enum State { kFree, kTaken, kUnfinished, kMapped };
  std::atomic<int> state = kFree;
  char path[PATH_MAX];
  std::uintptr_t first;
  size_t bytes;
};
Slot slots[16];
static_assert(std::atomic<int>::is_always_lock_free);

size_t note(Slot::State state, const std::string& path, const void* first, size_t bytes) {
  for (size_t i = 0; i < std::size(slots); ++i) {
    int expected = Slot::kFree;
    if (!slots[i].state.compare_exchange_strong(expected, Slot::kTaken)) continue;
    // Only names in messages may be cut: no longer path can be opened.
    slots[i].path[path.copy(slots[i].path, PATH_MAX - 1)] = 0;
    slots[i].first = reinterpret_cast<std::uintptr_t>(first);
    slots[i].bytes = bytes;
    slots[i].state = state;
    return i;
  }
  throw Error(Errc::internal, "too many files at once");
}

void remove_unfinished() {
  for (size_t i = std::size(slots); i-- > 0;)
    if (slots[i].state == Slot::kUnfinished && ::unlink(slots[i].path) != 0) ::rmdir(slots[i].path);
}

void say(const char* text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, std::strlen(text));
}

// Names the mapped file, if the signal came from one. Several threads may come here; one goes on.
void end(int signal, siginfo_t* info, void*) {
  static std::atomic_flag is_ending;
  while (is_ending.test_and_set()) ::pause();
  remove_unfinished();
  if (signal == SIGBUS && info->si_code > 0)
    for (const Slot& slot : slots)
      if (slot.state == Slot::kMapped &&
          reinterpret_cast<std::uintptr_t>(info->si_addr) - slot.first < slot.bytes) {
        say("leeway: '");
        say(slot.path);
        say("' became shorter while it was used, or its disk failed\n");
        ::_exit(kFailed);
      }
  ::signal(signal, SIG_DFL);
  ::raise(signal);  // takes effect when the handler returns
}

// Signals wait during the life of this object.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

constexpr int kHarmless[] = {SIGCHLD, SIGCONT, SIGURG,  SIGWINCH, SIGKILL,
                             SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};

// Calls f for every signal that ends a process which does nothing about it.
template <class F>
void for_each_ending(F&& f) {
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    if (std::find(std::begin(kHarmless), std::end(kHarmless), signal) == std::end(kHarmless))
      f(signal);
}

}  // namespace

void prepare_process() {
  // A file opened later must not be taken for a standard one. Opened the wrong way round, they
  // refuse what would be lost.
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(file, F_GETFD) < 0) ::open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  ::signal(SIGXFSZ, SIG_IGN);  // write() fails instead
  struct sigaction action {};
  action.sa_sigaction = end;
  action.sa_flags = SA_SIGINFO;
  ::sigfillset(&action.sa_mask);
  for_each_ending([&](int signal) {
    struct sigaction before {};
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
      ::sigaction(signal, &action, nullptr);
  });
}

void restore_signals() {
  for_each_ending([](int signal) { ::signal(signal, SIG_DFL); });
}

Unfinished::Unfinished(const std::function<std::string()>& make) {
  const SignalsHeld held;
  slot_ = note(Slot::kUnfinished, make(), nullptr, 0);
}
Unfinished::~Unfinished() { slots[slot_].state = Slot::kFree; }

Mapped::Mapped(const std::string& path, void* first, size_t bytes)
    : slot_(note(Slot::kMapped, path, first, bytes)), first_(first), bytes_(bytes) {}
Mapped::~Mapped() { slots[slot_].state = Slot::kFree; }

void Mapped::let_go() {
  constexpr double kSeconds = 0.05;
  const double now = seconds_now();
  if (++calls_ % 8 != 0 && now < last_ + kSeconds) return;
  last_ = now;
  ::madvise(first_, bytes_, MADV_DONTNEED);
}

}  // namespace leeway::cli
