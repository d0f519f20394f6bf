// SPDX-License-Identifier: BSD-3-Clause
// Log2: logarithms in integers, so that estimates of sizes are the same on every host.
#pragma once

#include <array>
#include <bit>

#include "leeway/base/types.h"

namespace leeway {

namespace detail {

// log2(1 + i / 2048) * 2^16, by repeated squaring.
inline constexpr auto kLog2 = [] {
  std::array<u32, 2048> table{};
  for (u32 i = 0; i < table.size(); ++i) {
    u64 x = u64(2048 + i) << 20;  // in [2^31, 2^32)
    for (int bit = 0; bit < 16; ++bit) {
      x = x * x >> 31;
      const u32 carry = u32(x >> 32);
      x >>= carry;
      table[i] = table[i] << 1 | carry;
    }
  }
  return table;
}();

}  // namespace detail

// log2(v) * 2^16, rounded down, computed from the first 12 bits of v; v > 0.
constexpr u64 log2_of(u64 v) {
  const int exponent = std::bit_width(v) - 1;
  const u64 mantissa = exponent >= 11 ? v >> (exponent - 11) : v << (11 - exponent);
  return (u64(exponent) << 16) + detail::kLog2[mantissa & 2047];
}

}  // namespace leeway
