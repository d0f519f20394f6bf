// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/pyramid/stencil.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace leeway::test {
namespace {

TEST(Stencil, TapsAreKnownBeforeTheRow) {
  for (const u32 active : {7u, 6u, 3u}) {
    const Polyphase layout(Shape{20, 21, 22}, active, true);
    std::vector<u32> before{0};
    for (const Part& part : layout.classes()) {
      for (const Tap& tap : taps_near(layout, part, 64)) {
        const bool earlier_slice = layout.slices().rank() > 0 && tap.back[0] < 0;
        const bool earlier_part = std::ranges::find(before, tap.odd) != before.end();
        bool earlier_row = false;
        for (size_t axis = 0; axis + 1 < layout.rank(); ++axis)
          if (tap.shift[axis] != 0) {
            earlier_row = tap.shift[axis] < 0;
            break;
          }
        ASSERT_TRUE(earlier_slice || (tap.odd == part.odd ? earlier_row : earlier_part));
        for (size_t axis = 0; axis < layout.rank(); ++axis) ASSERT_LE(std::abs(tap.shift[axis]), 2);
      }
      before.push_back(part.odd);
    }
  }
}

TEST(Stencil, TheNearestComeFirst) {
  const Polyphase layout(Shape{64}, 1, true);
  const std::vector<Tap> taps = taps_near(layout, layout.classes()[0], 4);
  ASSERT_EQ(taps.size(), 4u);  // all of the grid: at -1, 1, -3, 3
  EXPECT_EQ(taps[0].shift[0], 0);
  EXPECT_EQ(taps[1].shift[0], 1);
  EXPECT_EQ(taps[2].shift[0], -1);
  EXPECT_EQ(taps[3].shift[0], 2);
}

TEST(Stencil, WithoutLevelsTapsAreTimeLags) {
  const Polyphase layout(Shape{50, 1000}, 2, false);
  for (const Tap& tap : taps_near(layout, layout.grid(), 20)) EXPECT_LT(tap.back[0], 0);
}

}  // namespace
}  // namespace leeway::test
