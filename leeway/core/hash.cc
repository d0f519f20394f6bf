// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/core/hash.h"

#include <xxh_x86dispatch.h>

namespace leeway {

u64 hash_of(ByteView bytes) noexcept { return XXH3_64bits(bytes.data(), bytes.size()); }

}  // namespace leeway
