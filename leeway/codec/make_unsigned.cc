// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/codec/make_typed.h"

namespace leeway {

template std::shared_ptr<const ChunkCodec> make_typed_codec<u64>(const Recipe&);
#ifndef LEEWAY_SOME_TYPES
template std::shared_ptr<const ChunkCodec> make_typed_codec<u8>(const Recipe&);
template std::shared_ptr<const ChunkCodec> make_typed_codec<u16>(const Recipe&);
template std::shared_ptr<const ChunkCodec> make_typed_codec<u32>(const Recipe&);
#endif

}  // namespace leeway
