// SPDX-License-Identifier: BSD-3-Clause
// rANS states: what encoding and decoding them share (rans.md).
#pragma once

#include <array>

#include "leeway/base/types.h"

namespace leeway::rans {

inline constexpr size_t kMostStates = 32;
inline constexpr size_t kGroup = 8;       // states in a short vector
inline constexpr size_t kMostGroup = 16;  // states in a vector

// How many states there are, by the number in the stream. A state takes four bytes, of which two
// are overhead: few words get few states.
inline constexpr std::array<size_t, 3> kStates = {1, kGroup, kMostStates};
inline constexpr std::array<size_t, 3> kWorthStates = {0, 256, 1024};  // words
// With fewer values, one state is tried first.
inline constexpr size_t kFewValues = 4096;

inline constexpr u32 kLowest = 1u << 16;  // the lowest state between two values

// Stored where the first form stores the size of its head.
inline constexpr u64 kSecondForm = 0;

}  // namespace leeway::rans
