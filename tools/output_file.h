// SPDX-License-Identifier: BSD-3-Clause
// OutputFile: written under a temporary name and given its own when complete; removed if anything
// fails. At every moment its name leads to the complete old file, the complete new one, or none.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "leeway/base/bytes.h"
#include "tools/signals.h"

namespace leeway::cli {

class OutputFile {
 public:
  // "-" is standard output, unless that is a terminal. Refuses to replace a file unless `force`,
  // also one that appears while this one is written. A file that is replaced passes on its mode
  // and, as far as permitted, its owner; of a symbolic link, the target is written.
  OutputFile(const std::string& path, bool force);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(ByteView bytes);
  // Gives the file this size and maps it for writing, if can_map().
  std::span<std::byte> map(size_t size);
  // To be called now and then: what was written need not stay in memory.
  void let_go();
  // Puts the file in its place, when all of it is on the disk.
  void commit();
  // The name it has until then, for others that write it.
  const std::string& temporary() const { return temporary_; }
  // False for standard output, pipes and devices.
  bool can_map() const { return is_regular_; }

 private:
  std::string create();
  void pass_on_mode();
  void give_name();
  [[noreturn]] void fail() const;

  std::string path_;    // as it was given
  std::string target_;  // after all symbolic links
  std::string temporary_;
  bool force_, is_regular_ = false;
  std::optional<struct stat> replaced_;
  int file_ = -1;
  std::optional<Unfinished> unfinished_;
  std::byte* mapped_ = nullptr;
  size_t mapped_bytes_ = 0;
  std::optional<Mapped> noted_;
};

// The same for a library that writes the file itself, by its temporary name.
class Replacement {
 public:
  Replacement(const std::string& path, bool force) : out_(path, force) {
    if (!out_.can_map()) fail_argument("'" + path + "' cannot hold an HDF5 file");
  }
  const std::string& temporary() const { return out_.temporary(); }
  void commit() { out_.commit(); }

 private:
  OutputFile out_;
};

}  // namespace leeway::cli
