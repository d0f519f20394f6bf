// SPDX-License-Identifier: BSD-3-Clause
// Write: an array that lies in blocks on all ranks becomes one stream in a file.
//
//   arguments agreed, blocks of all known                 write.cc
//   who makes which chunk                                 plan.h
//   values brought to the owners of their chunks          held_chunks.h
//   the bound of the whole array; frames                  engine/part.h
//   where each frame goes, and who writes it              layout.h
//   the file appears when it is whole                     commit.h
#pragma once

#include <string>

#include "leeway/parallel/held_chunks.h"

namespace leeway::parallel {

// Collective; see leeway_team_write().
leeway_write_report write(const Team& team, const std::string& path, DType dtype,
                          const Shape& shape, std::span<const Block> blocks,
                          const CompressOptions& compress, const leeway_write_options& options);

}  // namespace leeway::parallel
