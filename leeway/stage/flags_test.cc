// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stage/flags.h"

#include <algorithm>

#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Flags, AFewBoundsAreKeptAsTheyAre) {
  const std::vector<double> each = {3, 1, 2, 0, 3, 1};
  const BoundClasses classes = BoundClasses::of({3, each});
  EXPECT_EQ(classes.bounds, (std::vector<double>{2, 1, 0}));
  EXPECT_EQ(classes.of_value, (std::vector<u8>{0, 2, 1, 3, 0, 2}));
  EXPECT_EQ(classes.flags({}), (std::vector<u8>{0, 4, 2, 6, 0, 4}));
  const std::vector<u8> special = {0, 1, 0, 0, 1, 0};
  EXPECT_EQ(classes.flags(special), (std::vector<u8>{0, 5, 2, 6, 1, 4}));
  Writer out;
  classes.write(out);
  Reader in(out.bytes());
  const BoundClasses read = BoundClasses::read(in, 3, each.size());
  in.expect_end();
  EXPECT_EQ(read.bounds, classes.bounds);
  EXPECT_EQ(read.of_value, classes.of_value);
}

TEST(Flags, ManyBoundsAreRoundedDown) {
  std::mt19937 random(3);
  std::vector<double> each(1000);
  for (double& e : each) e = std::exp2(-double(random() % 4000) / 17);
  each[7] = 0;
  const double most = std::ranges::max(each);
  const BoundClasses classes = BoundClasses::of({most, each});
  EXPECT_LE(classes.bounds.size(), 121u);
  for (size_t i = 0; i < each.size(); ++i) {
    const u8 number = classes.of_value[i];
    const double bound = number ? classes.bounds[number - 1u] : most;
    EXPECT_LE(bound, each[i]);
    if (each[i] > most * 0x1p-119) EXPECT_GT(2 * bound, each[i]);
  }
}

TEST(Flags, OneBoundNeedsNoClasses) {
  EXPECT_TRUE(BoundClasses::of(3.0).of_value.empty());
  const std::vector<double> each(10, 3.0);
  EXPECT_TRUE(BoundClasses::of({3.0, each}).of_value.empty());
}

TEST(Flags, RefusesWhatIsWrong) {
  const auto read = [](std::vector<double> bounds, std::vector<u8> of_value) {
    Writer out;
    BoundClasses{std::move(bounds), std::move(of_value)}.write(out);
    Reader in(out.bytes());
    BoundClasses::read(in, 1, 3);
  };
  EXPECT_NO_THROW(read({0.5, 0}, {0, 1, 2}));
  EXPECT_THROW(read({0.5, 1}, {0, 1, 2}), Error);
  EXPECT_THROW(read({0.5, -1}, {0, 1, 2}), Error);
  EXPECT_THROW(read({0.5, std::nan("")}, {0, 1, 2}), Error);
  EXPECT_THROW(read({0.5}, {0, 1, 2}), Error);
  EXPECT_THROW(read({0.5}, {0, 1}), Error);
  EXPECT_THROW(read(std::vector<double>(122, 0.5), {0, 1, 2}), Error);
}

}  // namespace
}  // namespace leeway::test
