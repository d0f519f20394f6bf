// SPDX-License-Identifier: BSD-3-Clause
// Planes: large codes stored bit by bit, the highest bits of all codes first (planes.md). The way
// SZ3 keeps what it calls unpredictable [Liang et al., TBD 2023].
//
// High planes are nearly empty, so that the lossless stages after them have little left to keep.
#pragma once

#include <bit>
#include <vector>

#include "leeway/stage/codes.h"

namespace leeway {

template <class I>
void write_planes(std::span<const I> codes, I radius, Writer& out) {
  using U = std::make_unsigned_t<I>;
  out.put_varint(codes.size());
  if (codes.empty()) return;
  std::vector<U> beyond;  // the radius
  U all = 0;
  for (const I code : codes) {
    beyond.push_back(U((code < 0 ? 0 - U(code) : U(code)) - U(radius)));
    all |= beyond.back();
  }
  const auto put_plane = [&](auto&& bit) {
    for (size_t first = 0; first < codes.size(); first += 8) {
      u8 byte = 0;
      for (size_t i = first; i < std::min(codes.size(), first + 8); ++i)
        byte |= u8(bit(i) << (i - first));
      out.put(byte);
    }
  };
  out.put(u8(std::bit_width(all)));
  put_plane([&](size_t i) { return codes[i] < 0; });
  for (int plane = std::bit_width(all); plane-- > 0;)
    put_plane([&](size_t i) { return bool(beyond[i] >> plane & 1); });
}

template <class I>
std::vector<I> read_planes(Reader& in, I radius, size_t most) {
  using U = std::make_unsigned_t<I>;
  const auto count = size_t(in.get_varint(most, "more codes set apart than there are"));
  if (count == 0) return {};
  const int planes = in.get<u8>();
  if (planes >= int(8 * sizeof(I))) fail_corrupt("too many planes");
  const size_t bytes = (count + 7) / 8;
  const ByteView negative = in.take(bytes);
  Reader high_first(in.take(bytes * size_t(planes)));
  std::vector<U> beyond(count);
  for (int plane = planes; plane-- > 0;) {
    const ByteView bits = high_first.take(bytes);
    for (size_t i = 0; i < count; ++i) beyond[i] |= U(U(bits[i / 8] >> (i % 8) & 1) << plane);
  }
  std::vector<I> codes(count);
  for (size_t i = 0; i < count; ++i) {
    const U size = U(beyond[i] + U(radius));
    codes[i] = I(negative[i / 8] >> (i % 8) & 1 ? U(0) - size : size);
  }
  return codes;
}

}  // namespace leeway
