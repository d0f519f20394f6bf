// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/held_chunks.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "leeway/engine/analyze.h"
#include "leeway/engine/fills.h"

namespace leeway::parallel {

std::vector<Held> all_blocks(const Team& team, std::span<const Block> blocks) {
  Writer mine;
  for (const Block& block : blocks) {
    mine.put(u64(block.view.shape.rank()));
    for (size_t axis = 0; axis < block.view.shape.rank(); ++axis) {
      mine.put(block.first[axis]);
      mine.put(block.view.shape[axis]);
    }
  }
  const std::vector<Bytes> all = team.allgather(mine.bytes());
  std::vector<Held> held;
  for (int rank = 0; rank < team.size(); ++rank) {
    Reader in(all[size_t(rank)]);
    for (u32 index = 0; in.remaining() > 0; ++index) {
      Held block{rank, index, {}};
      std::array<u64, kMaxRank> extents{};
      const u64 axes = in.get<u64>();
      for (size_t axis = 0; axis < axes; ++axis) {
        block.box.first[axis] = in.get<u64>();
        extents[axis] = in.get<u64>();
      }
      block.box.shape = Shape(std::span<const u64>(extents).first(size_t(axes)));
      held.push_back(block);
    }
  }
  return held;
}

// What this rank sends to each other one, and gets from it: pieces of chunks in the order of the
// plan.
struct HeldChunks::Parcels {
  std::map<int, Bytes> outgoing, incoming;
};

View HeldChunks::in_block(const Piece& piece, const Box& chunk) const {
  const Held& held = plan_.held[piece.held];
  Box box = intersection(held.box, chunk);
  for (size_t axis = 0; axis < chunk.shape.rank(); ++axis) box.first[axis] -= held.box.first[axis];
  return blocks_[held.index].view.part(box);
}

HeldChunks::HeldChunks(const Team& team, const Header& header, const Plan& plan,
                       std::span<const Block> blocks, const CompressOptions& options)
    : team_(team), header_(header), plan_(plan), blocks_(blocks), options_(options) {
  for (u64 ordinal = 0; ordinal < plan.owner.size(); ++ordinal)
    if (holds(ordinal)) ordinals_.push_back(ordinal);
  declared_ = declared_fills(options, header.dtype);
  Parcels parcels = pack();
  std::vector<Team::Outgoing> outgoing;
  std::vector<Team::Incoming> incoming;
  for (const auto& [rank, bytes] : parcels.outgoing) {
    outgoing.push_back({rank, bytes});
    sent_bytes_ += bytes.size();
  }
  for (auto& [rank, bytes] : parcels.incoming) incoming.push_back({rank, std::span(bytes)});
  team.exchange(outgoing, incoming,
                [&] { own_ = summary_of(blocks_, header_.dtype, declared_, options_.execution); });
  bring_together(parcels);
}

HeldChunks::Parcels HeldChunks::pack() const {
  Parcels parcels;
  const size_t bytes = size_of(header_.dtype);
  for (const Piece& piece : plan_.pieces) {
    const int from = plan_.held[piece.held].rank, to = plan_.owner[size_t(piece.ordinal)];
    if (from == to || (from != team_.rank() && to != team_.rank())) continue;
    Bytes& parcel = from == team_.rank() ? parcels.outgoing[to] : parcels.incoming[from];
    const size_t start = parcel.size();
    parcel.resize(start + size_t(piece.values) * bytes);
    if (from == team_.rank())
      gather(in_block(piece, header_.chunk_box(piece.ordinal)), parcel.data() + start);
  }
  return parcels;
}

void HeldChunks::bring_together(const Parcels& parcels) {
  std::map<int, size_t> read;  // bytes of each parcel
  const size_t bytes = size_of(header_.dtype);
  for (const u64 ordinal : ordinals_) {
    const auto pieces = plan_.pieces_of(ordinal);
    if (pieces.size() == 1 && plan_.held[pieces[0].held].rank == team_.rank()) continue;
    const Box box = header_.chunk_box(ordinal);
    Buffer<u64>& values = assembled_[ordinal] =
        Buffer<u64>(size_t(box.shape.size() * bytes + 7) / 8);
    const MutableView chunk(reinterpret_cast<std::byte*>(values.data()), header_.dtype, box.shape);
    for (const Piece& piece : pieces) {
      const Held& held = plan_.held[piece.held];
      Box inside = intersection(held.box, box);
      for (size_t axis = 0; axis < box.shape.rank(); ++axis) inside.first[axis] -= box.first[axis];
      if (held.rank == team_.rank()) {
        copy(in_block(piece, box), chunk.part(inside));
      } else {
        size_t& at = read[held.rank];
        copy(View(reinterpret_cast<const std::byte*>(parcels.incoming.at(held.rank).data() + at),
                  header_.dtype, inside.shape),
             chunk.part(inside));
        at += size_t(piece.values) * bytes;
      }
    }
  }
}

View HeldChunks::chunk(u64 ordinal) const {
  const Box box = header_.chunk_box(ordinal);
  const auto found = assembled_.find(ordinal);
  if (found == assembled_.end()) return in_block(plan_.pieces_of(ordinal)[0], box);
  return {reinterpret_cast<const std::byte*>(found->second.data()), header_.dtype, box.shape};
}

Summary HeldChunks::summary(const std::vector<u64>&) const {
  return summary_of_all(team_, own_, header_.dtype);
}

Summary summary_of(std::span<const Block> blocks, DType dtype, const std::vector<u64>& declared,
                   const Execution& execution) {
  Summary all;
  for (const Block& block : blocks)
    all = merged(all,
                 summarize(block.view, declared, std::max(1u, execution.threads),
                           execution.executor, execution.pause),
                 dtype);
  return all;
}

Summary summary_of_all(const Team& team, const Summary& own, DType dtype) {
  Summary all;
  for (const Bytes& one : team.allgather({reinterpret_cast<const u8*>(&own), sizeof own})) {
    Summary summary;
    std::memcpy(&summary, one.data(), sizeof summary);
    all = merged(all, summary, dtype);
  }
  return all;
}

}  // namespace leeway::parallel
