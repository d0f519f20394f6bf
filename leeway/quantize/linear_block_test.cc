// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <random>

#include "leeway/quantize/linear.h"

namespace leeway {
namespace {

// Blocks of an array, value by value.
template <class T>
struct Definition {
  const LinearGrid<T>& grid;
  const BlockWave<T>& block;

  T at(std::ptrdiff_t j, std::ptrdiff_t k, std::ptrdiff_t x) const {
    if ((j < 0 && !block.has_plane) || (k < 0 && !block.has_row) || (x < 0 && !block.has_column))
      return T(0);
    return block.x[j * block.plane_stride + k * block.row_stride + x];
  }
  T other_rows(std::ptrdiff_t j, std::ptrdiff_t k, std::ptrdiff_t x) const {
    return ((T(0) + at(j, k - 1, x)) + at(j - 1, k, x)) - at(j - 1, k - 1, x);
  }
  // Calls f(value, prediction, slot) until it says false.
  bool for_each(auto&& f) const {
    for (size_t j = 0; j < block.planes; ++j)
      for (size_t k = 0; k < block.rows; ++k)
        for (size_t i = 0; i < block.length; ++i) {
          const auto p = std::ptrdiff_t(j), r = std::ptrdiff_t(k), x = std::ptrdiff_t(i);
          const T predicted = at(p, r, x - 1) + (other_rows(p, r, x) - other_rows(p, r, x - 1));
          T& value = block.x[p * block.plane_stride + r * block.row_stride + x];
          if (!f(value, predicted, j * block.codes_in_plane + k * block.length + i)) return false;
        }
    return true;
  }
};

template <class T>
void check_blocks() {
  std::mt19937 random(7);
  const std::ptrdiff_t row = 20, plane = 12 * row;
  std::vector<T> array(size_t(9 * plane));
  bool any = false;
  for (int trial = 0; trial < 2000; ++trial) {
    const double scale = trial % 7 == 0 ? 1e3 : 1, step = trial % 2 ? 0.5 : 0.01;
    for (T& value : array) value = T(std::uniform_real_distribution<>(-scale, scale)(random));
    BlockWave<T> block;
    block.planes = 1 + random() % 7;
    block.rows = 1 + random() % kMostBlockRows;
    block.length = trial % 3 ? 6 : 1 + random() % kMostBlockLength;
    block.plane_stride = plane;
    block.row_stride = row;
    block.has_plane = random() % 2, block.has_row = random() % 2, block.has_column = random() % 2;
    block.codes_in_plane = block.rows * block.length + random() % 3;
    const std::ptrdiff_t first = plane + row + 1;
    if (trial % 11 == 0) array[size_t(first)] = std::numeric_limits<T>::quiet_NaN();
    const LinearGrid<T> grid(step);

    std::vector<T> values = array, expected = array;
    std::vector<Code<T>> codes(7 * block.codes_in_plane, 99), expected_codes = codes;
    block.x = expected.data() + first;
    double max_error = 0, expected_error = 0;
    const bool all = Definition<T>{grid, block}.for_each([&](T& value, T predicted, size_t slot) {
      const T original = value;
      if (!grid.quantize(value, predicted, expected_codes[slot])) return false;
      expected_error = std::max(expected_error, double(std::abs(original - value)));
      return true;
    });
    block.x = values.data() + first;
    if (!quantize_block(grid, block, codes.data(), max_error)) {
      EXPECT_EQ(std::memcmp(values.data(), array.data(), array.size() * sizeof(T)), 0);
      EXPECT_EQ(max_error, 0);
      continue;
    }
    any = true;
    ASSERT_TRUE(all) << trial;
    ASSERT_EQ(codes, expected_codes) << trial;
    ASSERT_EQ(std::memcmp(values.data(), expected.data(), array.size() * sizeof(T)), 0) << trial;
    ASSERT_EQ(max_error, expected_error);

    // From the values around it alone.
    std::vector<T> decoded = array;
    block.x = decoded.data() + first;
    ASSERT_TRUE(recover_block(grid, block, codes.data()));
    ASSERT_EQ(std::memcmp(decoded.data(), expected.data(), array.size() * sizeof(T)), 0) << trial;
    codes[0] = std::numeric_limits<Code<T>>::min();
    ASSERT_FALSE(recover_block(grid, block, codes.data()));
  }
  if (!any) GTEST_SKIP() << "no vectors of eight values on this machine";
}

TEST(LinearBlock, IsTheLoopValueByValueF32) { check_blocks<float>(); }
TEST(LinearBlock, IsTheLoopValueByValueF64) { check_blocks<double>(); }

}  // namespace
}  // namespace leeway
