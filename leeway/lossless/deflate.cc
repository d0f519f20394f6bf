// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/lossless/deflate.h"

#include <libdeflate.h>

#include <memory>

#include "leeway/lossless/envelope.h"

namespace leeway {
namespace {

template <auto free>
struct Free {
  void operator()(auto* what) const { free(what); }
};
using Packer = std::unique_ptr<libdeflate_compressor, Free<libdeflate_free_compressor>>;
using Unpacker = std::unique_ptr<libdeflate_decompressor, Free<libdeflate_free_decompressor>>;

}  // namespace

void Deflate::compress(ByteView bytes, Writer& out) const {
  const Packer packer(libdeflate_alloc_compressor(params.level));
  if (!packer) throw std::bad_alloc();
  put_in_envelope(
      bytes, out,
      [&](ByteView from, std::span<u8> room) {
        return libdeflate_deflate_compress(packer.get(), from.data(), from.size(), room.data(),
                                           room.size());
      },
      [&](size_t size) { return libdeflate_deflate_compress_bound(packer.get(), size); });
}

void Deflate::decompress(ByteView bytes, size_t limit, Writer& out) const {
  const Unpacker unpacker(libdeflate_alloc_decompressor());
  if (!unpacker) throw std::bad_alloc();
  take_from_envelope(bytes, limit, out, [&](ByteView packed, std::span<u8> content) {
    size_t used = 0;
    return libdeflate_deflate_decompress_ex(unpacker.get(), packed.data(), packed.size(),
                                            content.data(), content.size(), &used,
                                            nullptr) == LIBDEFLATE_SUCCESS &&
           used == packed.size();
  });
}

}  // namespace leeway
