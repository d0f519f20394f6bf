// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cfloat>
#include <stdexcept>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace leeway {
namespace {

TEST(Parallel, EveryIndexOnce) {
  for (const unsigned threads : {1u, 2u, 5u}) {
    std::vector<std::atomic<int>> seen(1000);
    for_each_index(1000, threads, nullptr, [&](u64 i) { ++seen[i]; });
    for (const auto& count : seen) EXPECT_EQ(count, 1);
  }
}

TEST(Parallel, FinishesInOrderWithinTheWindow) {
  for (const unsigned threads : {1u, 2u, 7u})
    for (const u64 window : {1u, 2u, 14u}) {
      std::atomic<u64> made = 0;
      u64 finished = 0;
      for_each_in_order(
          200, threads, window, nullptr,
          [&](u64 i) {
            if (i % 17 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
            ++made;
          },
          [&](u64 i) {
            EXPECT_EQ(i, finished++);
            EXPECT_LE(made, i + window + 1);
          });
      EXPECT_EQ(finished, 200u);
    }
}

TEST(Parallel, TheFirstExceptionComesOut) {
  for (const unsigned threads : {1u, 4u}) {
    EXPECT_THROW(for_each_index(100, threads, nullptr,
                                [](u64 i) {
                                  if (i == 50) throw std::runtime_error("x");
                                }),
                 std::runtime_error);
    EXPECT_THROW(for_each_in_order(
                     100, threads, 3, nullptr,
                     [](u64 i) {
                       if (i == 50) throw std::runtime_error("x");
                     },
                     [](u64) {}),
                 std::runtime_error);
    EXPECT_THROW(for_each_in_order(
                     100, threads, 3, nullptr, [](u64) {},
                     [](u64 i) {
                       if (i == 50) throw std::runtime_error("x");
                     }),
                 std::runtime_error);
  }
}

#if defined(__SSE2__)
TEST(Parallel, WorkRunsWithDefaultFloatingPoint) {
  const unsigned saved = _mm_getcsr();
  _mm_setcsr(saved | 0x8040);  // the host flushes denormals
  volatile float tiny = FLT_MIN;
  float half = 0;
  for_each_index(1, 1, nullptr, [&](u64) { half = tiny * 0.5f; });
  EXPECT_EQ(_mm_getcsr() & 0x8040, 0x8040u);
  _mm_setcsr(saved);
  EXPECT_GT(half, 0.0f);
}
#endif

// Fewer pieces of work than threads: each piece may use some of the rest.
TEST(Parallel, ThreadsLeftOverAreShared) {
  EXPECT_EQ(threads_to_share(), 1u);
  for_each_index(1, 4, {}, [](u64) {
    EXPECT_EQ(threads_to_share(), 4u);
    for_each_index(2, threads_to_share(), {}, [](u64) { EXPECT_EQ(threads_to_share(), 2u); });
    for_each_index(9, threads_to_share(), {}, [](u64) { EXPECT_EQ(threads_to_share(), 1u); });
    EXPECT_EQ(threads_to_share(), 4u);
  });
  const Executor host = [](unsigned workers, const std::function<void(unsigned)>& work) {
    for (unsigned i = 0; i < workers; ++i) work(i);
  };
  for_each_index(2, 8, host, [](u64) { EXPECT_EQ(threads_to_share(), 1u); });
  EXPECT_EQ(threads_to_share(), 1u);
}

}  // namespace
}  // namespace leeway
