// SPDX-License-Identifier: BSD-3-Clause
// Rans: entropy coding with a table of frequencies per context, interleaved states (rans.md).
//
// Asymmetric numeral systems in the range form [Duda, 2013]: value i of a segment belongs to state
// i mod 32 (or 8), so that vectors of up to sixteen states are decoded at a time. The predictor may
// say what it expects of a value, as a context of one byte; contexts that are alike share a table.
#pragma once

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Rans {
  static constexpr std::string_view kName = "rans";
  static constexpr std::string_view kAbout = "interleaved rANS, a table of frequencies per context";
  static constexpr Kind kKind = Kind::encoder;
  // Larger than the default, because every chunk has tables for its contexts.
  static constexpr Traits kTraits{.chunk_values = u64(1) << 20};
  NoParams params;

  template <class I>
  LEEWAY_EXPORT std::unique_ptr<CodeSink<I>> sink(size_t count, Writer& out) const;
  template <class I>
  LEEWAY_EXPORT std::unique_ptr<CodeSource<I>> source(Reader& in, size_t count) const;
};

}  // namespace leeway
