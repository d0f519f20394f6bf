// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/pyramid/tiles.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

// Where a value of the step's box is in the array.
size_t place_of(const TileStep& step, const Shape& shape, const Index& index) {
  const Strides strides = contiguous_strides(shape, 1);
  size_t place = 0;
  for (size_t axis = 0; axis < shape.rank(); ++axis)
    place += size_t(step.first[axis]) * size_t(strides[axis]);
  for (size_t k = 0; k < step.shape.rank(); ++k)
    place +=
        size_t(index[k] << (step.active >> k & 1 ? step.level : 0)) * size_t(strides[step.axes[k]]);
  return place;
}

// Calls f(place in the array) for all values that a step visits.
template <class F>
void for_each_visited(const TileStep& step, const Shape& shape, F&& f) {
  for_each_outer(step.shape, 0, [&](const Index& index) {
    bool is_known = !step.is_top, is_end = false;
    for (size_t axis = 0, k = 0; axis < step.shape.rank(); ++axis) {
      if (!(step.active >> axis & 1)) continue;
      is_known = is_known && index[axis] % 2 == 0;
      is_end = is_end || (step.ends >> 2 * k & 1 && index[axis] == 0) ||
               (step.ends >> 2 * k & 2 && index[axis] + 1 == step.shape[axis]);
      ++k;
    }
    if (!is_known && !is_end) f(place_of(step, shape, index));
  });
}

const Shape kShapes[] = {
    Shape{},       Shape{1},          Shape{5},         Shape{1000},       Shape{40, 57},
    Shape{7, 130}, Shape{24, 25, 26}, Shape{3, 48, 49}, Shape{9, 9, 9, 9}, Shape{2, 3, 17, 18, 5}};

TEST(Tiles, EveryValueIsVisitedOnce) {
  for (const Shape& shape : kShapes)
    for (u32 active = 0; active < 1u << shape.rank(); ++active) {
      if (size_t(std::popcount(active)) > kMaxActive) continue;
      for (const size_t size : {0, 6, 9, 12}) {
        const Tiles tiles(shape, active, size, 0);
        std::vector<int> visits(size_t(shape.size()));
        for (const TileSegment& segment : tiles.segments) {
          size_t count = 0;
          for (const TileStep& step : segment.steps) {
            const size_t before = count;
            for_each_visited(step, shape, [&](size_t place) {
              ++visits.at(place);
              ++count;
            });
            ASSERT_EQ(count - before, step.count);
            ASSERT_LT(step.memory, std::max<size_t>(tiles.memories, 1));
          }
          ASSERT_EQ(count, segment.count);
        }
        for (const int n : visits) ASSERT_EQ(n, 1) << to_string(shape) << " " << active;
      }
    }
}

// What a tile reads, its box and the ends of it, is made by segments before it that are always
// decoded, or by itself.
TEST(Tiles, TilesNeedNoOtherTiles) {
  const Shape shape{70, 80, 130};
  const Tiles tiles(shape, 7, 15, 0);
  std::vector<int> maker(size_t(shape.size()), -1);  // the number of the tile, 0: of all
  std::map<std::vector<u64>, int> numbers;
  for (const TileSegment& segment : tiles.segments) {
    int number = 0;
    if (segment.box) {
      std::vector<u64> key(segment.box->first.begin(), segment.box->first.end());
      number = numbers.emplace(key, int(numbers.size()) + 1).first->second;
    }
    for (const TileStep& step : segment.steps) {
      for_each_visited(step, shape, [&](size_t place) { maker[place] = number; });
      for_each_outer(step.shape, 0, [&](const Index& index) {
        const size_t place = place_of(step, shape, index);
        ASSERT_NE(maker[place], -1);
        ASSERT_TRUE(maker[place] == 0 || maker[place] == number);
      });
    }
  }
  EXPECT_EQ(numbers.size(), 2u * 3 * 4);  // of 32 and more, none shorter than 16
}

// Coarser levels alone have the same cuts, so that trials on them see what will be.
TEST(Tiles, CoarserLevelsHaveTheSameCuts) {
  for (u64 n = 900; n < 1000; n += 7) {
    const Tiles whole(Shape{n, n}, 3, 16, 0), half(Shape{(n + 1) / 2, (n + 1) / 2}, 3, 16, 1);
    const auto shapes = [](const Tiles& tiles, size_t level) {
      std::vector<std::string> found;
      for (const TileSegment& segment : tiles.segments)
        for (const TileStep& step : segment.steps)
          if (step.level == level && !step.is_top) found.push_back(to_string(step.shape));
      return found;
    };
    ASSERT_EQ(shapes(whole, 1), shapes(half, 0));
    ASSERT_EQ(shapes(whole, 2), shapes(half, 1));
  }
}

}  // namespace
}  // namespace leeway::test
