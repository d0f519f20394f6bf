// SPDX-License-Identifier: BSD-3-Clause
// Compressors and decompressors of libdeflate that free themselves.
#pragma once

#include <memory>

struct libdeflate_compressor;
struct libdeflate_decompressor;

namespace leeway {

struct FreeByLibdeflate {
  void operator()(libdeflate_compressor* packer) const;
  void operator()(libdeflate_decompressor* unpacker) const;
};
using Packer = std::unique_ptr<libdeflate_compressor, FreeByLibdeflate>;
using Unpacker = std::unique_ptr<libdeflate_decompressor, FreeByLibdeflate>;

Packer make_packer(int level);
Unpacker make_unpacker();

}  // namespace leeway
