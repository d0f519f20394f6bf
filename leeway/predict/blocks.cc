// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/blocks.h"

#include <algorithm>

#include "leeway/base/buffer.h"
#include "leeway/predict/lorenzo.h"

namespace leeway {
namespace {

// A box of values inside a field, up to three axes; steps from one value to the next along each.
struct Block {
  size_t first;
  std::array<size_t, 3> extents, steps;
};

// Calls f(block) for all blocks of the last `axes` axes, whole ones first.
template <class F>
void for_each_block(const Shape& shape, size_t axes, F&& f) {
  const size_t side = axes == 2 ? 8 : 4;
  std::array<size_t, 3> extents{1, 1, 1}, steps{}, edge{1, 1, 1};
  size_t size = 1;
  for (size_t k = 0; k < axes; ++k) {
    extents[2 - k] = size_t(shape[shape.rank() - 1 - k]);
    steps[2 - k] = size;
    edge[2 - k] = side;
    size *= extents[2 - k];
  }
  for (const bool whole : {true, false})
    for (size_t batch = 0; batch < size_t(shape.size()); batch += size)
      for (size_t i = 0; i < extents[0]; i += edge[0])
        for (size_t j = 0; j < extents[1]; j += edge[1])
          for (size_t k = 0; k < extents[2]; k += edge[2]) {
            const std::array cut{std::min(edge[0], extents[0] - i),
                                 std::min(edge[1], extents[1] - j),
                                 std::min(edge[2], extents[2] - k)};
            if ((cut == edge) == whole)
              f(Block{batch + i * steps[0] + j * steps[1] + k * steps[2], cut, steps});
          }
}

// Calls f(value in the field) for the values of a block, in row-major order.
template <class F>
void for_each_value(const Block& block, F&& f) {
  for (size_t i = 0; i < block.extents[0]; ++i)
    for (size_t j = 0; j < block.extents[1]; ++j)
      for (size_t k = 0; k < block.extents[2]; ++k)
        f(block.first + i * block.steps[0] + j * block.steps[1] + k * block.steps[2]);
}

// Differences along every axis of a small array, in place; back by sums.
template <class U>
void differences(U* values, const std::array<size_t, 3>& extents) {
  const size_t steps[3] = {extents[1] * extents[2], extents[2], 1};
  const size_t size = extents[0] * steps[0];
  for (size_t axis = 0; axis < 3; ++axis)
    for (size_t i = size; i-- > 0;)
      if (i / steps[axis] % extents[axis] > 0) values[i] -= values[i - steps[axis]];
}
template <class U>
void sums(U* values, const std::array<size_t, 3>& extents) {
  const size_t steps[3] = {extents[1] * extents[2], extents[2], 1};
  const size_t size = extents[0] * steps[0];
  for (size_t axis = 0; axis < 3; ++axis)
    for (size_t i = 0; i < size; ++i)
      if (i / steps[axis] % extents[axis] > 0) values[i] += values[i - steps[axis]];
}

template <class U>
void forward_typed(Field<U> field, size_t axes) {
  Buffer<U> codes(field.size());
  U* to = codes.data();
  for_each_block(field.shape, axes, [&](const Block& block) {
    U* const start = to;
    for_each_value(block, [&](size_t i) { *to++ = field.data[i]; });
    differences(start, block.extents);
  });
  std::ranges::copy(codes, field.data);
}
template <class U>
void backward_typed(Field<U> field, size_t axes) {
  Buffer<U> codes(field.size());
  std::ranges::copy(field.values(), codes.data());
  U* from = codes.data();
  for_each_block(field.shape, axes, [&](const Block& block) {
    sums(from, block.extents);
    for_each_value(block, [&](size_t i) { field.data[i] = *from++; });
  });
}

// Runs are rows of `size` values: what lorenzo does along one axis.
const Lorenzo kRuns{.params = {.order = 1, .axes = 1}};

Shape as_rows(const Shape& shape, size_t size) {
  return Shape{(size_t(shape.size()) + size - 1) / size, size};
}

template <class U>
void forward_any(const Blocks& blocks, Field<U> field) {
  if (!blocks.is_piecewise(field.shape))
    return forward_typed(field, std::min(field.shape.rank(), size_t(blocks.params.axes)));
  Buffer<U> values(field.size());
  std::ranges::copy(field.values(), values.data());
  blocks.forward_piece(field.shape, 0, 0, field.size(), values.data(), field.data);
}
template <class U>
void backward_any(const Blocks& blocks, Field<U> field) {
  if (!blocks.is_piecewise(field.shape))
    return backward_typed(field, std::min(field.shape.rank(), size_t(blocks.params.axes)));
  blocks.backward_piece(field.shape, 0, 0, field.size(), field.data);
}

}  // namespace

void Blocks::forward(Field<u32> field, Writer&) const { forward_any(*this, field); }
void Blocks::forward(Field<u64> field, Writer&) const { forward_any(*this, field); }
void Blocks::backward(Field<u32> field, Reader&) const { backward_any(*this, field); }
void Blocks::backward(Field<u64> field, Reader&) const { backward_any(*this, field); }
template <class U>
void Blocks::forward_piece(const Shape& shape, size_t, size_t first, size_t count, const U* values,
                           U* out) const {
  // As one run, then what each begins with.
  const auto size = size_t(params.size);
  kRuns.forward_piece(Shape{shape.size()}, 1, first, count, values, out);
  for (size_t i = (size - first % size) % size; i < count; i += size) out[i] = values[i];
}
template <class U>
void Blocks::backward_piece(const Shape& shape, size_t, size_t first, size_t count,
                            U* values) const {
  kRuns.backward_piece(as_rows(shape, size_t(params.size)), 1, first, count, values);
}

#define LEEWAY_BLOCKS_OF(U)                                                                      \
  template void Blocks::forward_piece(const Shape&, size_t, size_t, size_t, const U*, U*) const; \
  template void Blocks::backward_piece(const Shape&, size_t, size_t, size_t, U*) const;
LEEWAY_BLOCKS_OF(u16)
LEEWAY_BLOCKS_OF(u32)
LEEWAY_BLOCKS_OF(u64)

}  // namespace leeway
