// SPDX-License-Identifier: BSD-3-Clause
// Copies of what nobody will read soon.
#pragma once

#include "leeway/base/types.h"

namespace leeway {

// memcpy() past the caches: memory is not read before it is written, and nothing is pushed out.
void copy_past_caches(void* to, const void* from, size_t bytes) noexcept;
// To be called when all of it is done, before anybody else reads.
void finish_copies() noexcept;

}  // namespace leeway
