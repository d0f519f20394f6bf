// SPDX-License-Identifier: BSD-3-Clause
// Read: every rank gets boxes of the array in a file.
#pragma once

#include <string>
#include <vector>

#include "leeway/engine/engine.h"
#include "leeway/parallel/team.h"

namespace leeway::parallel {

// A box that begins at `first` and goes into memory of any strides.
struct Wish {
  Index first{};
  MutableView view;
};

// Collective; see leeway_team_read(). Returns what salvage has left out on this rank.
DecompressReport read(const Team& team, const std::string& path, std::span<const Wish> wishes,
                      const DecompressOptions& options);

}  // namespace leeway::parallel
