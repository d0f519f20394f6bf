// SPDX-License-Identifier: BSD-3-Clause
// Fixed Huffman: a prefix code without a table, for codes that are mostly 0, 1 and -1, as in PaSTRI
// [Gok et al., CLUSTER 2018] (fixed_huffman.md).
#pragma once

#include <bit>

#include "leeway/base/bits.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct FixedHuffman {
  static constexpr std::string_view kName = "fixed-huffman";
  static constexpr std::string_view kAbout = "a prefix code without a table, as PaSTRI";
  static constexpr Kind kKind = Kind::encoder;
  static constexpr Traits kTraits{};
  struct Params {
    i32 block = 1296;
    void fields(auto&& field) { field("block", block, 8, 65536, "codes that share a width"); }
  } params;

  template <class I>
  void encode(std::span<const I> codes, Writer& out) const {
    BitWriter bits;
    for_each_block(codes, [&](std::span<const I> block) {
      auto largest = zigzag(I(0));
      for (const I code : block) largest = std::max(largest, zigzag(code));
      const int width = largest == 0   ? 0
                        : largest <= 2 ? 2
                                       : std::max(3, int(std::bit_width(largest)));
      bits.put(u64(width), 7);
      for (const I code : block) put(zigzag(code), width, bits);
    });
    out.put_section(bits.take().bytes());
  }
  template <class I>
  void decode(Reader& in, std::span<I> codes) const {
    using U = std::make_unsigned_t<I>;
    BitReader bits(in.take_section());
    for_each_block(codes, [&](std::span<I> block) {
      const int width = int(bits.get(7));
      if (width == 1 || width > 8 * int(sizeof(I))) fail_corrupt("codes of an impossible width");
      for (I& code : block) code = I(unzigzag(U(get(width, bits))));
    });
    bits.expect_end();
  }

 private:
  template <class I, class F>
  void for_each_block(std::span<I> codes, F&& f) const {
    for (size_t first = 0; first < codes.size(); first += size_t(params.block))
      f(codes.subspan(first, std::min(size_t(params.block), codes.size() - first)));
  }

  // 0, -1, 1 are written as 1, 00, 01. If other codes occur: as 1, 000, 001, others as 01 + bits.
  static void put(u64 z, int width, BitWriter& bits) {
    if (width == 0) return;
    if (z == 0) return bits.put(1, 1);
    bits.put(0, 1);
    if (width > 2) bits.put(z > 2, 1);
    if (z <= 2) return bits.put(z - 1, 1);
    bits.put(z & kLow, std::min(width, 32));
    if (width > 32) bits.put(z >> 32, width - 32);
  }
  static u64 get(int width, BitReader& bits) {
    if (width == 0 || bits.get(1)) return 0;
    if (width == 2 || !bits.get(1)) return 1 + bits.get(1);
    const u64 low = bits.get(std::min(width, 32));
    return width > 32 ? low | bits.get(width - 32) << 32 : low;
  }
  static constexpr u64 kLow = 0xffffffff;
};

}  // namespace leeway
