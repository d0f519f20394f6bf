// SPDX-License-Identifier: BSD-3-Clause
// Shuffle: puts the first bytes of all numbers first, then all second bytes, and so on, before a
// stage that packs bytes; as Blosc and HDF5 do.
#pragma once

#include <algorithm>

#include "leeway/stage/stage.h"

namespace leeway {

struct Shuffle {
  static constexpr std::string_view kName = "shuffle";
  static constexpr std::string_view kAbout = "bytes of equal weight together, for the next stage";
  static constexpr Kind kKind = Kind::lossless;
  static constexpr Traits kTraits{};
  struct Params {
    i32 bytes = 4;
    void fields(auto&& field) { field("bytes", bytes, 2, 16, "bytes of a number"); }
  } params;

  void compress(ByteView bytes, Writer& out) const {
    u8* const to = out.extend(bytes.size()).data();
    const size_t done = with_width([&](auto width) {
      const size_t count = bytes.size() / width;
      for (size_t k = 0; k < width; ++k)
        for (size_t i = 0; i < count; ++i) to[k * count + i] = bytes[i * width + k];
      return count * width;
    });
    std::ranges::copy(bytes.subspan(done), to + done);
  }
  void decompress(ByteView bytes, size_t limit, Writer& out) const {
    if (bytes.size() > limit) fail_corrupt("packed content too large");
    u8* const to = out.extend(bytes.size()).data();
    const size_t done = with_width([&](auto width) {
      const size_t count = bytes.size() / width;
      for (size_t k = 0; k < width; ++k)
        for (size_t i = 0; i < count; ++i) to[i * width + k] = bytes[k * count + i];
      return count * width;
    });
    std::ranges::copy(bytes.subspan(done), to + done);
  }

 private:
  // Calls f(width); usual widths are passed as constants.
  template <class F>
  size_t with_width(F&& f) const {
    if (params.bytes == 4) return f(std::integral_constant<size_t, 4>());
    if (params.bytes == 8) return f(std::integral_constant<size_t, 8>());
    return f(size_t(params.bytes));
  }
};

}  // namespace leeway
