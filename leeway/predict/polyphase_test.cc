// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/polyphase.h"

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
      for (const bool with_levels : {true, false}) f(shape, Polyphase(shape, active, with_levels));
    }
  }
}

TEST(Polyphase, ComesBack) {
  for_each_layout([](const Shape& shape, const Polyphase& layout) {
    std::vector<i32> values(size_t(shape.size())), storage(layout.size(), -1), back(values.size());
    std::iota(values.begin(), values.end(), 0);
    layout.split(values.data(), layout.natural_strides(), storage.data());
    layout.merge(storage.data(), back.data());
    ASSERT_EQ(values, back) << to_string(shape);
  });
}

// Every value is in exactly one place: the top or a class; grids are copies.
TEST(Polyphase, PartsHoldEveryValueOnce) {
  for_each_layout([](const Shape& shape, const Polyphase& layout) {
    std::vector<i32> values(size_t(shape.size())), storage(layout.size(), -1);
    std::iota(values.begin(), values.end(), 0);
    layout.split(values.data(), layout.natural_strides(), storage.data());
    std::vector<int> seen(values.size());
    const auto count = [&](size_t slice, const Part& part) {
      for (size_t row = 0; row < part.rows(); ++row)
        for (size_t x = 0; x < part.length(); ++x)
          ++seen.at(size_t(storage[slice + part.first + row * part.pitch + x]));
    };
    for (size_t slice = 0; slice < layout.size(); slice += layout.slice_size()) {
      count(slice, layout.top());
      for (const Level& level : layout.levels())
        for (const Part& part : level.classes) count(slice, part);
    }
    for (const int n : seen) ASSERT_EQ(n, 1) << to_string(shape);
  });
}

TEST(Polyphase, GridsAreMergedFromTheLevelBelow) {
  const Shape shape{13, 10, 17};
  const Polyphase layout(shape, 7, true);
  std::vector<float> values(size_t(shape.size())), storage(layout.size());
  std::iota(values.begin(), values.end(), 0.0f);
  layout.split(values.data(), layout.natural_strides(), storage.data());
  const auto before = storage;
  for (size_t l = layout.levels().size() - 1; l-- > 0;) {
    const Part& grid = layout.levels()[l].grid;
    std::fill_n(storage.begin() + std::ptrdiff_t(grid.first), grid.rows() * grid.pitch - 2 * kPad,
                -1.0f);
    layout.merge_grid(l, storage.data());
    for (size_t row = 0; row < grid.rows(); ++row)
      for (size_t x = 0; x < grid.length(); ++x)
        ASSERT_EQ(storage[grid.first + row * grid.pitch + x],
                  before[grid.first + row * grid.pitch + x]);
  }
}

}  // namespace
}  // namespace leeway::test
