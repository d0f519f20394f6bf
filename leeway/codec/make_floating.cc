// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/codec/make_typed.h"

namespace leeway {

template std::shared_ptr<const ChunkCodec> make_typed_codec<float>(const Recipe&);
template std::shared_ptr<const ChunkCodec> make_typed_codec<double>(const Recipe&);

}  // namespace leeway
