// SPDX-License-Identifier: BSD-3-Clause
// Zstd: general-purpose compression of the encoder's bytes; keeps them as they are if that is no
// larger.
#pragma once

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Zstd {
  static constexpr std::string_view kName = "zstd";
  static constexpr std::string_view kAbout = "Zstandard; bytes that do not shrink are kept";
  static constexpr Kind kKind = Kind::lossless;
  static constexpr Traits kTraits{};
  struct Params {
    i32 level = 1;
    void fields(auto&& field) {
      field("level", level, -50, 22, "compression level; negative is faster");
    }
  } params;

  LEEWAY_EXPORT void compress(ByteView bytes, Writer& out) const;
  LEEWAY_EXPORT void decompress(ByteView bytes, size_t limit, Writer& out) const;
};

}  // namespace leeway
