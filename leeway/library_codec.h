// SPDX-License-Identifier: BSD-3-Clause
// Library codec: the codec of the library's stages for a recipe, for those who call the engine
// themselves.
#pragma once

#include <memory>
#include <string>

#include "leeway/engine/with_codec.h"

namespace leeway {

struct LibraryCodec {
  std::string recipe;  // in full
  std::shared_ptr<const ChunkCodec> codec;
};
// For compressing with these options by this recipe.
LibraryCodec library_codec_for(const CompressOptions& options, const std::string& recipe,
                               DType dtype);
// The same by the recipe of the options, for an array in parts: it cannot be chosen by a look at
// the array.
LibraryCodec library_codec_for_parts(const CompressOptions& options, DType dtype);
// For decompressing.
CodecMaker library_codecs();

}  // namespace leeway
