// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/base/shape.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "leeway/base/field.h"

namespace leeway {
namespace {

TEST(Shape, SqueezesAndPrints) {
  EXPECT_EQ(Shape({1, 5, 1, 3}).squeezed(), Shape({5, 3}));
  EXPECT_EQ(Shape({1, 1}).squeezed(), Shape());
  EXPECT_EQ(to_string(Shape{2, 3}), "2x3");
  EXPECT_EQ(Shape().size(), 1u);
  EXPECT_EQ(Shape({3, 0}).size(), 0u);
}

TEST(Shape, RefusesTheImpossible) {
  EXPECT_THROW(Shape({1, 1, 1, 1, 1, 1, 1, 1, 1}), Error);
  EXPECT_THROW(Shape({u64(1) << 40, u64(1) << 40}), Error);
  EXPECT_THROW(Shape({~u64(0)}), Error);
  EXPECT_THROW(Shape({u64(1) << 40, 0, u64(1) << 40}), Error);
}

TEST(Shape, OuterIndicesAreRowMajor) {
  std::vector<u64> seen;
  for_each_outer(Shape{2, 3, 9}, 1, [&](const Index& i) { seen.push_back(i[0] * 10 + i[1]); });
  EXPECT_EQ(seen, (std::vector<u64>{0, 1, 2, 10, 11, 12}));
}

TEST(Field, GatherAndCopyFollowStrides) {
  int data[24];
  for (int i = 0; i < 24; ++i) data[i] = i;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const View transposed(bytes, DType::i32, Shape{6, 4}, Strides{4, 24});
  int gathered[24];
  gather(transposed, gathered);
  EXPECT_EQ(gathered[1], 6);
  EXPECT_EQ(gathered[4], 1);
  int back[24] = {};
  copy(view_of(gathered, Shape{6, 4}),
       MutableView(reinterpret_cast<std::byte*>(back), DType::i32, Shape{6, 4}, Strides{4, 24}));
  EXPECT_TRUE(std::equal(data, data + 24, back));
}

TEST(Field, ContiguousAxesAreOneRow) {
  float data[60];
  size_t rows = 0;
  for_each_row(view_of(data, Shape{3, 4, 5}), [&](const std::byte*, size_t count, std::ptrdiff_t) {
    ++rows;
    EXPECT_EQ(count, 60u);
  });
  EXPECT_EQ(rows, 1u);
}

}  // namespace
}  // namespace leeway
