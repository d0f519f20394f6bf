// SPDX-License-Identifier: BSD-3-Clause
// Huffman: canonical code over tokens, at most 12 bits long, four interleaved bit streams
// (huffman.md).
//
// Each stream holds a contiguous quarter of the tokens; four independent chains keep the processor
// busy. One table look-up of 12 bits gives up to two tokens.
#pragma once

#include "leeway/core/export.h"
#include "leeway/core/stage.h"

namespace leeway {

struct Huffman {
  static constexpr std::string_view kName = "huffman";
  static constexpr std::string_view kAbout =
      "canonical Huffman code, four streams; ignores contexts";
  static constexpr Kind kKind = Kind::encoder;
  NoParams params;

  LEEWAY_EXPORT void encode(std::span<const i32> codes, std::span<const u8> contexts,
                            Writer& out) const;
  LEEWAY_EXPORT void encode(std::span<const i64> codes, std::span<const u8> contexts,
                            Writer& out) const;
  LEEWAY_EXPORT void decode(Reader& in, std::span<i32> codes) const;
  LEEWAY_EXPORT void decode(Reader& in, std::span<i64> codes) const;
};

}  // namespace leeway
