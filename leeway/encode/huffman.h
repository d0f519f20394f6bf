// SPDX-License-Identifier: BSD-3-Clause
// Huffman: canonical code over tokens, at most 12 bits long, four interleaved bit streams
// (huffman.md).
//
// Each stream holds a contiguous quarter of the tokens; four independent chains keep the processor
// busy. One table look-up of 12 bits gives up to two tokens.
#pragma once

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Huffman {
  static constexpr std::string_view kName = "huffman";
  static constexpr std::string_view kAbout =
      "canonical Huffman code, four streams; ignores contexts";
  static constexpr Kind kKind = Kind::encoder;
  static constexpr Traits kTraits{.narrow_codes = true};
  NoParams params;

  template <class I>
  LEEWAY_EXPORT std::unique_ptr<CodeSink<I>> sink(size_t count, Writer& out) const;
  template <class I>
  LEEWAY_EXPORT std::unique_ptr<CodeSource<I>> source(Reader& in, size_t count) const;
};

}  // namespace leeway
