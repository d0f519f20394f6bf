// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stream/source.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace leeway {

namespace {

[[noreturn]] void fail_io(const std::string& what) {
  throw Error(Errc::io, what + ": " + std::strerror(errno));
}

// Opens a regular file and sets `size` to its length.
int open_regular(const std::string& path, int mode, u64& size) {
  const int file = ::open(path.c_str(), mode | O_CLOEXEC);
  if (file < 0) fail_io("cannot open '" + path + "'");
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(file);
    throw Error(Errc::io, "'" + path + "' is not a regular file");
  }
  size = u64(status.st_size);
  return file;
}

ByteView read_file(int file, u64 offset, u64 count, Bytes& storage) {
  storage.resize(size_t(count));
  for (size_t done = 0; done < storage.size();) {
    const ssize_t got =
        ::pread(file, storage.data() + done, storage.size() - done, off_t(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_io("cannot read the stream");
    if (got == 0) fail_corrupt("ends too early");
    done += size_t(got);
  }
  return storage;
}

}  // namespace

// std::atomic would do the same, but its header is as long as all that leeway.hpp needs of strings.
ByteView ByteSource::read(u64 offset, u64 count, Bytes& storage) const {
  if (offset > size() || count > size() - offset) fail_corrupt("ends too early");
  __atomic_fetch_add(&touched_, count, __ATOMIC_RELAXED);
  return get(offset, count, storage);
}
u64 ByteSource::touched() const { return __atomic_load_n(&touched_, __ATOMIC_RELAXED); }

FileSource::FileSource(const std::string& path) : file_(open_regular(path, O_RDONLY, size_)) {}
FileSource::~FileSource() { ::close(file_); }
ByteView FileSource::get(u64 offset, u64 count, Bytes& storage) const {
  return read_file(file_, offset, count, storage);
}

FileStore::FileStore(const std::string& path) : file_(open_regular(path, O_RDWR, size_)) {
  // Some file systems have no locks; there the caller must prevent two writers.
  const bool is_locked = ::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  // Before the lock was ours, somebody may have written more, or given the name to another file.
  struct stat status {
  }, named{};
  if (is_locked || ::fstat(file_, &status) != 0 || ::stat(path.c_str(), &named) != 0 ||
      status.st_dev != named.st_dev || status.st_ino != named.st_ino) {
    ::close(file_);
    throw Error(Errc::io, "'" + path + "' is being written by somebody else");
  }
  size_ = u64(status.st_size);
}
FileStore::~FileStore() { ::close(file_); }
ByteView FileStore::get(u64 offset, u64 count, Bytes& storage) const {
  return read_file(file_, offset, count, storage);
}
void FileStore::write(u64 offset, ByteView bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t put =
        ::pwrite(file_, bytes.data() + done, bytes.size() - done, off_t(offset + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_io("cannot write the stream");
    done += size_t(put);
  }
  size_ = std::max(size_, offset + bytes.size());
}
void FileStore::sync() {
  if (::fdatasync(file_) != 0) fail_io("cannot write the stream");
}
void FileStore::truncate(u64 size) {
  if (::ftruncate(file_, off_t(size)) != 0) fail_io("cannot shorten the stream");
  size_ = size;
}

}  // namespace leeway
