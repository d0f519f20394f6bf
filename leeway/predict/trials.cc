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

bool looks_made(const Shape& shape, u32 frozen_axes, size_t top,
                const std::function<Trial(size_t, const Sample&)>& ask_for) {
  constexpr u64 kFew = 32, kMany = u64(1) << 16, kEnough = 256;
  const size_t rank = shape.rank();
  std::array<u64, kMaxRank> extents{};
  std::array<u64, kMaxRank> steps;
  steps.fill(1);
  enum { no, perhaps, yes } answer = perhaps;
  const auto ask = [&](size_t first_level) {
    const Shape tried(std::span<const u64>(extents).first(rank));
    const Trial result = ask_for(first_level, {tried, {}, steps});
    const bool enough = tried == shape || (result.coded >= kEnough && shape.size() > kMany);
    answer = !result.unchanged ? no : enough ? yes : perhaps;
  };
  const auto size = [&] { return Shape(std::span<const u64>(extents).first(rank)).size(); };

  // Most arrays show by their first value that nothing has made them.
  const bool flat = frozen_axes == (1u << rank) - 1;
  std::fill_n(extents.begin(), rank, 1);
  ask(top);
  if (answer == no) return false;
  if (!flat) {
    // Level by level, all at once at first.
    size_t shift = 40;
    const auto stride = [&] {
      for (size_t axis = 0; axis < rank; ++axis) {
        const bool frozen = frozen_axes >> axis & 1;
        steps[axis] = frozen ? 1 : u64(1) << shift;
        extents[axis] = frozen ? 1 : (shape[axis] - 1) / steps[axis] + 1;
      }
    };
    for (stride(); shift > 0 && size() < kFew; stride()) --shift;
    for (; answer == perhaps && size() <= kMany; stride()) {
      ask(shift);
      if (shift-- == 0) break;
    }
    steps.fill(1);
  }
  // Slices come in row-major order.
  for (size_t axis = 0; axis < rank; ++axis)
    extents[axis] = frozen_axes >> axis & 1 && !(flat && axis + 1 == rank) ? 1 : shape[axis];
  for (size_t axis = rank; axis-- > 0 && answer == perhaps;)
    while (answer == perhaps && extents[axis] < shape[axis]) {
      extents[axis] = std::min(shape[axis], 2 * extents[axis]);
      if (size() > kMany) return false;
      ask(0);
    }
  return answer == yes;
}

}  // namespace leeway
