// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "leeway/stream/format.h"

namespace leeway::parallel {
namespace {

// Linux moves at most 0x7ffff000 bytes a call; errors of fewer are known sooner.
constexpr size_t kMostAtOnce = size_t(1) << 30;

// Calls f(offset, begin, count) for pieces of a call.
template <class F>
void in_pieces(u64 offset, size_t bytes, F&& f) {
  for (size_t done = 0; done < bytes; done += std::min(kMostAtOnce, bytes - done))
    f(offset + done, done, std::min(kMostAtOnce, bytes - done));
}

}  // namespace

TeamFile::TeamFile(const Team& team, const std::string& path, bool writing)
    : team_(team.table()), path_(path) {
  if (is_own()) {
    if (team_.file_open(team_.self, path.c_str(), writing, &handle_) != 0) fail("open");
    return;
  }
  file_ = ::open(path.c_str(), (writing ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (file_ < 0) fail("open");
}

TeamFile::~TeamFile() {
  try {
    close();
  } catch (const Error&) {  // whoever cares has closed it
  }
}

void TeamFile::fail(const char* what) const {
  std::string message = "cannot " + std::string(what) + " '" + path_ + "'";
  if (!is_own()) message += std::string(": ") + std::strerror(errno);
  throw Error(Errc::io, message);
}

void TeamFile::write(u64 offset, ByteView bytes) {
  in_pieces(offset, bytes.size(), [&](u64 at, size_t begin, size_t count) {
    const u8* data = bytes.data() + begin;
    if (is_own()) {
      if (team_.file_write(team_.self, handle_, at, data, count) != 0) fail("write");
      return;
    }
    for (size_t done = 0; done < count;) {
      const ssize_t put = ::pwrite(file_, data + done, count - done, off_t(at + done));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) fail("write");
      done += size_t(put);
    }
  });
}

void TeamFile::read(u64 offset, std::span<u8> bytes) const {
  in_pieces(offset, bytes.size(), [&](u64 at, size_t begin, size_t count) {
    u8* data = bytes.data() + begin;
    if (is_own()) {
      if (team_.file_read(team_.self, handle_, at, data, count) != 0) fail("read");
      return;
    }
    for (size_t done = 0; done < count;) {
      const ssize_t got = ::pread(file_, data + done, count - done, off_t(at + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("read");
      if (got == 0) throw Error(Errc::io, "'" + path_ + "' is shorter than it should be");
      done += size_t(got);
    }
  });
}

void TeamFile::sync() {
  if (is_own() ? team_.file_sync(team_.self, handle_) != 0 : ::fsync(file_) != 0) fail("write");
}

void TeamFile::close() {
  if (void* handle = std::exchange(handle_, nullptr);
      handle && team_.file_close(team_.self, handle) != 0)
    fail("close");
  if (const int file = std::exchange(file_, -1); file >= 0 && ::close(file) != 0) fail("close");
}

TeamSource::TeamSource(const Team& team, const std::string& path) : file_(team, path, false) {
  if (team.rank() == 0) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
      throw Error(Errc::io, "'" + path + "' is not a regular file");
    size_ = u64(status.st_size);
    begin_.resize(size_t(std::min<u64>(size_, kPreambleBytes)));
    file_.read(0, begin_);
    // What is no stream is found out by all, from the same bytes.
    u64 first = begin_.size(), last = 0;
    try {
      first = std::min(size_, header_bytes(begin_));
      Bytes end(size_t(std::min<u64>(size_, kTailEndBytes)));
      file_.read(size_ - end.size(), end);
      last = std::min(size_, tail_bytes(end));
    } catch (const Error& error) {
      if (error.code() == Errc::io) throw;
    }
    begin_.resize(size_t(first));
    file_.read(0, begin_);
    end_.resize(size_t(last));
    file_.read(size_ - last, end_);
  }
  team.bcast({reinterpret_cast<u8*>(&size_), sizeof size_}, 0);
  team.bcast(begin_, 0);
  team.bcast(end_, 0);
}

ByteView TeamSource::get(u64 offset, u64 count, Bytes& storage) const {
  if (offset + count <= begin_.size())
    return ByteView(begin_).subspan(size_t(offset), size_t(count));
  if (offset >= size_ - end_.size())
    return ByteView(end_).subspan(size_t(offset - (size_ - end_.size())), size_t(count));
  storage.resize(size_t(count));
  file_.read(offset, storage);
  return storage;
}

}  // namespace leeway::parallel
