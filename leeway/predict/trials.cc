// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/trials.h"

#include <algorithm>

namespace leeway {

Sample middle_sample(const Shape& shape, u64 values) {
  const u64 long_enough = values > 65536 ? 64 : 32;
  Sample sample;
  std::array<u64, kMaxRank> extents{};
  std::ranges::copy(shape.extents(), extents.begin());
  const std::span<u64> used = std::span(extents).first(shape.rank());
  const std::span<u64> slow = used.first(shape.rank() > 3 ? shape.rank() - 2 : 0);
  while (Shape(std::span<const u64>(used)).size() > values) {
    // Rows may be twice as long: they cost little.
    auto longest = std::ranges::max_element(
        used, {}, [&](const u64& n) { return &n == &used.back() ? (n + 1) / 2 : n; });
    if (*longest <= long_enough && std::ranges::any_of(slow, [](u64 n) { return n > 1; }))
      longest = std::ranges::max_element(slow);
    *longest = (*longest + 1) / 2;
  }
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    sample.first[axis] = (shape[axis] - extents[axis]) / 2;
    sample.step[axis] = 1;
  }
  sample.shape = Shape(std::span<const u64>(used));
  return sample;
}

}  // namespace leeway
