// SPDX-License-Identifier: BSD-3-Clause
// Compressors and decompressors of libdeflate that free themselves. For .cc files.
#pragma once

#include <libdeflate.h>

#include <memory>
#include <new>

namespace leeway {

template <auto free>
struct FreeBy {
  void operator()(auto* what) const { free(what); }
};
using Packer = std::unique_ptr<libdeflate_compressor, FreeBy<libdeflate_free_compressor>>;
using Unpacker = std::unique_ptr<libdeflate_decompressor, FreeBy<libdeflate_free_decompressor>>;

inline Packer make_packer(int level) {
  Packer packer(libdeflate_alloc_compressor(level));
  if (!packer) throw std::bad_alloc();
  return packer;
}
inline Unpacker make_unpacker() {
  Unpacker unpacker(libdeflate_alloc_decompressor());
  if (!unpacker) throw std::bad_alloc();
  return unpacker;
}

}  // namespace leeway
