// SPDX-License-Identifier: BSD-3-Clause
// Pack: blocks of 256 codes in as many bits each as the block needs, packed by whole vectors
// (pack.md).
//
// Sixteen lanes of 16 bits side by side: lane l holds the codes l, l + 16, ... of the block,
// so that packing is a shift and an "or" of whole vectors [Lemire and Boytsov, "Decoding billions
// of integers per second through vectorization", 2015]. A few codes that are larger than the others
// lose their high bits, which are stored as patches, as in PFOR [Zukowski et al., 2006].
#pragma once

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Pack {
  static constexpr std::string_view kName = "pack";
  static constexpr std::string_view kAbout =
      "blocks of 256 codes at a common width, the few larger ones patched; the fastest";
  static constexpr Kind kKind = Kind::encoder;
  // Chunks of this size stay in the second-level cache.
  static constexpr Traits kTraits{
      .chunk_values = u64(1) << 15, .narrow_codes = true, .unpacked = true};
  NoParams params;

  template <class I>
  LEEWAY_EXPORT std::unique_ptr<CodeSink<I>> sink(size_t count, Writer& out) const;
  template <class I>
  LEEWAY_EXPORT std::unique_ptr<CodeSource<I>> source(Reader& in, size_t count) const;
};

}  // namespace leeway
