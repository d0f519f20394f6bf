// SPDX-License-Identifier: BSD-3-Clause
// Collectives: arrays that go from one rank to all, from all to one, or through an operation to
// all, compressed on the way. Every array is compressed once and decoded once, whatever its way;
// where all ranks get the same array, they get the same bits. What is lost in total: GUARANTEES.md.
#pragma once

#include <vector>

#include "leeway/parallel/lattice.h"
#include "leeway/parallel/transfer.h"

namespace leeway::parallel {

// All ranks call each of these; parts are those of the ranks in their order.

void bcast(const Team& team, const MutableView& array, int root, const CompressOptions& options);
// At the root, `parts` are filled; its own part is copied as it is.
void gather(const Team& team, const View& mine, std::span<const MutableView> parts, int root,
            const CompressOptions& options);
// At the root, the streams of all ranks, not decoded.
std::vector<Bytes> gather_streams(const Team& team, const View& mine, int root,
                                  const CompressOptions& options);
void scatter(const Team& team, std::span<const View> parts, const MutableView& mine, int root,
             const CompressOptions& options);
void allgather(const Team& team, const View& mine, std::span<const MutableView> parts,
               const CompressOptions& options);

// How partial results travel; the result has the same bits for each.
enum class Route : u8 { automatic = 0, tree = 1, ring = 2, doubling = 3 };

// The bound is that of the result: abs, or rel of the range of all contributions. All ranks get the
// result, or the root alone if there is one.
void reduce(const Team& team, const View& mine, const MutableView* result, Operation operation,
            int root, Route route, const CompressOptions& options);
inline constexpr int kAll = -1;  // as a root

}  // namespace leeway::parallel
