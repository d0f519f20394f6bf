// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/lossless/gzip.h"

#include <libdeflate.h>

#include "leeway/lossless/libdeflate.h"

namespace leeway {

void Gzip::compress(ByteView bytes, Writer& out) const {
  const Packer packer = make_packer(params.level);
  const size_t start = out.size(), most = libdeflate_gzip_compress_bound(packer.get(), bytes.size());
  const size_t used = libdeflate_gzip_compress(packer.get(), bytes.data(), bytes.size(),
                                               out.extend(most).data(), most);
  out.truncate(start + used);
}

void Gzip::decompress(ByteView bytes, size_t limit, Writer& out) const {
  constexpr size_t kSizeBytes = 4;  // at the end: the size modulo 2^32
  if (bytes.size() < kSizeBytes) fail_corrupt("ends too early");
  Reader end(bytes.last(kSizeBytes));
  const u32 size = end.get<u32>();
  if (size > limit) fail_corrupt("packed content too large");
  const Unpacker unpacker = make_unpacker();
  const std::span<u8> content = out.extend(size);
  size_t used = 0;
  if (libdeflate_gzip_decompress_ex(unpacker.get(), bytes.data(), bytes.size(), content.data(),
                                    content.size(), &used, nullptr) != LIBDEFLATE_SUCCESS ||
      used != bytes.size())
    fail_corrupt("packed bytes are damaged");
}

}  // namespace leeway
