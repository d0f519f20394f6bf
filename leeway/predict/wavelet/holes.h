// SPDX-License-Identifier: BSD-3-Clause
// Holes: values that do not matter get smooth ones, so that the border of a hole costs no bits.
#pragma once

#include <span>

#include "leeway/base/shape.h"

namespace leeway::wavelet {

// A hole becomes the mean of the nearest coarse cell that has known values, and then some times the
// mean of its neighbours. Special are values whose flag is not 0; at least one is not special.
template <class C>
void fill_holes(C* values, const Shape& shape, std::span<const u8> special);

}  // namespace leeway::wavelet
