// SPDX-License-Identifier: BSD-3-Clause
// Bit shuffle: the lowest bits of all numbers first, then all second ones, and so on, before a stage
// that packs bytes; as Blosc can do.
#pragma once

#include <algorithm>
#include <cstring>

#include "leeway/stage/stage.h"

namespace leeway {

struct BitShuffle {
  static constexpr std::string_view kName = "bitshuffle";
  static constexpr std::string_view kAbout = "bits of equal weight together, for the next stage";
  static constexpr Kind kKind = Kind::lossless;
  static constexpr Traits kTraits{};
  struct Params {
    i32 bytes = 4;
    void fields(auto&& field) { field("bytes", bytes, 1, 16, "bytes of a number"); }
  } params;

  void compress(ByteView bytes, Writer& out) const {
    u8* const to = out.extend(bytes.size()).data();
    const size_t done = for_each_square(bytes.size(), [&](size_t numbers, size_t bits, auto step) {
      u64 square = 0;
      for (size_t i = 0; i < 8; ++i) square |= u64(bytes[numbers + i * width()]) << 8 * i;
      square = transposed(square);
      for (size_t bit = 0; bit < 8; ++bit) to[bits + bit * step] = u8(square >> 8 * bit);
    });
    std::ranges::copy(bytes.subspan(done), to + done);
  }
  void decompress(ByteView bytes, size_t limit, Writer& out) const {
    if (bytes.size() > limit) fail_corrupt("packed content too large");
    u8* const to = out.extend(bytes.size()).data();
    const size_t done = for_each_square(bytes.size(), [&](size_t numbers, size_t bits, auto step) {
      u64 square = 0;
      for (size_t bit = 0; bit < 8; ++bit) square |= u64(bytes[bits + bit * step]) << 8 * bit;
      square = transposed(square);
      for (size_t i = 0; i < 8; ++i) to[numbers + i * width()] = u8(square >> 8 * i);
    });
    std::ranges::copy(bytes.subspan(done), to + done);
  }

 private:
  size_t width() const { return size_t(params.bytes); }

  // The k-th bytes of eight numbers are a square of 8 x 8 bits. Calls f(place of the first of these
  // bytes, place of their lowest bits, step from there to the next bits) for all whole squares.
  // Returns how many bytes are in them; the rest stays where it is.
  template <class F>
  size_t for_each_square(size_t bytes, F&& f) const {
    const size_t groups = bytes / width() / 8;
    for (size_t k = 0; k < width(); ++k)
      for (size_t group = 0; group < groups; ++group)
        f(group * 8 * width() + k, 8 * k * groups + group, groups);
    return groups * 8 * width();
  }

  // Rows and columns of 8 x 8 bits exchanged: halves, quarters, then single bits.
  static u64 transposed(u64 x) {
    const auto swap = [&x](u64 mask, int distance) {
      const u64 change = (x ^ x >> distance) & mask;
      x ^= change ^ change << distance;
    };
    swap(0x00aa00aa00aa00aa, 7);
    swap(0x0000cccc0000cccc, 14);
    swap(0x00000000f0f0f0f0, 28);
    return x;
  }
};

}  // namespace leeway
