// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/pending.h"

#include <algorithm>

#include "leeway/leeway.hpp"

namespace leeway::parallel {
namespace {

// Receives an array that is one parcel.
std::unique_ptr<Transfer> start_receive_whole(const Team& team, const MutableView& array, int from,
                                              const Execution& execution) {
  const auto parcel = std::make_shared<Parcel>();
  return std::make_unique<Followed>(start_receive(team, *parcel, from),
                                    [=] { unpack(*parcel, array, execution); });
}

void check(const Team& team, int root, size_t parts, bool has_parts) {
  if (root < 0 || root >= team.size()) fail_argument("there is no rank " + std::to_string(root));
  if (has_parts && parts != size_t(team.size()))
    fail_argument("there are " + std::to_string(team.size()) + " ranks, but " +
                  std::to_string(parts) + " parts");
}

void copy_own(const View& from, const MutableView& to) {
  if (!(from.shape == to.shape) || from.dtype != to.dtype)
    fail_argument("the root's own part has another type or shape than its place");
  copy(from, to);
}

// The parcel of an array for all others; an error goes to them in its place, and is thrown.
Parcel packed_for_all(const Team& team, const View& array, const CompressOptions& options) {
  try {
    return pack(array, options);
  } catch (const std::exception& error) {
    const std::string text = error.what();
    for (int rank = 0; rank < team.size(); ++rank)
      if (rank != team.rank())
        start_send(team, Parcel{Parcel::error, {text.begin(), text.end()}}, rank)->wait();
    throw;
  }
}

}  // namespace

std::unique_ptr<Transfer> start_gather(const Team& team, const View& mine,
                                       std::span<const MutableView> parts, int root,
                                       const CompressOptions& options) {
  check(team, root, parts.size(), team.rank() == root);
  if (team.rank() != root) return start_send(team, mine, root, options);
  copy_own(mine, parts[size_t(root)]);
  auto all = std::make_unique<Transfers>();
  for (int rank = 0; rank < team.size(); ++rank)
    if (rank != root) all->add(start_receive(team, parts[size_t(rank)], rank, options.execution));
  return all;
}

std::unique_ptr<Transfer> start_scatter(const Team& team, std::span<const View> parts,
                                        const MutableView& mine, int root,
                                        const CompressOptions& options) {
  check(team, root, parts.size(), team.rank() == root);
  if (team.rank() != root) return start_receive(team, mine, root, options.execution);
  auto all = std::make_unique<Transfers>();
  std::exception_ptr error;
  for (int rank = 0; rank < team.size(); ++rank)
    if (rank != root) try {
        all->add(start_send(team, parts[size_t(rank)], rank, options));
      } catch (const std::exception&) {
        if (!error) error = std::current_exception();
      }
  if (error) {
    all->wait();
    std::rethrow_exception(error);
  }
  copy_own(parts[size_t(root)], mine);
  return all;
}

std::unique_ptr<Transfer> start_bcast(const Team& team, const MutableView& array, int root,
                                      const CompressOptions& options) {
  check(team, root, 0, false);
  if (team.rank() != root) return start_receive_whole(team, array, root, options.execution);
  const Parcel parcel =
      packed_for_all(team, View(array.data, array.dtype, array.shape, array.strides), options);
  auto all = std::make_unique<Transfers>();
  for (int rank = 0; rank < team.size(); ++rank)
    if (rank != root) all->add(start_send(team, parcel, rank));
  unpack(parcel, array, options.execution);
  return all;
}

std::unique_ptr<Transfer> start_allgather(const Team& team, const View& mine,
                                          std::span<const MutableView> parts,
                                          const CompressOptions& options) {
  check(team, 0, parts.size(), true);
  const Parcel parcel = packed_for_all(team, mine, options);
  auto all = std::make_unique<Transfers>();
  for (int rank = 0; rank < team.size(); ++rank) {
    if (rank == team.rank()) continue;
    all->add(start_send(team, parcel, rank));
    all->add(start_receive_whole(team, parts[size_t(rank)], rank, options.execution));
  }
  unpack(parcel, parts[size_t(team.rank())], options.execution);
  return all;
}

std::unique_ptr<Transfer> start_gather_streams(const Team& team, const View& mine,
                                               std::vector<Bytes>& streams, int root,
                                               const CompressOptions& options) {
  check(team, root, 0, false);
  Parcel own;
  try {
    own = {Parcel::stream, compress(mine, options)};
  } catch (const std::exception& error) {
    const std::string text = error.what();
    if (team.rank() != root)
      start_send(team, Parcel{Parcel::error, {text.begin(), text.end()}}, root)->wait();
    throw;
  }
  if (team.rank() != root) return start_send(team, std::move(own), root);
  const auto parcels = std::make_shared<std::vector<Parcel>>(size_t(team.size()));
  auto all = std::make_unique<Transfers>();
  for (int rank = 0; rank < team.size(); ++rank)
    if (rank != root) all->add(start_receive(team, (*parcels)[size_t(rank)], rank));
  (*parcels)[size_t(root)] = std::move(own);
  return std::make_unique<Followed>(std::move(all), [parcels, &streams] {
    for (Parcel& parcel : *parcels) {
      if (parcel.kind == Parcel::error) unpack(parcel, {}, {});  // throws it
      streams.push_back(std::move(parcel.bytes));
    }
  });
}

}  // namespace leeway::parallel
