// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/base/buffer.h"

#include <thread>

#include "leeway/base/kept.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Buffer, MovesAndOwnsItsMemory) {
  Buffer<u32> a(1000);
  for (size_t i = 0; i < a.size(); ++i) a[i] = u32(i);
  const u32* const data = a.data();
  Buffer<u32> b(std::move(a));
  EXPECT_EQ(b.data(), data);
  EXPECT_TRUE(a.empty());
  Buffer<u32> c;
  EXPECT_TRUE(c.empty());
  c = std::move(b);
  EXPECT_EQ(c[999], 999u);
  EXPECT_EQ(c.end() - c.begin(), 1000);
}

TEST(Buffer, LargeOnesBeginWithALineOfTheCaches) {
  for (const size_t bytes : {size_t(4) << 10, size_t(70001), size_t(3) << 20})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(Buffer<u8>(bytes).data()) % 64, 0u) << bytes;
}

TEST(BufferPool, BlocksAreUsedAgain) {
  BufferPool pool;
  const BufferPool::Use use(pool);
  const void* const first = Buffer<u8>(100000).data();
  EXPECT_EQ(Buffer<u8>(100000).data(), first);
  EXPECT_EQ(Buffer<u8>(60000).data(), first);  // not less than half
  EXPECT_NE(Buffer<u8>(1000000).data(), first);
}

TEST(BufferPool, TrimGivesLargeBlocksBack) {
  BufferPool pool;
  const BufferPool::Use use(pool);
  struct Large {
    size_t size = 2 * kMostKept;
    size_t bytes() const { return size; }
  };
  struct Small {
    size_t bytes() const { return 10; }
  };
  const auto large = keep<Large>();
  const auto small = keep<Small>();
  EXPECT_EQ(keep<Large>(), large);
  pool.trim();
  EXPECT_NE(keep<Large>(), large);
  EXPECT_EQ(keep<Small>(), small);
}

TEST(BufferPool, ObjectsAreKeptByThePoolOfTheThread) {
  struct Counter {
    int count = 0;
  };
  EXPECT_NE(keep<Counter>(), keep<Counter>());  // no pool: fresh ones
  BufferPool outer, inner;
  const BufferPool::Use use(outer);
  ++keep<Counter>()->count;
  {
    const BufferPool::Use other(inner);
    EXPECT_EQ(keep<Counter>()->count, 0);
  }
  EXPECT_EQ(keep<Counter>()->count, 1);
  std::thread([] { EXPECT_EQ(keep<Counter>()->count, 0); }).join();
}

TEST(BufferPool, ATableOfBlocksNeverGrows) {
  BufferPool::Blocks<3> blocks;
  std::array<char, 4> memory;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(blocks.is_full());
    blocks.add({&memory[i], 100 * (i + 1)});
  }
  EXPECT_TRUE(blocks.is_full());
  EXPECT_EQ(blocks.take(400).data, nullptr);
  EXPECT_EQ(blocks.take(40).data, nullptr);  // all are much larger
  EXPECT_EQ(blocks.take(150).data, &memory[1]);
  EXPECT_EQ(blocks.take(150).data, &memory[2]);
  EXPECT_EQ(blocks.take(150).data, nullptr);
  EXPECT_EQ(blocks.end() - blocks.begin(), 1);
}

}  // namespace
}  // namespace leeway::test
