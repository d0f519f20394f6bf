// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/derived/grid.h"

#include <algorithm>
#include <limits>

#include "leeway/codec/mask.h"

namespace leeway::derived {

std::vector<double> values_of(const View& view, const std::vector<u64>& fills) {
  if (view.dtype == DType::i64 || view.dtype == DType::u64)
    fail_argument("promises are not made of integers of 64 bits");
  const Mask mask{.fills = fills};
  std::vector<double> values(size_t(view.shape.size()));
  visit_dtype(view.dtype, [&]<class T>(std::type_identity<T>) {
    std::vector<T> all(values.size());
    gather(view, all.data());
    std::ranges::transform(all, values.begin(), [&](T value) {
      return mask.is_special(value) ? std::numeric_limits<double>::quiet_NaN() : double(value);
    });
  });
  return values;
}

namespace {

// How a grid is cut: along its longest axis.
struct Cut {
  size_t axis = 0;
  u64 extent = 1, thickness = 1, boxes = 0;
  Cut(const Shape& shape, size_t reach) {
    if (shape.size() == 0) return;
    for (size_t k = 1; k < shape.rank(); ++k)
      if (shape[k] > shape[axis]) axis = k;
    if (shape.rank() > 0) extent = shape[axis];
    thickness = std::max<u64>({8, 2 * u64(reach), extent / 256});
    boxes = (extent + thickness - 1) / thickness;
  }
  Box box(const Shape& shape, u64 ordinal) const {
    std::array<u64, kMaxRank> extents{};
    std::ranges::copy(shape.extents(), extents.begin());
    Box result;
    if (shape.rank() > 0) {
      result.first[axis] = ordinal * thickness;
      extents[axis] = std::min(thickness, extent - ordinal * thickness);
    }
    result.shape = Shape(std::span<const u64>(extents).first(shape.rank()));
    return result;
  }
};

}  // namespace

u64 boxes_of(const Shape& shape, size_t reach) { return Cut(shape, reach).boxes; }

void for_each_box(const Shape& shape, size_t reach, const Execution& execution,
                  const std::function<void(const Box&, u64)>& f) {
  const Cut cut(shape, reach);
  const u64 colours = reach > 0 ? 2 : 1;  // boxes of one colour at the same time
  for (u64 colour = 0; colour < colours; ++colour)
    for_each_index((cut.boxes + colours - 1 - colour) / colours, execution.threads,
                   execution.executor, [&](u64 i) {
                     const u64 ordinal = i * colours + colour;
                     f(cut.box(shape, ordinal), ordinal);
                   });
}

size_t reach_of(const Expression& expression) {
  size_t reach = 0;
  for (const Slot& slot : expression.slots()) reach = std::max(reach, slot.path.size());
  return reach;
}

}  // namespace leeway::derived
