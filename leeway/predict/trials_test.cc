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

// What the settings would change anywhere in a small array is found; in a large one what is visited
// first decides.
TEST(Trials, AskUntilSomethingChangesOrEnoughIsSeen) {
  size_t asked = 0;
  const auto answer = [&](bool unchanged, u64 coded) {
    return [&asked, unchanged, coded](size_t, const Sample&) {
      ++asked;
      return Trial{.cost = 0, .coded = coded, .unchanged = unchanged};
    };
  };
  EXPECT_FALSE(looks_made({100, 100}, 0, 7, answer(false, 1000)));
  EXPECT_EQ(asked, 1u);
  EXPECT_TRUE(looks_made({100, 100}, 0, 7, answer(true, 0)));    // up to the whole
  EXPECT_TRUE(looks_made({900, 900}, 0, 7, answer(true, 300)));  // enough codes
  EXPECT_FALSE(looks_made({900, 900}, 0, 7, answer(true, 10)));  // nobody knows
}

}  // namespace
}  // namespace leeway::test
