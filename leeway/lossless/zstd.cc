// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/lossless/zstd.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

namespace leeway {
namespace {

enum class Method : u8 { stored = 0, zstd = 1 };

struct Packer {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  Packer() = default;
  Packer(const Packer&) = delete;
  ~Packer() { ZSTD_freeCCtx(context); }
};
struct Unpacker {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  Unpacker() = default;
  Unpacker(const Unpacker&) = delete;
  ~Unpacker() { ZSTD_freeDCtx(context); }
};

size_t pack(ByteView bytes, std::span<u8> room, int level) {
  const size_t size = ZSTD_compressCCtx(BufferPool::keep<Packer>()->context, room.data(),
                                        room.size(), bytes.data(), bytes.size(), level);
  if (ZSTD_isError(size))
    throw Error(Errc::internal, std::string("zstd: ") + ZSTD_getErrorName(size));
  return size;
}

// Entropy-coded bytes seldom shrink. Three samples tell, for a fraction of the time.
bool seems_packable(ByteView bytes, int level) {
  constexpr size_t kSample = 4096;
  if (bytes.size() < 8 * kSample) return true;
  Buffer<u8> samples(3 * kSample), room(ZSTD_compressBound(samples.size()));
  for (size_t k = 0; k < 3; ++k)
    std::ranges::copy(bytes.subspan((bytes.size() - kSample) / 2 * k, kSample),
                      samples.data() + k * kSample);
  return pack(samples, room, level) < samples.size() / 100 * 98;
}

}  // namespace

void Zstd::compress(ByteView bytes, Writer& out) const {
  const size_t start = out.size();
  out.put(Method::zstd);
  out.put_varint(bytes.size());
  const size_t header = out.size();
  if (seems_packable(bytes, params.level))
    out.truncate(header + pack(bytes, out.extend(ZSTD_compressBound(bytes.size())), params.level));
  if (out.size() == header || out.size() - start > bytes.size()) {
    out.truncate(start);
    out.put(Method::stored);
    out.put_bytes(bytes);
  }
}

void Zstd::decompress(ByteView bytes, size_t limit, Writer& out) const {
  Reader in(bytes);
  const u8 method = in.get<u8>();
  if (method == u8(Method::stored)) return out.put_bytes(in.rest());
  if (method != u8(Method::zstd)) fail_corrupt("unknown zstd method");
  const std::span<u8> content = out.extend(size_t(in.get_varint(limit, "zstd content too large")));
  const ByteView frame = in.rest();
  const size_t size = ZSTD_decompressDCtx(BufferPool::keep<Unpacker>()->context, content.data(),
                                          content.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) || size != content.size()) fail_corrupt("zstd cannot unpack it");
}

}  // namespace leeway
