// SPDX-License-Identifier: BSD-3-Clause
// Raw: codes in blocks, without the zero bits that all codes of a block end with, in the fewest
// whole bytes (raw.md). The encoder of recipes that name none.
#pragma once

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Raw {
  static constexpr std::string_view kName = "raw";
  static constexpr std::string_view kAbout = "codes unpacked, as integers of 1 to 8 bytes";
  static constexpr Kind kKind = Kind::encoder;
  // Chunks of this size stay in the second-level cache.
  static constexpr Traits kTraits{.chunk_values = u64(1) << 15};
  NoParams params;

  template <class I>
  LEEWAY_EXPORT std::unique_ptr<CodeSink<I>> sink(size_t count, Writer& out) const;
  template <class I>
  LEEWAY_EXPORT std::unique_ptr<CodeSource<I>> source(Reader& in, size_t count) const;
};

}  // namespace leeway
