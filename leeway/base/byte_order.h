// SPDX-License-Identifier: BSD-3-Clause
// The other byte order: values of foreign files, turned in place.
#pragma once

#include <algorithm>
#include <cstddef>

namespace leeway {

// Reverses the bytes of every value of `width` bytes.
inline void swap_bytes(void* values, size_t bytes, size_t width) {
  auto* data = static_cast<std::byte*>(values);
  for (size_t i = 0; i + width <= bytes; i += width) std::reverse(data + i, data + i + width);
}

}  // namespace leeway
