// SPDX-License-Identifier: BSD-3-Clause
// Make codec: from a recipe to the codec of chunks.
#pragma once

#include <memory>

#include "leeway/codec/chunk_codec.h"
#include "leeway/recipe/recipe.h"

namespace leeway {

// The codec that applies the recipe to chunks of values of this type.
LEEWAY_EXPORT std::shared_ptr<const ChunkCodec> make_codec(const Recipe& recipe, DType dtype);

// The same for one type: defined in make_typed.h, compiled in make_floating.cc and the files of the
// other kinds of types.
template <class T>
std::shared_ptr<const ChunkCodec> make_typed_codec(const Recipe& recipe);

}  // namespace leeway
