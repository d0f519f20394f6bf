// SPDX-License-Identifier: BSD-3-Clause
// Hash: XXH3-64 with seed 0, the checksum of every part of a stream.
#pragma once

#include "leeway/core/bytes.h"
#include "leeway/core/export.h"

namespace leeway {

LEEWAY_EXPORT u64 hash_of(ByteView bytes) noexcept;

template <class T>
ByteView bytes_of(std::span<T> values) {
  return {reinterpret_cast<const u8*>(values.data()), values.size_bytes()};
}

}  // namespace leeway
