// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/codec/make_typed.h"

namespace leeway {

template std::shared_ptr<const ChunkCodec> make_typed_codec<bf16>(const Recipe&);
#ifndef LEEWAY_SOME_TYPES
template std::shared_ptr<const ChunkCodec> make_typed_codec<f16>(const Recipe&);
#endif

}  // namespace leeway
