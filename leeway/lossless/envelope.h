// SPDX-License-Identifier: BSD-3-Clause
// Envelope: what is stored around the output of a general-purpose compressor: a byte that says
// whether the content is packed, and the size of the content.
//
//   method u8: 0 the content as it is, 1 packed;  packed: size varint, then the packed bytes
#pragma once

#include <algorithm>

#include "leeway/base/buffer.h"
#include "leeway/base/bytes.h"

namespace leeway {

// Without packing.
inline void keep_in_envelope(ByteView bytes, Writer& out) {
  out.put(u8(0));
  out.put_bytes(bytes);
}

// pack(bytes, room) returns the number of bytes written to `room`, or 0 if the room is too small;
// room_for(size) is large enough for any content of that size.
template <class Pack, class RoomFor>
void put_in_envelope(ByteView bytes, Writer& out, Pack&& pack, RoomFor&& room_for) {
  // Entropy-coded bytes seldom shrink. A few samples show it, in a fraction of the time.
  const auto seems_packable = [&] {
    constexpr size_t kSample = 4096;
    if (bytes.size() < 8 * kSample) return true;
    const size_t count = std::clamp<size_t>(bytes.size() / (8 * kSample), 3, 32);
    Buffer<u8> samples(count * kSample), room(room_for(samples.size()));
    for (size_t k = 0; k < count; ++k)
      std::ranges::copy(bytes.subspan((bytes.size() - kSample) / (count - 1) * k, kSample),
                        samples.data() + k * kSample);
    return pack(ByteView(samples), std::span<u8>(room)) < samples.size() / 100 * 99;
  };
  const size_t start = out.size();
  out.put(u8(1));
  out.put_varint(bytes.size());
  const size_t header = out.size();
  if (seems_packable()) out.truncate(header + pack(bytes, out.extend(room_for(bytes.size()))));
  if (out.size() == header || out.size() - start > bytes.size()) {
    out.truncate(start);
    keep_in_envelope(bytes, out);
  }
}

// unpack(bytes, content) fills all of `content`, or returns false.
template <class Unpack>
void take_from_envelope(ByteView bytes, size_t limit, Writer& out, Unpack&& unpack) {
  Reader in(bytes);
  const u8 method = in.get<u8>();
  if (method == 0) return out.put_bytes(in.rest());
  if (method != 1) fail_corrupt("unknown way of packing");
  const std::span<u8> content =
      out.extend(size_t(in.get_varint(limit, "packed content too large")));
  if (!unpack(in.rest(), content)) fail_corrupt("packed bytes are damaged");
}

}  // namespace leeway
