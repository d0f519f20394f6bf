// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/parts/frequencies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace leeway::test {
namespace {

using Histogram = std::array<u32, 256>;

u32 sum_of(const Frequencies& table) {
  return std::accumulate(table.of.begin(), table.of.end(), 0u);
}

TEST(Frequencies, AddUpLeaveNoTokenOutAndComeBack) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    Histogram counts{};
    const size_t tokens = 1 + random() % 256;
    for (size_t i = 0; i < tokens; ++i)
      counts[random() % tokens] = u32(random() >> (random() % 64));
    if (std::ranges::all_of(counts, [](u32 n) { return n == 0; })) counts[random() % 256] = 1;
    const int mantissa = 1 + round % 2;
    const Frequencies table = approximate(counts, mantissa);
    ASSERT_EQ(sum_of(table), kFrequencySum);
    for (size_t t = 0; t < 256; ++t) {
      if (counts[t] > 0) ASSERT_GT(table.of[t], 0) << t;
    }
    BitWriter out;
    write(table, out);
    const Writer bytes = out.take();
    BitReader in(bytes.bytes());
    const Frequencies back = read_frequencies(in, mantissa);
    in.expect_end();
    ASSERT_EQ(back.of, table.of);
    ASSERT_EQ(back.top, table.top);
  }
}

TEST(Frequencies, ADecayingTableTakesAFewBytes) {
  Histogram counts{};
  for (size_t t = 0; t < 40; ++t) counts[t] = u32(1e6 * std::pow(0.8, double(t)));
  BitWriter out;
  write(approximate(counts, 2), out);
  EXPECT_LT(out.take().size(), 20u);
}

// Few tokens are not worth a list of frequencies.
TEST(Frequencies, FewTokensHaveACurve) {
  std::mt19937_64 random(5);
  std::geometric_distribution<u32> sizes(0.2);
  Histogram few{}, many{};
  for (u32 i = 0; i < 20000; ++i) {
    const u32 token = std::min(255u, 2 * sizes(random) + u32(random() % 2));
    ++many[token];
    if (i < 300) ++few[token];
  }
  EXPECT_TRUE(approximate(few, 2).curve);
  EXPECT_FALSE(approximate(many, 2).curve);
}

TEST(Frequencies, AnyBytesAreATableOrAnError) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 5000; ++round) {
    Bytes bytes(random() % 60);
    for (u8& byte : bytes) byte = u8(random());
    BitReader in(bytes);
    try {
      ASSERT_EQ(sum_of(read_frequencies(in, 1 + round % 2)), kFrequencySum);
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), Errc::corrupt);
    }
  }
}

TEST(Frequencies, ContextsThatAreAlikeShareATable) {
  std::vector<ContextCounts> contexts;
  for (size_t c = 0; c < 9; ++c) {
    if (c == 4) continue;  // not used
    contexts.push_back({c, 8, {}});
    for (u32 t = 0; t < 8; ++t) contexts.back().of[t] = c < 6 ? 1000 >> t : 100 + t;
  }
  const SharedTables shared = share_tables(contexts, 2);
  ASSERT_EQ(shared.counts.size(), 2u);
  ASSERT_EQ(shared.table_of.size(), 9u);
  for (size_t c = 0; c < 9; ++c) EXPECT_EQ(shared.table_of[c], c < 6 ? 0 : 1) << c;
  EXPECT_EQ(shared.counts[0].of[0], 5000u);
  EXPECT_EQ(shared.counts[1].of[7], 321u);
}

// Tokens that are left out at the end change nothing.
TEST(Frequencies, OnlyTokensThatOccurMatter) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 300; ++round) {
    Histogram counts{};
    const size_t end = 1 + random() % 256;
    for (size_t i = 0; i < 20; ++i) counts[random() % end] = u32(random() % 100);
    counts[end - 1] = 1;
    const TokenCounts cut = TokenCounts(counts).first(end);
    EXPECT_EQ(cost_of(cut, 2), cost_of(counts, 2));
    const Frequencies a = approximate(cut, 2), b = approximate(counts, 2);
    EXPECT_EQ(a.of, b.of);
    EXPECT_EQ(a.top, b.top);
    EXPECT_EQ(a.curve.has_value(), b.curve.has_value());
  }
}

}  // namespace
}  // namespace leeway::test
