// SPDX-License-Identifier: BSD-3-Clause
// Hash: XXH3-64 with seed 0, the checksum of every part of a stream.
#pragma once

#include <array>
#include <cstddef>

#include "leeway/base/bytes.h"
#include "leeway/base/export.h"

namespace leeway {

LEEWAY_EXPORT u64 hash_of(ByteView bytes) noexcept;

// Computes the checksum of data that comes piece by piece.
class LEEWAY_EXPORT Hasher {
 public:
  Hasher() noexcept;
  void add(ByteView bytes) noexcept;
  u64 value() const noexcept;

 private:
  alignas(64) std::array<std::byte, 576> state_;
};

template <class T>
ByteView bytes_of(std::span<T> values) {
  return {reinterpret_cast<const u8*>(values.data()), values.size_bytes()};
}

}  // namespace leeway
