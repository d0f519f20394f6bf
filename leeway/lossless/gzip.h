// SPDX-License-Identifier: BSD-3-Clause
// Gzip: what the tool gzip writes, with header and checksum, as the first versions of SZ end with;
// `deflate` is the same without both.
#pragma once

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Gzip {
  static constexpr std::string_view kName = "gzip";
  static constexpr std::string_view kAbout = "a file as gzip makes it, with header and checksum";
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
