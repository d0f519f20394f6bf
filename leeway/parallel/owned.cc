// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/owned.h"

namespace leeway::parallel {
namespace {

// The part of a frame's head that the tail states.
struct Stated {
  u64 decoded_hash;
  double max_error;
  u32 special, exact, payload_bytes, unused = 0;
};

}  // namespace

std::vector<FrameHead> heads_at_rank_0(const Team& team, const Plan& plan,
                                       std::span<const FrameHead> own) {
  std::vector<Stated> mine;
  for (const FrameHead& head : own)
    mine.push_back(
        {head.decoded_hash, head.max_error, head.special, head.exact, head.payload_bytes});
  std::vector<FrameHead> heads;
  for (const Stated& stated : at_rank_0(team, plan, std::span<const Stated>(mine))) {
    FrameHead head;
    head.ordinal = heads.size();
    head.payload_bytes = stated.payload_bytes;
    head.special = stated.special;
    head.exact = stated.exact;
    head.max_error = stated.max_error;
    head.decoded_hash = stated.decoded_hash;
    heads.push_back(head);
  }
  return heads;
}

}  // namespace leeway::parallel
