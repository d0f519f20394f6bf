// SPDX-License-Identifier: BSD-3-Clause
// Held chunks: the chunks that a rank owns, whole. Where a chunk lies in one block of the rank, it
// stays there; otherwise its pieces are brought together, from this rank and from others.
#pragma once

#include <unordered_map>
#include <vector>

#include "leeway/base/buffer.h"
#include "leeway/engine/part.h"
#include "leeway/parallel/plan.h"
#include "leeway/parallel/team.h"

namespace leeway::parallel {

// A part of an array in this rank's memory.
struct Block {
  Index first{};
  View view;
  Box box() const { return {first, view.shape}; }
};

// All ranks' blocks; collective.
std::vector<Held> all_blocks(const Team& team, std::span<const Block> blocks);

// The summary of all values of a rank's blocks, and of those of all ranks; the latter is
// collective.
Summary summary_of(std::span<const Block> blocks, DType dtype, const std::vector<u64>& declared,
                   const Execution& execution);
Summary summary_of_all(const Team& team, const Summary& own, DType dtype);

class HeldChunks final : public Part {
 public:
  // Collective. Values that others have are on their way while this rank looks at its own.
  HeldChunks(const Team& team, const Header& header, const Plan& plan,
             std::span<const Block> blocks, const CompressOptions& options);

  std::vector<u64> held() const override { return ordinals_; }
  bool holds(u64 ordinal) const override { return plan_.owner[size_t(ordinal)] == team_.rank(); }
  View chunk(u64 ordinal) const override;
  Summary summary(const std::vector<u64>& declared) const override;
  void sum(std::span<u64> numbers) const override { team_.sum(numbers); }

  u64 sent_bytes() const { return sent_bytes_; }  // by this rank

 private:
  struct Parcels;
  Parcels pack() const;
  void bring_together(const Parcels& parcels);
  View in_block(const Piece& piece, const Box& chunk) const;

  const Team& team_;
  const Header& header_;
  const Plan& plan_;
  std::span<const Block> blocks_;
  const CompressOptions& options_;
  std::vector<u64> ordinals_;
  std::unordered_map<u64, Buffer<u64>> assembled_;
  Summary own_;
  std::vector<u64> declared_;
  u64 sent_bytes_ = 0;
};

}  // namespace leeway::parallel
