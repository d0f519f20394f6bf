// SPDX-License-Identifier: BSD-3-Clause
// Deflate: the compression of gzip, which is the last stage of SZ-1.4, GhostSZ and waveSZ.
#pragma once

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Deflate {
  static constexpr std::string_view kName = "deflate";
  static constexpr std::string_view kAbout =
      "the compression of gzip; bytes that do not shrink are kept";
  static constexpr Kind kKind = Kind::lossless;
  static constexpr Traits kTraits{};
  struct Params {
    i32 level = 6;
    void fields(auto&& field) { field("level", level, 1, 12, "compression level"); }
  } params;

  LEEWAY_EXPORT void compress(ByteView bytes, Writer& out) const;
  LEEWAY_EXPORT void decompress(ByteView bytes, size_t limit, Writer& out) const;
};

}  // namespace leeway
