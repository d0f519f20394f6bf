// SPDX-License-Identifier: BSD-3-Clause
// Team file: a file that a rank has open for itself, through the operating system or through the
// functions of its team. Every call says whether it has done all that was asked.
#pragma once

#include <string>

#include "leeway/parallel/team.h"
#include "leeway/stream/source.h"

namespace leeway::parallel {

class TeamFile {
 public:
  TeamFile(const Team& team, const std::string& path, bool writing);
  ~TeamFile();
  TeamFile(const TeamFile&) = delete;
  TeamFile& operator=(const TeamFile&) = delete;

  void write(u64 offset, ByteView bytes);
  void read(u64 offset, std::span<u8> bytes) const;
  void sync();
  void close();  // and say if that fails

 private:
  [[noreturn]] void fail(const char* what) const;
  bool is_own() const { return team_.file_open != nullptr; }

  const leeway_team& team_;
  std::string path_;
  void* handle_ = nullptr;  // of the team
  int file_ = -1;           // of the operating system
};

// A stream in a file of which the beginning and the end are known.
class TeamSource final : public ByteSource {
 public:
  // Collective: rank 0 reads both ends for all.
  TeamSource(const Team& team, const std::string& path);
  u64 size() const override { return size_; }

 private:
  ByteView get(u64 offset, u64 count, Bytes& storage) const override;
  TeamFile file_;
  u64 size_ = 0;
  Bytes begin_, end_;
};

}  // namespace leeway::parallel
