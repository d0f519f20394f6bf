// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/trials.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Trials, SamplesLieInTheMiddle) {
  for (const Shape& shape : shapes()) {
    const Sample all = middle_sample(shape, shape.size());
    EXPECT_EQ(all.shape, shape);
    const Sample part = middle_sample(shape, 20);
    EXPECT_LE(part.shape.size(), std::max<u64>(20, 1));
    EXPECT_TRUE(contains(shape, {part.first, part.shape}));
  }
  const Sample rows = middle_sample({1000, 1000}, 100);
  EXPECT_EQ(rows.shape, Shape({4, 16}));
  EXPECT_EQ(rows.first[0], 498u);
  EXPECT_EQ(rows.first[1], 492u);
}

}  // namespace
}  // namespace leeway::test
