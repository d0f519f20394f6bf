// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/placement.h"

#include <algorithm>
#include <random>
#include <thread>

#include "leeway/base/parallel.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

// Part i: some bytes of value i, none at all now and then.
Bytes part_of(u64 i) { return Bytes(size_t(i * 37 % 101), u8(i)); }

Bytes all_parts(u64 count) {
  Bytes all;
  for (u64 i = 0; i < count; ++i) {
    const Bytes part = part_of(i);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

void put(Placement& placement, u64 i) {
  Writer part = placement.writer_for(i);
  part.put_bytes(part_of(i));
  placement.put(i, std::move(part));
}

TEST(Placement, PartsInAnyOrderFollowEachOther) {
  constexpr u64 kParts = 60, kStart = 5;
  const Bytes expected = all_parts(kParts);
  std::vector<u64> order(kParts);
  for (u64 i = 0; i < kParts; ++i) order[size_t(i)] = i;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::shuffle(order.begin(), order.end(), std::mt19937(seed));
    Bytes memory(kStart + expected.size() + 3, 0xee);
    Placement placement(memory, kStart, kParts);
    for (const u64 i : order) put(placement, i);
    placement.put_waiting();
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), memory.begin() + kStart)) << seed;
    EXPECT_EQ(memory[kStart - 1], 0xee);
    EXPECT_EQ(memory.back(), 0xee);
  }
}

TEST(Placement, SeveralThreadsPutParts) {
  constexpr u64 kParts = 2000;
  const Bytes expected = all_parts(kParts);
  Bytes memory(expected.size());
  Placement placement(memory, 0, kParts);
  for_each_index(kParts, 8, {}, [&](u64 i) { put(placement, i); });
  placement.put_waiting();
  EXPECT_EQ(memory, expected);
}

TEST(Placement, APartWhosePlaceIsKnownIsWrittenThere) {
  Bytes memory(100);
  Placement placement(memory, 10, 2);
  Writer first = placement.writer_for(0);
  first.put(u8(1));
  EXPECT_EQ(first.bytes().data(), memory.data() + 10);
  placement.put(0, std::move(first));
  Writer second = placement.writer_for(1);
  second.put(u8(2));
  EXPECT_EQ(second.bytes().data(), memory.data() + 11);
}

TEST(Placement, TooLittleMemoryIsAnError) {
  const Bytes expected = all_parts(10);
  for (const size_t lack : {size_t(1), expected.size() / 2, expected.size()}) {
    Bytes memory(expected.size() - lack);
    Placement placement(memory, 0, 10);
    try {
      for (u64 i = 0; i < 10; ++i) put(placement, i);
      ADD_FAILURE() << lack;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::too_small);
    }
  }
}

}  // namespace
}  // namespace leeway::test
