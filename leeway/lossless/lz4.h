// SPDX-License-Identifier: BSD-3-Clause
// Lz4: compresses less than zstd, but decompresses faster.
#pragma once

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Lz4 {
  static constexpr std::string_view kName = "lz4";
  static constexpr std::string_view kAbout = "LZ4; bytes that do not shrink are kept";
  static constexpr Kind kKind = Kind::lossless;
  static constexpr Traits kTraits{};
  struct Params {
    i32 level = 1;
    void fields(auto&& field) {
      field("level", level, 1, 12, "compression level; from 3 on the slow search");
    }
  } params;

  LEEWAY_EXPORT void compress(ByteView bytes, Writer& out) const;
  LEEWAY_EXPORT void decompress(ByteView bytes, size_t limit, Writer& out) const;
};

}  // namespace leeway
