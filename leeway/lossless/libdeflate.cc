// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/lossless/libdeflate.h"

#include <libdeflate.h>

#include <new>

namespace leeway {

void FreeByLibdeflate::operator()(libdeflate_compressor* packer) const {
  libdeflate_free_compressor(packer);
}
void FreeByLibdeflate::operator()(libdeflate_decompressor* unpacker) const {
  libdeflate_free_decompressor(unpacker);
}

Packer make_packer(int level) {
  Packer packer(libdeflate_alloc_compressor(level));
  if (!packer) throw std::bad_alloc();
  return packer;
}
Unpacker make_unpacker() {
  Unpacker unpacker(libdeflate_alloc_decompressor());
  if (!unpacker) throw std::bad_alloc();
  return unpacker;
}

}  // namespace leeway
