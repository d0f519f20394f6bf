// SPDX-License-Identifier: BSD-3-Clause
#include "tools/output_file.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace leeway::cli {
namespace {

// Where a file of this name is written: the end of a chain of symbolic links.
std::string followed(const std::string& path) {
  constexpr int kMostLinks = 40;  // as in the kernel
  std::filesystem::path at = path;
  for (int links = 0; std::filesystem::is_symlink(at); ++links) {
    if (links == kMostLinks)
      throw Error(Errc::io, "cannot write '" + path + "': " + std::strerror(ELOOP));
    at = at.parent_path() / std::filesystem::read_symlink(at);
  }
  return at.string();
}

// A name without replacing what has it. Not every file system knows how to do that at once; the
// kernel is asked because older C libraries have no function for it.
bool rename_unless_there(const char* from, const char* to) {
  if (::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  return ::link(from, to) == 0 && ::unlink(from) == 0;
}

// The name of a new file is on the disk when its folder is. Some file systems cannot be asked.
void flush_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int file =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

}  // namespace

void OutputFile::fail() const {
  throw Error(Errc::io, "cannot write '" + path_ + "': " + std::strerror(errno));
}

OutputFile::OutputFile(const std::string& path, bool force) : path_(path), force_(force) {
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
      if (file_ < 0) fail();
      return;
    }
    if (!force) throw Error(Errc::io, "'" + path + "' exists; --force replaces it");
    replaced_ = status;
  }
  target_ = followed(path);
  unfinished_.emplace([this] { return create(); });
  is_regular_ = true;
}

// A process that was killed may have left a file of this name.
std::string OutputFile::create() {
  const std::string stem = target_ + ".tmp" + std::to_string(::getpid());
  temporary_ = stem;
  const auto open = [this] {
    // A file that will replace a private one must be private from the start.
    return ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                  replaced_ ? 0600 : 0666);
  };
  for (int n = 1; (file_ = open()) < 0; ++n) {
    if (errno != EEXIST) fail();
    temporary_ = stem + "." + std::to_string(n);
  }
  return temporary_;
}

OutputFile::~OutputFile() {
  if (mapped_) ::munmap(mapped_, mapped_bytes_);
  if (file_ >= 0 && file_ != STDOUT_FILENO) ::close(file_);
  if (is_regular_ && !temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(file_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail();
    bytes = bytes.subspan(size_t(done));
  }
}

std::span<std::byte> OutputFile::map(size_t size) {
  // Reserve the space now: a full disk must be an error, not a signal later.
  if (size > 0) {
    if (const int error = ::posix_fallocate(file_, 0, off_t(size)); error != 0) {
      errno = error;
      fail();
    }
    void* mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (mapped == MAP_FAILED) fail();
    mapped_ = static_cast<std::byte*>(mapped);
    mapped_bytes_ = size;
    noted_.emplace(path_, mapped, size);
  }
  return {mapped_, size};
}

void OutputFile::let_go() {
  if (noted_) noted_->let_go();
}

void OutputFile::pass_on_mode() {
  // The owner first: changing it clears some bits of the mode.
  const bool is_ours = ::fchown(file_, replaced_->st_uid, replaced_->st_gid) == 0;
  const bool is_our_group = is_ours || ::fchown(file_, uid_t(-1), replaced_->st_gid) == 0;
  const mode_t kept = is_ours ? 07777 : is_our_group ? 0777 : 0707;  // nothing for another group
  if (::fchmod(file_, replaced_->st_mode & kept) != 0) fail();
}

void OutputFile::give_name() {
  if (force_) {
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail();
  } else if (!rename_unless_there(temporary_.c_str(), target_.c_str())) {
    if (errno != EEXIST) fail();
    throw Error(Errc::io, "'" + path_ + "' exists; --force replaces it");
  }
  temporary_.clear();
}

void OutputFile::commit() {
  if (!can_map()) return;
  if (mapped_) ::munmap(mapped_, mapped_bytes_);
  mapped_ = nullptr;
  noted_.reset();
  if (replaced_) pass_on_mode();
  if (::fsync(file_) != 0 && errno != EINVAL && errno != ENOSYS) fail();
  if (::close(std::exchange(file_, -1)) != 0) fail();
  give_name();
  unfinished_.reset();
  flush_folder_of(target_);
}

}  // namespace leeway::cli
