// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/codec/make_codec.h"

#include "leeway/base/environment.h"

namespace leeway {

std::shared_ptr<const ChunkCodec> make_codec(const Recipe& recipe, DType dtype) {
  const DefaultFloatingPoint environment;
  return visit_dtype(dtype,
                     [&]<class T>(std::type_identity<T>) -> std::shared_ptr<const ChunkCodec> {
                       if constexpr (kIsCompiled<T>)
                         return make_typed_codec<T>(recipe);
                       else
                         throw Error(Errc::unsupported, "this build does not know the type");
                     });
}

}  // namespace leeway
