// SPDX-License-Identifier: BSD-3-Clause
// Store: keeps bytes as they are; the stage of recipes that name no lossless stage.
#pragma once

#include "leeway/stage/stage.h"

namespace leeway {

struct Store {
  static constexpr std::string_view kName = "store";
  static constexpr std::string_view kAbout = "bytes unchanged";
  static constexpr Kind kKind = Kind::lossless;
  static constexpr Traits kTraits{};
  NoParams params;

  void compress(ByteView bytes, Writer& out) const { out.put_bytes(bytes); }
  void decompress(ByteView bytes, size_t, Writer& out) const { out.put_bytes(bytes); }
};

}  // namespace leeway
