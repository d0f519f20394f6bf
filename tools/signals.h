// SPDX-License-Identifier: BSD-3-Clause
// What must still happen when a signal ends the process: remove unfinished files, print a message.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>

namespace leeway::cli {

// To be called once, before anything else is done. From then on a signal that ends the process
// removes unfinished files first; signals that the caller ignores stay ignored. A file that grows
// beyond the limit of the caller is an ordinary error, and so is writing to a standard file that
// the caller has closed.
void prepare_process();

// A child that runs foreign code gets the default actions back.
void restore_signals();

// A file, or an empty folder, that is removed if a signal ends the process during the life of this
// object. What is in a folder is noted after it and goes first.
class Unfinished {
 public:
  // `make` returns the path of what it has made; no signal comes between.
  explicit Unfinished(const std::function<std::string()>& make);
  ~Unfinished();
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

 private:
  size_t slot_;
};

// A file that is mapped at this place. If it becomes shorter, the process ends with exit code 1 and
// says which file it was.
class Mapped {
 public:
  Mapped(const std::string& path, void* first, size_t bytes);
  ~Mapped();
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  // To be called now and then: what was read or written need not stay in memory. Does so every
  // eighth time, as chunks may be small and many, and after some time, as they may be large.
  void let_go();

 private:
  size_t slot_;
  void* first_;
  size_t bytes_;
  std::atomic<unsigned> calls_ = 0;
  std::atomic<double> last_ = 0;
};

}  // namespace leeway::cli
