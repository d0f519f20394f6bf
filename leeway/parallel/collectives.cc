// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/collectives.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "leeway/leeway.hpp"
#include "leeway/parallel/agreement.h"

namespace leeway::parallel {
namespace {

Bytes wire_of(const Parcel& parcel) {
  Bytes bytes(1 + parcel.bytes.size(), u8(parcel.kind));
  std::ranges::copy(parcel.bytes, bytes.begin() + 1);
  return bytes;
}
Parcel parcel_of(ByteView wire) {
  if (wire.empty() || wire[0] > Parcel::stream) fail_corrupt("a message that is none");
  return {Parcel::Kind(wire[0]), {wire.begin() + 1, wire.end()}};
}

void check_parts(const Team& team, size_t parts) {
  if (parts != size_t(team.size()))
    fail_argument("there are " + std::to_string(team.size()) + " ranks, but " +
                  std::to_string(parts) + " parts");
}
void check_root(const Team& team, int root) {
  if (root < 0 || root >= team.size()) fail_argument("there is no rank " + std::to_string(root));
}

}  // namespace

void bcast(const Team& team, const MutableView& array, int root, const CompressOptions& options) {
  check_root(team, root);
  Bytes wire;
  const View mine(array.data, array.dtype, array.shape, array.strides);
  if (team.rank() == root) wire = wire_of(pack(mine, options));
  team.bcast(wire, root);
  unpack(parcel_of(wire), array, options.execution);
  team.agree();
}

void gather(const Team& team, const View& mine, std::span<const MutableView> parts, int root,
            const CompressOptions& options) {
  check_root(team, root);
  if (team.rank() == root) check_parts(team, parts.size());
  team.agree();
  if (team.rank() != root) {
    start_send(team, mine, root, options)->wait();
    return team.agree();
  }
  Transfers transfers;
  for (int rank = 0; rank < team.size(); ++rank)
    if (rank != root)
      transfers.add(start_receive(team, parts[size_t(rank)], rank, options.execution));
  if (!(mine.shape == parts[size_t(root)].shape) || mine.dtype != parts[size_t(root)].dtype)
    fail_argument("the root's own part has another type or shape than its place");
  copy(mine, parts[size_t(root)]);
  transfers.wait();
  team.agree();
}

std::vector<Bytes> gather_streams(const Team& team, const View& mine, int root,
                                  const CompressOptions& options) {
  check_root(team, root);
  Parcel own{Parcel::stream, compress(mine, options)};
  team.agree();
  std::vector<Bytes> streams;
  if (team.rank() != root) {
    start_send(team, std::move(own), root)->wait();
  } else {
    std::vector<Parcel> parcels(static_cast<size_t>(team.size()));
    Transfers transfers;
    for (int rank = 0; rank < team.size(); ++rank)
      if (rank != root) transfers.add(start_receive(team, parcels[size_t(rank)], rank));
    transfers.wait();
    parcels[size_t(root)] = std::move(own);
    for (Parcel& parcel : parcels) streams.push_back(std::move(parcel.bytes));
  }
  team.agree();
  return streams;
}

void scatter(const Team& team, std::span<const View> parts, const MutableView& mine, int root,
             const CompressOptions& options) {
  check_root(team, root);
  if (team.rank() == root) {
    check_parts(team, parts.size());
    const View& own = parts[size_t(root)];
    if (!(own.shape == mine.shape) || own.dtype != mine.dtype)
      fail_argument("the root's own part has another type or shape than its place");
  }
  team.agree();
  if (team.rank() != root) {
    start_receive(team, mine, root, options.execution)->wait();
  } else {
    Transfers transfers;
    std::exception_ptr error;
    for (int rank = 0; rank < team.size(); ++rank)
      if (rank != root) try {
          transfers.add(start_send(team, parts[size_t(rank)], rank, options));
        } catch (const std::exception&) {
          if (!error) error = std::current_exception();
        }
    transfers.wait();
    if (error) std::rethrow_exception(error);
    copy(parts[size_t(root)], mine);
  }
  team.agree();
}

void allgather(const Team& team, const View& mine, std::span<const MutableView> parts,
               const CompressOptions& options) {
  check_parts(team, parts.size());
  const std::vector<Bytes> wires = team.allgather(wire_of(pack(mine, options)));
  for (size_t rank = 0; rank < wires.size(); ++rank)
    unpack(parcel_of(wires[rank]), parts[rank], options.execution);
  team.agree();
}

}  // namespace leeway::parallel
