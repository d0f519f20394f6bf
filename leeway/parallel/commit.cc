// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/commit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>

namespace leeway::parallel {
namespace {

constexpr size_t kEnds = 4096;  // bytes that are read back at either end of a run

[[noreturn]] void fail_io(const std::string& what) {
  throw Error(Errc::io, what + ": " + std::strerror(errno));
}

// The path after all symbolic links, if it leads to a file.
std::string target_of(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? real.get() : path;
}

std::pair<std::string, std::string> folder_and_name(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::pair(std::string(), path)
                                    : std::pair(path.substr(0, slash + 1), path.substr(slash + 1));
}

std::string random_letters() {
  std::random_device random;
  std::string text;
  for (int i = 0; i < 8; ++i) text += "abcdefghijklmnopqrstuvwxyz0123456789"[random() % 36];
  return text;
}

}  // namespace

void compare(const TeamFile& file, u64 offset, ByteView bytes) {
  constexpr size_t kStep = size_t(4) << 20;
  Bytes found;
  for (size_t at = 0; at < bytes.size(); at += kStep) {
    found.resize(std::min(kStep, bytes.size() - at));
    file.read(offset + at, found);
    if (!std::ranges::equal(found, bytes.subspan(at, found.size())))
      throw Error(Errc::io, "the file does not hold what was written to it");
  }
}

Commit::Commit(const Team& team, const std::string& path, const leeway_write_options& options)
    : team_(team), options_(options), path_(path) {
  Bytes name;
  if (team.rank() == 0) {
    create();
    name.assign(temporary_.begin(), temporary_.end());
  }
  try {
    team.bcast(name, 0);
  } catch (...) {
    if (is_made_) ::unlink(temporary_.c_str());
    throw;
  }
  temporary_.assign(name.begin(), name.end());
}

Commit::~Commit() {
  if (is_made_) ::unlink(temporary_.c_str());
}

void Commit::create() {
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (exists && options_.exclusive) throw Error(Errc::io, "'" + path_ + "' exists already");
  if (exists && !S_ISREG(status.st_mode))
    throw Error(Errc::io, "'" + path_ + "' is not a regular file");
  path_ = target_of(path_);
  const auto [folder, name] = folder_and_name(path_);
  for (int attempt = 0;; ++attempt) {
    temporary_ = folder + "." + name + ".part-" + random_letters();
    const int file = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0 && errno == EEXIST && attempt < 10) continue;
    if (file < 0) fail_io("cannot create '" + temporary_ + "'");
    if (exists) (void)::fchmod(file, status.st_mode & 07777);
    ::close(file);
    break;
  }
  is_made_ = true;
}

void write_runs(const Team& team, const std::string& path, const std::vector<Layout::Run>& runs,
                const leeway_write_options& options) {
  if (runs.empty()) return;
  TeamFile file(team, path, true);
  for (const Layout::Run& run : runs) file.write(run.offset, run.bytes);
  if (!options.not_durable) file.sync();
  for (const Layout::Run& run : runs) {
    const size_t ends = options.check ? run.bytes.size() : std::min(kEnds, run.bytes.size());
    compare(file, run.offset, run.bytes.first(ends));
    compare(file, run.offset + run.bytes.size() - ends, run.bytes.last(ends));
  }
  file.close();
}

void Commit::write(const std::vector<Layout::Run>& runs) {
  write_runs(team_, temporary_, runs, options_);
  team_.agree();
}

void Commit::finish(u64 offset, ByteView tail) {
  if (team_.rank() == 0) {
    write_runs(team_, temporary_, {{offset, tail}}, options_);
    struct stat status {};
    if (::stat(temporary_.c_str(), &status) != 0) fail_io("cannot find '" + temporary_ + "'");
    if (u64(status.st_size) != offset + tail.size())
      throw Error(Errc::io, "'" + temporary_ + "' has not the size that was written");
    give_name();
  }
  team_.agree();
}

void Commit::give_name() {
  if (options_.exclusive) {
    if (::link(temporary_.c_str(), path_.c_str()) != 0) fail_io("cannot create '" + path_ + "'");
    ::unlink(temporary_.c_str());
  } else if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    fail_io("cannot replace '" + path_ + "'");
  }
  is_made_ = false;
  if (options_.not_durable) return;
  std::string folder = folder_and_name(path_).first;
  if (folder.empty()) folder = ".";
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;  // the file is in its place; only a power cut could take it away
  (void)::fsync(opened);
  ::close(opened);
}

}  // namespace leeway::parallel
