// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/lossless/lz4.h"

#include <lz4.h>
#include <lz4hc.h>

#include "leeway/lossless/envelope.h"

namespace leeway {
namespace {

auto* chars(auto* bytes) {
  using Char =
      std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(bytes)>>, const char, char>;
  return reinterpret_cast<Char*>(bytes);
}

}  // namespace

void Lz4::compress(ByteView bytes, Writer& out) const {
  // lz4 gets our memory: if it could not allocate its own, it would report that nothing shrinks.
  Buffer<u64> state((size_t(params.level < 3 ? LZ4_sizeofState() : LZ4_sizeofStateHC()) + 7) / 8);
  const auto pack = [&](ByteView from, std::span<u8> room) {
    if (from.empty() || from.size() > LZ4_MAX_INPUT_SIZE) return size_t(0);
    const int size = int(from.size()), most = int(room.size());
    return size_t(params.level < 3
                      ? LZ4_compress_fast_extState(state.data(), chars(from.data()),
                                                   chars(room.data()), size, most, 1)
                      : LZ4_compress_HC_extStateHC(state.data(), chars(from.data()),
                                                   chars(room.data()), size, most, params.level));
  };
  put_in_envelope(bytes, out, pack, [](size_t size) {
    return size > LZ4_MAX_INPUT_SIZE ? size_t(0) : size_t(LZ4_compressBound(int(size)));
  });
}

void Lz4::decompress(ByteView bytes, size_t limit, Writer& out) const {
  take_from_envelope(bytes, limit, out, [](ByteView packed, std::span<u8> content) {
    if (content.empty() || std::max(content.size(), packed.size()) > LZ4_MAX_INPUT_SIZE)
      return false;
    const int size = LZ4_decompress_safe(chars(packed.data()), chars(content.data()),
                                         int(packed.size()), int(content.size()));
    return size >= 0 && size_t(size) == content.size();
  });
}

}  // namespace leeway
