// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/pyramid/polyphase.h"

#include <numeric>

#include "tests/support.h"

namespace leeway::test {
namespace {

template <class F>
void for_each_layout(F&& f) {
  for (const Shape& full : shapes()) {
    const Shape shape = full.squeezed();
    for (u32 active = 0; active < 1u << shape.rank(); ++active) {
      if (shape.rank() > 0 && active == 0) continue;
      if (size_t(std::popcount(active)) > kMaxActive) continue;
      for (const bool is_split : {true, false})
        f(shape, active, Polyphase(shape, active, is_split));
    }
  }
}

std::vector<i32> numbers(const Shape& shape) {
  std::vector<i32> values(size_t(shape.size()));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(Polyphase, ComesBack) {
  for_each_layout([](const Shape& shape, u32, const Polyphase& layout) {
    const auto values = numbers(shape);
    const Strides strides = contiguous_strides(shape, 1);
    std::vector<i32> storage(layout.size(), -1), back(values.size());
    layout.split(values.data(), strides, storage.data());
    layout.merge(storage.data(), back.data(), strides, 0);
    ASSERT_EQ(values, back) << to_string(shape);
  });
}

// Whether a point lies at one of the ends; a higher end on a cut has an even coordinate.
bool is_at(const Shape& shape, u32 active, u32 ends, const Index& index) {
  size_t k = 0;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    if (!(active >> axis & 1)) continue;
    if ((index[axis] == 0 && (ends >> 2 * k & 1)) ||
        (index[axis] + 1 == shape[axis] && shape[axis] % 2 && (ends >> 2 * k & 2)))
      return true;
    ++k;
  }
  return false;
}

TEST(Polyphase, EndsAreNotTouched) {
  for_each_layout([](const Shape& shape, u32 active, const Polyphase& layout) {
    if (!layout.is_split()) return;
    for (u32 ends : {0x5u, 0xau, 0x99u, 0xffu}) {
      size_t k = 0;
      for (size_t axis = 0; axis < shape.rank(); ++axis)
        if (active >> axis & 1) {
          if (shape[axis] % 2 == 0) ends &= ~(2u << 2 * k);
          ++k;
        }
      const auto values = numbers(shape);
      const Strides strides = contiguous_strides(shape, 1);
      std::vector<i32> storage(layout.size(), -1), back(values.size(), -7);
      layout.split(values.data(), strides, storage.data());
      layout.merge(storage.data(), back.data(), strides, ends);
      size_t i = 0;
      for_each_outer(shape, 0, [&](const Index& index) {
        ASSERT_EQ(back[i], is_at(shape, active, ends, index) ? -7 : values[i]) << to_string(shape);
        ++i;
      });
    }
  });
}

// Every value is in exactly one place, by the parity of its coordinates.
TEST(Polyphase, PartsHoldEveryValueOnce) {
  for_each_layout([](const Shape& shape, u32, const Polyphase& layout) {
    const auto values = numbers(shape);
    std::vector<i32> storage(layout.size(), -1);
    layout.split(values.data(), contiguous_strides(shape, 1), storage.data());
    std::vector<int> seen(values.size());
    const auto count = [&](size_t slice, const Part& part) {
      for (size_t row = 0; row < part.rows(); ++row)
        for (size_t x = 0; x < part.length(); ++x)
          ++seen.at(size_t(storage[slice + part.first + row * part.pitch + x]));
    };
    for (size_t slice = 0; slice < layout.size(); slice += layout.slice_size()) {
      count(slice, layout.grid());
      for (const Part& part : layout.classes()) count(slice, part);
    }
    for (const int n : seen) ASSERT_EQ(n, 1) << to_string(shape);
  });
}

// What a decoder needs of an array that is known in part: the grid, and the ends asked for.
TEST(Polyphase, KnownValuesComeAlone) {
  for_each_layout([](const Shape& shape, u32 active, const Polyphase& layout) {
    if (!layout.is_split()) return;
    const auto values = numbers(shape);
    const Strides strides = contiguous_strides(shape, 1);
    std::array<u64, kMaxRank> extents{};
    for (size_t axis = 0; axis < shape.rank(); ++axis)
      extents[axis] = active >> axis & 1 ? (shape[axis] + 1) / 2 : shape[axis];
    const Shape coarse(std::span<const u64>(extents).first(shape.rank()));
    std::vector<i32> grid;
    for_each_outer(coarse, 0, [&](const Index& index) {
      std::ptrdiff_t place = 0;
      for (size_t axis = 0; axis < shape.rank(); ++axis)
        place += std::ptrdiff_t(index[axis] << (active >> axis & 1)) * strides[axis];
      grid.push_back(values[size_t(place)]);
    });
    for (const u32 ends : {0u, 0x5u, 0xau, 0x99u, 0xffu}) {
      std::vector<i32> storage(layout.size(), -1), back(values.size());
      layout.split_ends(values.data(), strides, ends, storage.data());
      layout.put_grid(grid.data(), contiguous_strides(coarse, 1), storage.data());
      layout.merge(storage.data(), back.data(), strides, 0);
      size_t i = 0;
      for_each_outer(shape, 0, [&](const Index& index) {
        bool is_grid = true;
        for (size_t axis = 0; axis < shape.rank(); ++axis)
          is_grid = is_grid && (!(active >> axis & 1) || index[axis] % 2 == 0);
        const bool is_known = is_at(shape, active, ends, index);
        if (is_known || is_grid) ASSERT_EQ(back[i], values[i]) << to_string(shape);
        ++i;
      });
    }
  });
}

}  // namespace
}  // namespace leeway::test
