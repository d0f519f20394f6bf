// SPDX-License-Identifier: BSD-3-Clause
// Append: rows that lie in blocks on all ranks go behind a growing stream. Frames and a new tail
// are put behind the old tail; its last bytes are written when all else is on the disk. So readers
// find the rows of the last append that was finished, whatever happens during the next one.
#pragma once

#include "leeway/parallel/write.h"

namespace leeway::parallel {

// Collective; see leeway_team_append(). `shape` is that of the rows. The settings count if there is
// no file yet.
leeway_write_report append(const Team& team, const std::string& path, DType dtype,
                           const Shape& shape, std::span<const Block> blocks,
                           const CompressOptions& compress, const leeway_write_options& options);

// A team of one, for a process that works alone.
leeway_team team_of_one();

}  // namespace leeway::parallel
