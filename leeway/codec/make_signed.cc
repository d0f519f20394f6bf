// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/codec/make_typed.h"

namespace leeway {

template std::shared_ptr<const ChunkCodec> make_typed_codec<i16>(const Recipe&);
template std::shared_ptr<const ChunkCodec> make_typed_codec<i32>(const Recipe&);
#ifndef LEEWAY_SOME_TYPES
template std::shared_ptr<const ChunkCodec> make_typed_codec<i8>(const Recipe&);
template std::shared_ptr<const ChunkCodec> make_typed_codec<i64>(const Recipe&);
#endif

}  // namespace leeway
