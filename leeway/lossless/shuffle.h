// SPDX-License-Identifier: BSD-3-Clause
// Shuffle: the first bytes of all numbers, then the second ones, ..., before a stage that packs
// bytes, as Blosc and HDF5 have it.
#pragma once

#include "leeway/core/stage.h"

namespace leeway {

struct Shuffle {
  static constexpr std::string_view kName = "shuffle";
  static constexpr std::string_view kAbout = "bytes of equal weight together, for the next stage";
  static constexpr Kind kKind = Kind::lossless;
  struct Params {
    i32 bytes = 4;
    void fields(auto&& field) { field("bytes", bytes, 2, 16, "bytes of a number"); }
  } params;

  void compress(ByteView bytes, Writer& out) const {
    const auto width = size_t(params.bytes), count = bytes.size() / width;
    u8* to = out.extend(bytes.size()).data();
    for (size_t k = 0; k < width; ++k)
      for (size_t i = 0; i < count; ++i) *to++ = bytes[i * width + k];
    std::ranges::copy(bytes.subspan(count * width), to);
  }
  void decompress(ByteView bytes, size_t limit, Writer& out) const {
    if (bytes.size() > limit) fail_corrupt("packed content too large");
    const auto width = size_t(params.bytes), count = bytes.size() / width;
    u8* const to = out.extend(bytes.size()).data();
    const u8* from = bytes.data();
    for (size_t k = 0; k < width; ++k)
      for (size_t i = 0; i < count; ++i) to[i * width + k] = *from++;
    std::ranges::copy(bytes.subspan(count * width), to + count * width);
  }
};

}  // namespace leeway
