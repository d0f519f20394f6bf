// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/lossless/zstd.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <new>

#include "leeway/base/kept.h"
#include "leeway/lossless/envelope.h"

namespace leeway {
namespace {

struct Packer {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  Packer() {
    if (!context) throw std::bad_alloc();
  }
  Packer(const Packer&) = delete;
  ~Packer() { ZSTD_freeCCtx(context); }
  size_t bytes() const { return ZSTD_sizeof_CCtx(context); }
};
struct Unpacker {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  Unpacker() {
    if (!context) throw std::bad_alloc();
  }
  Unpacker(const Unpacker&) = delete;
  ~Unpacker() { ZSTD_freeDCtx(context); }
  size_t bytes() const { return ZSTD_sizeof_DCtx(context); }
};

// Throws std::bad_alloc if zstd had too little memory; its other errors concern the bytes.
size_t with_memory(size_t result) {
  if (ZSTD_isError(result) && ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
    throw std::bad_alloc();
  return result;
}

size_t pack(ByteView bytes, std::span<u8> room, int level) {
  const size_t size = with_memory(ZSTD_compressCCtx(
      keep<Packer>()->context, room.data(), room.size(), bytes.data(), bytes.size(), level));
  if (ZSTD_isError(size))
    throw Error(Errc::internal, std::string("zstd: ") + ZSTD_getErrorName(size));
  return size;
}

}  // namespace

void Zstd::compress(ByteView bytes, Writer& out) const {
  put_in_envelope(
      bytes, out, [&](ByteView from, std::span<u8> room) { return pack(from, room, params.level); },
      ZSTD_compressBound);
}

void Zstd::decompress(ByteView bytes, size_t limit, Writer& out) const {
  take_from_envelope(bytes, limit, out, [](ByteView frame, std::span<u8> content) {
    return with_memory(ZSTD_decompressDCtx(keep<Unpacker>()->context, content.data(),
                                           content.size(), frame.data(), frame.size())) ==
           content.size();
  });
}

}  // namespace leeway
