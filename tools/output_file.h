// SPDX-License-Identifier: BSD-3-Clause
// OutputFile: written under a temporary name and renamed when complete; removed if anything fails.
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <string>

#include "leeway/core/bytes.h"

namespace leeway::cli {

class OutputFile {
 public:
  // "-" is standard output, unless that is a terminal. Refuses to replace a file unless `force`.
  OutputFile(const std::string& path, bool force);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(ByteView bytes);
  // Gives the file this size and maps it for writing, if can_map().
  std::span<std::byte> map(size_t size);
  // To be called now and then: what was written need not stay in memory.
  void let_go();
  // Puts the file in its place.
  void commit();
  // The name it has until then, for others that write it.
  const std::string& temporary() const { return temporary_; }
  // False for standard output, pipes and devices.
  bool can_map() const { return is_regular_; }

 private:
  std::string path_, temporary_;
  bool is_regular_ = false;
  int file_ = -1;
  std::byte* mapped_ = nullptr;
  size_t mapped_bytes_ = 0;
  std::atomic<unsigned> calls_ = 0;
};

}  // namespace leeway::cli
