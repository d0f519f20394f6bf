// SPDX-License-Identifier: BSD-3-Clause
#include "tools/output_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace leeway::cli {
namespace {

// The file to remove when the process is told to stop. One output at a time.
char unfinished[4096];

void remove_unfinished(int signal) {
  if (unfinished[0]) ::unlink(unfinished);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

[[noreturn]] void fail(const std::string& path) {
  throw Error(Errc::io, "cannot write '" + path + "': " + std::strerror(errno));
}

}  // namespace

OutputFile::OutputFile(const std::string& path, bool force) : path_(path) {
  if (path == "-") {
    if (::isatty(STDOUT_FILENO))
      throw Error(Errc::invalid_argument, "refusing to write binary data to a terminal");
    file_ = STDOUT_FILENO;
    return;
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode))
      throw Error(Errc::io, "cannot write '" + path + "': it is a directory");
    if (!S_ISREG(status.st_mode)) {  // a pipe or device is written as it is
      file_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      if (file_ < 0) fail(path);
      return;
    }
    if (!force) throw Error(Errc::io, "'" + path + "' exists; --force replaces it");
  }
  temporary_ = path + ".tmp" + std::to_string(::getpid());
  file_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file_ < 0) fail(path);
  is_regular_ = true;
  std::strncpy(unfinished, temporary_.c_str(), sizeof unfinished - 1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, remove_unfinished);
}

OutputFile::~OutputFile() {
  if (mapped_) ::munmap(mapped_, mapped_bytes_);
  if (file_ < 0 || file_ == STDOUT_FILENO) return;
  ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  unfinished[0] = 0;
}

void OutputFile::write(ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(file_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail(path_);
    bytes = bytes.subspan(size_t(done));
  }
}

std::span<std::byte> OutputFile::map(size_t size) {
  // Reserve the space now: a full disk must be an error, not a signal later.
  if (size > 0) {
    if (const int error = ::posix_fallocate(file_, 0, off_t(size)); error != 0) {
      errno = error;
      fail(path_);
    }
    void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (mapped == MAP_FAILED) fail(path_);
    mapped_ = static_cast<std::byte*>(mapped);
    mapped_bytes_ = size;
  }
  return {mapped_, size};
}

void OutputFile::let_go() {
  if (mapped_ && ++calls_ % 8 == 0)
    ::madvise(mapped_, mapped_bytes_, MADV_DONTNEED);  // the file keeps it
}

void OutputFile::commit() {
  if (!can_map()) return;
  if (mapped_) ::munmap(mapped_, mapped_bytes_);
  mapped_ = nullptr;
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    errno = error;
    fail(path_);
  }
  temporary_.clear();
  unfinished[0] = 0;
}

}  // namespace leeway::cli
