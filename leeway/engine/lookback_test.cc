// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/lookback.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "leeway/base/parallel.h"

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
      lookback.publish(size_t(i), sizes[size_t(i)]);
      std::optional<u64> place;
      while (!(place = lookback.find(size_t(i)))) std::this_thread::yield();
      places[size_t(i)] = *place;
    });
    u64 sum = 0;
    for (size_t i = 0; i < sizes.size(); sum += sizes[i++]) ASSERT_EQ(places[i], sum);
  }
}

TEST(Lookback, WhatIsNotKnownIsNotGuessed) {
  Lookback lookback(4);
  lookback.publish(0, 5);
  lookback.publish(2, 7);
  EXPECT_EQ(lookback.find(0), 0u);
  EXPECT_FALSE(lookback.find(2).has_value());
  lookback.publish(1, 0);
  EXPECT_EQ(lookback.find(2), 5u);
  EXPECT_EQ(lookback.find(2), 5u);  // again
  lookback.publish(3, 1);
  EXPECT_EQ(lookback.find(3), 12u);
}

}  // namespace
}  // namespace leeway
