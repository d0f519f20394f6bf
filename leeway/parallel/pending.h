// SPDX-License-Identifier: BSD-3-Clause
// Pending: collectives that do not wait. All ranks call each of them, and go on; what they return
// is done when this rank's part is. A rank that cannot begin tells those who wait for it.
#pragma once

#include "leeway/parallel/collectives.h"

namespace leeway::parallel {

// At the root, `parts` are filled; its own part is copied as it is.
std::unique_ptr<Transfer> start_gather(const Team& team, const View& mine,
                                       std::span<const MutableView> parts, int root,
                                       const CompressOptions& options);
std::unique_ptr<Transfer> start_scatter(const Team& team, std::span<const View> parts,
                                        const MutableView& mine, int root,
                                        const CompressOptions& options);
// In the end all ranks have the same bits, the root too: it has them when this returns.
std::unique_ptr<Transfer> start_bcast(const Team& team, const MutableView& array, int root,
                                      const CompressOptions& options);
std::unique_ptr<Transfer> start_allgather(const Team& team, const View& mine,
                                          std::span<const MutableView> parts,
                                          const CompressOptions& options);
// At the root, the streams of all ranks, not decoded; they stay where `streams` is.
std::unique_ptr<Transfer> start_gather_streams(const Team& team, const View& mine,
                                               std::vector<Bytes>& streams, int root,
                                               const CompressOptions& options);
// Contributions are quantized when this returns. The bound is abs or lossless: a range of all would
// have to be waited for.
std::unique_ptr<Transfer> start_reduce(const Team& team, const View& mine,
                                       const MutableView* result, Operation operation, int root,
                                       Route route, const CompressOptions& options);

}  // namespace leeway::parallel
