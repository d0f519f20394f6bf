// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stream/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace leeway {

FileSource::FileSource(const std::string& path)
    : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat status {};
  if (file_ < 0 || ::fstat(file_, &status) != 0) {
    const std::string reason = std::strerror(errno);
    if (file_ >= 0) ::close(file_);
    throw Error(Errc::io, "cannot open '" + path + "': " + reason);
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(file_);
    throw Error(Errc::io, "'" + path + "' is not a regular file");
  }
  size_ = u64(status.st_size);
}

FileSource::~FileSource() { ::close(file_); }

ByteView FileSource::get(u64 offset, u64 count, Bytes& storage) const {
  storage.resize(size_t(count));
  for (size_t done = 0; done < storage.size();) {
    const ssize_t got =
        ::pread(file_, storage.data() + done, storage.size() - done, off_t(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw Error(Errc::io, std::string("cannot read the stream: ") + std::strerror(errno));
    if (got == 0) fail_corrupt("ends too early");
    done += size_t(got);
  }
  return storage;
}

}  // namespace leeway
