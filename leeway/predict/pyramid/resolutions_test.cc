// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/pyramid/resolutions.h"

#include <algorithm>
#include <numeric>

#include "tests/support.h"

namespace leeway::test {
namespace {

// Calls f(tiles, a number for every value) for arrays with and without cuts and frozen axes.
template <class F>
void for_each_array(F&& f) {
  for (const Shape& shape :
       {Shape{}, Shape{1}, Shape{700}, Shape{40, 57}, Shape{3, 48, 49}, Shape{9, 9, 9, 9}})
    for (u32 active = 0; active < 1u << shape.rank(); ++active)
      for (const size_t size : {0, 6, 9}) {
        std::vector<i32> values(size_t(shape.size()));
        std::iota(values.begin(), values.end(), 0);
        f(Tiles(shape, active, size, 0), shape, values);
      }
}

// The value of the array that stands first in a step's box.
i32 first_of(const TileStep& step, const Shape& shape) {
  const Strides strides = contiguous_strides(shape, 1);
  i32 place = 0;
  for (size_t axis = 0; axis < shape.rank(); ++axis)
    place += i32(step.first[axis]) * i32(strides[axis]);
  return place;
}

TEST(Resolutions, CoarserLevelsHoldWhatTheirStepsBeginWith) {
  for_each_array([](const Tiles& tiles, const Shape& shape, std::vector<i32>& values) {
    Resolutions<i32> all(values.data(), tiles);
    all.coarsen();
    for (const TileSegment& segment : tiles.segments)
      for (const TileStep& step : segment.steps) {
        ASSERT_EQ(*all.place(step, step.level).data, first_of(step, shape));
        if (!step.is_top) ASSERT_EQ(*all.place(step, step.level + 1).data, first_of(step, shape));
      }
  });
}

TEST(Resolutions, ACoarseOneGoesToItsPlacesInTheFinest) {
  for_each_array([](const Tiles& tiles, const Shape& shape, std::vector<i32>& values) {
    const std::vector<i32> before = values;
    Resolutions<i32> all(values.data(), tiles);
    all.coarsen();
    for (size_t level = 1; level < tiles.shapes.size(); ++level) {
      std::ranges::fill(values, -1);
      all.refine(level);
      size_t i = 0;
      for_each_outer(shape, 0, [&](const Index& index) {
        bool is_there = true;
        for (size_t axis = 0; axis < shape.rank(); ++axis)
          is_there =
              is_there && (!(tiles.active >> axis & 1) || index[axis] % (u64(1) << level) == 0);
        ASSERT_EQ(values[i], is_there ? before[i] : -1);
        ++i;
      });
    }
  });
}

TEST(Resolutions, CornersAreWhereAllCutsMeet) {
  const Shape shape{3, 48, 49};
  const Tiles tiles(shape, 6, 6, 0);
  ASSERT_FALSE(tiles.corners.empty());
  std::vector<i32> values(size_t(shape.size()));
  std::iota(values.begin(), values.end(), 0);
  Resolutions<i32> all(values.data(), tiles);
  all.coarsen();
  std::ranges::fill(values, -1);
  all.put_corners();
  size_t found = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0) continue;
    ASSERT_EQ(values[i], i32(i));
    ++found;
  }
  EXPECT_EQ(found, 3 * tiles.corners.size());
}

}  // namespace
}  // namespace leeway::test
