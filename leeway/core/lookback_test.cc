// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/core/lookback.h"

#include <gtest/gtest.h>

#include <random>

#include "leeway/core/parallel.h"

namespace leeway {
namespace {

TEST(Lookback, GivesTheSumOfAllBefore) {
  std::mt19937_64 random(8);
  std::vector<u64> sizes(3000), places(sizes.size());
  for (u64& size : sizes) size = random() % 10 ? random() % 100000 : 0;
  for (const unsigned threads : {1u, 2u, 7u}) {
    Lookback lookback(sizes.size());
    for_each_index(sizes.size(), threads, {}, [&](u64 i) {
      volatile u64 work = sizes[size_t(i)] % 1000;
      while (work > 0) work = work - 1;
      places[size_t(i)] = lookback.place(size_t(i), sizes[size_t(i)]).value();
    });
    u64 sum = 0;
    for (size_t i = 0; i < sizes.size(); sum += sizes[i++]) ASSERT_EQ(places[i], sum);
  }
}

TEST(Lookback, NobodyWaitsForAPartThatFailed) {
  Lookback lookback(3);
  lookback.place(0, 5);
  lookback.fail(1);
  EXPECT_FALSE(lookback.place(2, 7).has_value());
}

}  // namespace
}  // namespace leeway
