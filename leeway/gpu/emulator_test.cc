// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/gpu/emulator.h"

#include <gtest/gtest.h>

#include "leeway/base/error.h"
#include "leeway/base/hash.h"
#include "leeway/gpu/look_back.h"
#include "leeway/gpu/xxh3.h"

namespace leeway::gpu::emulator {
namespace {

struct Four {
  Cell<u32> values[kThreads];
};

// What the emulator complains of; "" if of nothing.
template <class F>
std::string complaint(std::vector<Region> regions, const F& kernel, unsigned ctas = 2) {
  try {
    run({ctas, kThreads, sizeof(Four), std::move(regions)}, {},
        [&](void* memory) { kernel(*static_cast<Four*>(memory)); });
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}
bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST(Emulator, RunsWhatIsRight) {
  std::vector<u64> sums(2 * kThreads);
  EXPECT_EQ(complaint({{"sums", sums.data(), 8 * sums.size(), true, false}},
                      [&](Four& s) {
                        s.values[thread()] = thread();
                        barrier();
                        const u64 other = s.values[(thread() + 100) % kThreads];
                        store(&sums[cta() * kThreads + thread()], tile_sum(other));
                      }),
            "");
  for (u32 i = 0; i < 2 * kThreads; ++i) {
    u64 expected = 0;
    for (u32 k = 0; k < kTile; ++k) expected += (i % kThreads / kTile * kTile + k + 100) % kThreads;
    ASSERT_EQ(sums[i], expected) << i;
  }
}

TEST(Emulator, FindsRaces) {
  EXPECT_TRUE(says(complaint({},
                             [](Four& s) {
                               s.values[0] = 1;
                               tile_sync();
                               barrier();
                             }),
                   "two threads write"));
  // Ordered inside of a tile, not between tiles.
  EXPECT_EQ(complaint({},
                      [](Four& s) {
                        s.values[thread()] = 1;
                        tile_sync();
                        (void)u32(s.values[thread() ^ 1]);
                      }),
            "");
  EXPECT_TRUE(says(complaint({},
                             [](Four& s) {
                               s.values[thread()] = 1;
                               barrier();
                               (void)u32(s.values[thread() ^ 32]);
                               tile_sync();
                               s.values[thread()] = 2;
                             }),
                   "race"));
}

TEST(Emulator, FindsWhatNobodyHasWritten) {
  EXPECT_TRUE(says(complaint({}, [](Four& s) { (void)u32(s.values[3]); }), "nobody has written"));
  u32 number = 7;
  const auto reads = [&](Four&) { (void)load(&number); };
  EXPECT_TRUE(says(complaint({{"number", &number, 4, true, false}}, reads), "nobody has written"));
  EXPECT_EQ(complaint({{"number", &number, 4, true, true}}, reads), "");
}

TEST(Emulator, FindsAccessesOutsideAndMisaligned) {
  alignas(16) u32 numbers[8] = {};
  const std::vector<Region> regions{{"numbers", numbers, 16, false, true}};
  EXPECT_TRUE(says(complaint(regions, [&](Four&) { (void)load(numbers + 4); }), "outside"));
  EXPECT_TRUE(says(complaint(regions, [&](Four&) { store(numbers, 1u); }), "only read"));
  EXPECT_TRUE(says(
      complaint(regions, [&](Four&) { (void)load(reinterpret_cast<const u64*>(numbers + 1)); }),
      "misaligned"));
  EXPECT_TRUE(says(complaint({}, [](Four& s) { std::begin(s.values)[kThreads] = 1; }), "outside of shared"));
}

TEST(Emulator, FindsOperationsThatOnlySomeReach) {
  EXPECT_TRUE(says(complaint({},
                             [](Four&) {
                               if (thread() < 40) barrier();
                             }),
                   "nothing goes on"));
  EXPECT_TRUE(says(complaint({}, [](Four&) { lane() < 5 ? tile_sync() : (void)ballot(true); }),
                   "different operations"));
}

// Sums beyond 32 bits, in any order of CTAs.
TEST(LookBack, FindsPlacesInAnyOrder) {
  constexpr u32 kChunks = 100;
  constexpr u64 kBytes = (u64(1) << 32) + 48;
  for (u64 seed = 1; seed <= 12; ++seed) {
    std::vector<u64> states(kChunks), places(kChunks);
    u32 ticket = 0;
    Options options;
    options.seed = seed;
    options.resident = 1 + unsigned(seed * 7 % 20);
    options.adversary = Adversary(seed % 4);
    run({kChunks,
         kTile,
         16,
         {{"states", states.data(), 8 * kChunks, true, true},
          {"places", places.data(), 8 * kChunks, true, false},
          {"ticket", &ticket, 4, true, true}}},
        options, [&](void*) {
          const u32 chunk = shuffle(lane() == 0 ? take_ticket(&ticket) : 0, 0);
          const u64 before = look_back(states.data(), chunk, kBytes + chunk);
          if (lane() == 0) store(&places[chunk], before);
        });
    for (u64 i = 0; i < kChunks; ++i) ASSERT_EQ(places[i], i * kBytes + i * (i - 1) / 2) << seed;
  }
}

TEST(Xxh3, IsThatOfTheLibrary) {
  alignas(16) static u8 bytes[300000];
  for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = u8(i * 2654435761u >> 13);
  for (const u64 size : {0u,   4u,   5u,    8u,    9u,    16u,     17u,     32u,     33u,
                         64u,  65u,  96u,   97u,   128u,  129u,    140u,    239u,    240u,
                         241u, 256u, 1024u, 1025u, 1088u, 131072u, 131073u, 132096u, 299991u}) {
    u64 found = 0;
    run({1,
         kThreads,
         sizeof(HashShared),
         {{"bytes", bytes, sizeof bytes, false, true}, {"found", &found, 8, true, false}}},
        {}, [&](void* memory) {
          const u64 hash = hash_of_memory(*static_cast<HashShared*>(memory), bytes, size);
          if (thread() == 0) store(&found, hash);
        });
    EXPECT_EQ(found, hash_of(std::span<const leeway::u8>(bytes, size))) << size;
  }
}

}  // namespace
}  // namespace leeway::gpu::emulator
