// SPDX-License-Identifier: BSD-3-Clause
// Commit: a file that many ranks write appears under its name when all of it is there, or not at
// all. Until then it has a name of its own beside the target; whatever happens, the target is the
// whole old file, the whole new one, or none.
#pragma once

#include <string>
#include <vector>

#include "leeway/parallel/layout.h"

namespace leeway::parallel {

// Throws unless the file holds these bytes.
void compare(const TeamFile& file, u64 offset, ByteView bytes);

// Writes the runs of this rank into a file that is there, waits for the disk unless the options say
// otherwise, and reads back as much as they say.
void write_runs(const Team& team, const std::string& path, const std::vector<Layout::Run>& runs,
                const leeway_write_options& options);

class Commit {
 public:
  // Collective: rank 0 makes the file.
  Commit(const Team& team, const std::string& path, const leeway_write_options& options);
  // Removes the file unless it is in its place.
  ~Commit();
  Commit(const Commit&) = delete;
  Commit& operator=(const Commit&) = delete;

  // Collective: each writes its runs, makes sure that they are there, and agrees with the others.
  void write(const std::vector<Layout::Run>& runs);
  // Collective: rank 0 writes the tail, and gives the file its name.
  void finish(u64 offset, ByteView tail);
  // The name that the file has until then.
  const std::string& temporary() const { return temporary_; }

 private:
  void create();
  void give_name();

  const Team& team_;
  const leeway_write_options& options_;
  std::string path_, temporary_;
  bool is_made_ = false;  // by this rank, and not yet in its place
};

}  // namespace leeway::parallel
