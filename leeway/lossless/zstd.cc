// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/lossless/zstd.h"

#include <zstd.h>

#include <memory>

namespace leeway {
namespace {

enum class Method : u8 { stored = 0, zstd = 1 };

}  // namespace

void Zstd::compress(ByteView bytes, Writer& out) const {
  const size_t start = out.size();
  out.put(Method::zstd);
  out.put_varint(bytes.size());
  const size_t header = out.size();
  const std::span<u8> room = out.extend(ZSTD_compressBound(bytes.size()));
  const size_t size = ZSTD_compress(room.data(), room.size(), bytes.data(), bytes.size(), params.level);
  if (ZSTD_isError(size)) throw Error(Errc::internal, std::string("zstd: ") + ZSTD_getErrorName(size));
  out.truncate(header + size);
  if (out.size() - start > bytes.size()) {
    out.truncate(start);
    out.put(Method::stored);
    out.put_bytes(bytes);
  }
}

Bytes Zstd::decompress(ByteView bytes, size_t limit) const {
  Reader in(bytes);
  const u8 method = in.get<u8>();
  if (method == u8(Method::stored)) {
    const ByteView rest = in.rest();
    return Bytes(rest.begin(), rest.end());
  }
  if (method != u8(Method::zstd)) fail_corrupt("unknown zstd method");
  Bytes result(size_t(in.get_varint(limit, "zstd content too large")));
  const ByteView frame = in.rest();
  const size_t size = ZSTD_decompress(result.data(), result.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) || size != result.size()) fail_corrupt("zstd cannot unpack it");
  return result;
}

}  // namespace leeway
