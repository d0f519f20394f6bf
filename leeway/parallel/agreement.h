// SPDX-License-Identifier: BSD-3-Clause
// Agreement: what all ranks must have said alike. Ranks that disagree are told on what, before
// anything else is done: an error on all, instead of a wrong file or a wait without end.
#pragma once

#include <string>
#include <vector>

#include "leeway/engine/engine.h"
#include "leeway/parallel/team.h"

namespace leeway::parallel {

class Agreement {
 public:
  void add(const char* what, u64 value);
  void add(const char* what, ByteView bytes);
  // Collective: throws if the ranks do not agree.
  void reach(const Team& team) const;

 private:
  std::vector<const char*> names_;
  std::vector<u64> values_;
};

// Everything of the settings that the stream depends on, and the library itself.
void add_settings(Agreement& agreement, const CompressOptions& options);

// Collective: throws unless all ranks mean the same file and array, and ask for the same.
void agree_on_array(const Team& team, const std::string& path, DType dtype, const Shape& shape,
                    const CompressOptions& compress, const leeway_write_options& options);

}  // namespace leeway::parallel
