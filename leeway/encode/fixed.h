// SPDX-License-Identifier: BSD-3-Clause
// Fixed: fixed-length encoding of small blocks [cuSZp2, SC 2024; CereSZ, HPDC 2024] (fixed.md).
//
// A block has a sign for every code and as many bit planes of the magnitudes as the largest needs;
// a block of zeros has only a head. With `outlier`, a block may store its first code, which has no
// neighbour before it, separately if that is smaller. All heads come first, so that the place of
// every block is known from them alone.
#pragma once

#include <bit>

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Fixed {
  static constexpr std::string_view kName = "fixed";
  static constexpr std::string_view kAbout =
      "small blocks as signs and bit planes, as cuSZp2 and CereSZ do";
  static constexpr Kind kKind = Kind::encoder;
  // Chunks of this size stay in the second-level cache.
  static constexpr Traits kTraits{
      .chunk_values = u64(1) << 15, .narrow_codes = true, .unpacked = true};
  struct Params {
    i32 block = 32;
    i32 outlier = 1;
    i32 head = 1;
    void fields(auto&& field) {
      field("block", block, 8, 64, "codes of a block: 8, 16, 32 or 64");
      field("outlier", outlier, 0, 1, "1: the first code of a block may be kept apart");
      field("head", head, 1, 4, "bytes of a block's head: 1 (cuSZp2) or 4 (CereSZ)");
    }
    void check() const {
      if (!std::has_single_bit(u32(block))) fail_argument("fixed: block must be 8, 16, 32 or 64");
      if (head != 1 && head != 4) fail_argument("fixed: head must be 1 or 4");
    }
  } params;

  template <class I>
  LEEWAY_EXPORT std::unique_ptr<CodeSink<I>> sink(size_t count, Writer& out) const;
  template <class I>
  LEEWAY_EXPORT std::unique_ptr<CodeSource<I>> source(Reader& in, size_t count) const;
};

}  // namespace leeway
