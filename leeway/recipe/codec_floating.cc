// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/recipe/make_codec.h"

namespace leeway {

template std::shared_ptr<const ChunkCodec> make_typed_codec<float>(const Recipe&);
template std::shared_ptr<const ChunkCodec> make_typed_codec<double>(const Recipe&);

}  // namespace leeway
