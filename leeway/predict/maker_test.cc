// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/maker.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

// Settings that change an array from a level on, or nothing, and how they are asked.
struct Tried {
  int name = 0;
  bool changes = false;
  size_t from_level = 0;  // the finest level that shows the change
  u64 coded = 300;
  bool lossless = false;
  size_t first_level = 0;
  static constexpr u32 frozen_axes(const Shape&) { return 0; }
  static size_t level_of_first(const Shape&) { return 10; }
  static constexpr size_t learned_levels() { return 0; }
};

std::vector<int> asked;

Trial trial(const Tried& settings, const Sample&) {
  asked.push_back(settings.name);
  return {.coded = settings.coded,
          .unchanged = !settings.changes || settings.first_level > settings.from_level,
          .lossless = settings.lossless};
}

int found(const Shape& shape, const std::vector<Tried>& candidates) {
  asked.clear();
  const auto made_by = maker_of(shape, candidates, trial);
  return made_by ? made_by->name : 0;
}

// The finest level of a large array may be the only one that tells two candidates apart.
TEST(Maker, LeavesTheWholeArrayAsItIs) {
  const Tried coarse{.name = 1, .changes = true}, maker{.name = 2}, other{.name = 3};
  EXPECT_EQ(found({900, 900}, {coarse, maker, other}), 2);
  EXPECT_EQ(found({100, 100}, {coarse, maker, other}), 2);
}

TEST(Maker, MayHaveLittleToShow) {
  const Tried coarse{.name = 1, .changes = true}, quiet{.name = 2, .coded = 0};
  EXPECT_EQ(found({900, 900}, {coarse, quiet}), 2);
}

// Then it is what it looks like: part of the array may have been replaced.
TEST(Maker, IsTheFirstThatLooksLikeOneIfNoneIsSure) {
  const Tried not_at_all{.name = 1, .changes = true, .from_level = 20};
  const Tried coarse{.name = 2, .changes = true}, other{.name = 3, .changes = true};
  EXPECT_EQ(found({900, 900}, {not_at_all, coarse, other}), 2);
  EXPECT_EQ(found({900, 900}, {not_at_all, not_at_all}), 0);
  EXPECT_EQ(asked.size(), 2u);  // the first values told
}

TEST(Maker, IsNotSoughtWhereNothingCanChange) {
  EXPECT_EQ(found({900, 900}, {{.name = 1, .lossless = true}, {.name = 2}}), 1);
  EXPECT_EQ(asked.size(), 1u);
}

// Weights learned from all slices are not those of one slice.
TEST(Maker, LearnsFromAllSlices) {
  std::vector<Shape> samples;
  const auto ask = [&](size_t first_level, const Sample& sample) {
    samples.push_back(sample.shape);
    return Trial{.coded = 0, .unchanged = sample.shape[0] != 1 || first_level > 2};
  };
  const Shape shape{50, 8192};
  const Suspect suspect{.frozen = 1, .top = 13, .learned_levels = 3, .ask = ask};
  EXPECT_EQ(looks_made(shape, suspect), Made::unknown);
  EXPECT_TRUE(is_made(shape, suspect));
  EXPECT_EQ(samples.back(), shape);
  const Suspect plain{.frozen = 1, .top = 13, .learned_levels = 0, .ask = ask};
  EXPECT_EQ(looks_made(shape, plain), Made::no);
}

}  // namespace
}  // namespace leeway::test
