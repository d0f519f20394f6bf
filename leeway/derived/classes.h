// SPDX-License-Identifier: BSD-3-Clause
// Classes: few different bounds in the place of many, since the stream tells for every value which
// it has (quantize/elementwise.md).
#pragma once

#include <vector>

#include "leeway/base/shape.h"

namespace leeway::derived {

// Makes bounds smaller so that there are at most `most` different ones beside the largest and 0,
// and so that neighbours in blocks of `edge` values along the last two axes share one, but for
// values whose bound is far smaller than those around. Each loses as little as that allows.
void to_classes(std::vector<double>& bounds, const Shape& shape, size_t most, u64 edge);

}  // namespace leeway::derived
