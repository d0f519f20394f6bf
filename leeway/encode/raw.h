// SPDX-License-Identifier: BSD-3-Clause
// Raw: codes as they are, in the fewest whole bytes that hold them all. Stands where no encoder is
// named. The lowest number of a width stands for the lowest code, which says that a value is kept
// exactly (transform.h).
#pragma once

#include <limits>

#include "leeway/core/stage.h"

namespace leeway {

struct Raw {
  static constexpr std::string_view kName = "raw";
  static constexpr std::string_view kAbout = "codes unpacked, as 1, 2, 4 or 8 byte integers";
  static constexpr Kind kKind = Kind::encoder;
  NoParams params;

  template <class I>
  void encode(std::span<const I> codes, Writer& out) const {
    I lowest = 0, highest = 0;
    for (const I code : codes) {
      if (code != std::numeric_limits<I>::min()) lowest = std::min(lowest, code);
      highest = std::max(highest, code);
    }
    u8 bytes = 1;
    while (bytes < sizeof(I) &&
           (lowest <= -(i64(1) << (8 * bytes - 1)) || highest >= i64(1) << (8 * bytes - 1)))
      bytes *= 2;
    out.put(bytes);
    visit_width(bytes, [&]<class N>(std::type_identity<N>) {
      u8* to = out.extend(codes.size() * sizeof(N)).data();
      for (size_t i = 0; i < codes.size(); ++i) {
        const N code =
            codes[i] == std::numeric_limits<I>::min() ? std::numeric_limits<N>::min() : N(codes[i]);
        std::memcpy(to + i * sizeof(N), &code, sizeof(N));
      }
    });
  }
  template <class I>
  void decode(Reader& in, std::span<I> codes) const {
    const u8 bytes = in.get<u8>();
    if (bytes > sizeof(I) || !std::has_single_bit(bytes)) fail_corrupt("impossible code size");
    visit_width(bytes, [&]<class N>(std::type_identity<N>) {
      const u8* from = in.take(codes.size() * sizeof(N)).data();
      for (size_t i = 0; i < codes.size(); ++i) {
        N code;
        std::memcpy(&code, from + i * sizeof(N), sizeof(N));
        codes[i] = code == std::numeric_limits<N>::min() ? std::numeric_limits<I>::min() : I(code);
      }
    });
  }

 private:
  template <class F>
  static void visit_width(u8 bytes, F&& f) {
    if (bytes == 1)
      f(std::type_identity<i8>{});
    else if (bytes == 2)
      f(std::type_identity<i16>{});
    else if (bytes == 4)
      f(std::type_identity<i32>{});
    else
      f(std::type_identity<i64>{});
  }
};

}  // namespace leeway
