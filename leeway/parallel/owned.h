// SPDX-License-Identifier: BSD-3-Clause
// Owned: what each rank knows of the chunks that it owns, brought to rank 0 in the order of the
// chunks.
#pragma once

#include <vector>

#include "leeway/base/hash.h"
#include "leeway/parallel/plan.h"
#include "leeway/parallel/team.h"

namespace leeway::parallel {

// Collective. `own` has one for each chunk of this rank, by ordinal; rank 0 gets those of all.
template <class T>
std::vector<T> at_rank_0(const Team& team, const Plan& plan, std::span<const T> own) {
  std::vector<u64> counts(size_t(team.size()), 0);
  for (const int owner : plan.owner) ++counts[size_t(owner)];
  std::vector<Bytes> all(counts.size());
  std::vector<Team::Incoming> incoming;
  std::vector<Team::Outgoing> outgoing;
  for (int rank = 1; team.rank() == 0 && rank < team.size(); ++rank) {
    all[size_t(rank)].resize(size_t(counts[size_t(rank)]) * sizeof(T));
    if (counts[size_t(rank)] > 0) incoming.push_back({rank, std::span(all[size_t(rank)])});
  }
  if (team.rank() > 0 && !own.empty()) outgoing.push_back({0, bytes_of(own)});
  team.exchange(outgoing, incoming, [] {});
  std::vector<T> result;
  if (team.rank() > 0) return result;
  std::vector<Reader> readers{Reader(bytes_of(own))};
  for (size_t rank = 1; rank < all.size(); ++rank) readers.emplace_back(ByteView(all[rank]));
  for (const int owner : plan.owner) result.push_back(readers[size_t(owner)].template get<T>());
  return result;
}

// Collective: the heads of all frames, as far as a tail states them; at rank 0 only. `own` is by
// ordinal.
std::vector<FrameHead> heads_at_rank_0(const Team& team, const Plan& plan,
                                       std::span<const FrameHead> own);

}  // namespace leeway::parallel
