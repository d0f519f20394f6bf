// SPDX-License-Identifier: BSD-3-Clause
// Block costs: about how many bits the differences of a block to their predictions will take.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "leeway/base/types.h"

namespace leeway {

// Costs are in units of 2^-16 bits.
inline constexpr int kCostScale = 16;
constexpr i64 bits_as_cost(i64 bits) { return bits << kCostScale; }

// The sum of the logarithms of 1 + `noise` + 2 |d| / step. The bits of a number are its logarithm,
// nearly; several numbers are multiplied first.
template <class C>
i64 cost_of(const C* differences, size_t size, double step, double noise) {
  using Bits = std::conditional_t<sizeof(C) == 4, u32, u64>;
  constexpr size_t kLanes = 8, kDeep = 6;
  const C inverse = C(2 / step), least = C(1 + noise);
  const auto term = [&](C d) { return std::min(least + std::abs(d) * inverse, C(0x1p20)); };
  i64 sum = 0;
  const auto add = [&](C product) {
    constexpr int kDropped = (sizeof(C) == 4 ? 23 : 52) - kCostScale;
    sum += i64(std::bit_cast<Bits>(product) - std::bit_cast<Bits>(C(1))) >> kDropped;
  };
  size_t i = 0;
  for (; i + kLanes * kDeep <= size; i += kLanes * kDeep) {
    std::array<C, kLanes> products;
    products.fill(1);
    for (size_t k = 0; k < kDeep; ++k)
      for (size_t j = 0; j < kLanes; ++j) products[j] *= term(differences[i + k * kLanes + j]);
    for (const C product : products) add(product);
  }
  for (; i < size; ++i) add(term(differences[i]));
  return sum;
}

}  // namespace leeway
