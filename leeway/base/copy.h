// SPDX-License-Identifier: BSD-3-Clause
// Copy: copies of data that will not be read soon.
#pragma once

#include "leeway/base/types.h"

namespace leeway {

// memcpy() past the caches: the target is not loaded first, and no other data is evicted.
void copy_past_caches(void* to, const void* from, size_t bytes) noexcept;
// To be called after the last copy_past_caches(), before another thread reads the copies.
void finish_copies() noexcept;

}  // namespace leeway
