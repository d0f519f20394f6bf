// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/lossless/deflate.h"

#include <libdeflate.h>

#include "leeway/lossless/envelope.h"
#include "leeway/lossless/libdeflate.h"

namespace leeway {

void Deflate::compress(ByteView bytes, Writer& out) const {
  const Packer packer = make_packer(params.level);
  put_in_envelope(
      bytes, out,
      [&](ByteView from, std::span<u8> room) {
        return libdeflate_deflate_compress(packer.get(), from.data(), from.size(), room.data(),
                                           room.size());
      },
      [&](size_t size) { return libdeflate_deflate_compress_bound(packer.get(), size); });
}

void Deflate::decompress(ByteView bytes, size_t limit, Writer& out) const {
  const Unpacker unpacker = make_unpacker();
  take_from_envelope(bytes, limit, out, [&](ByteView packed, std::span<u8> content) {
    size_t used = 0;
    return libdeflate_deflate_decompress_ex(unpacker.get(), packed.data(), packed.size(),
                                            content.data(), content.size(), &used,
                                            nullptr) == LIBDEFLATE_SUCCESS &&
           used == packed.size();
  });
}

}  // namespace leeway
