// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/parts/curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "leeway/encode/parts/token.h"

namespace leeway::test {
namespace {

TEST(Curve, EveryOneIsATable) {
  for (const int mantissa : {1, 2})
    for (const u32 last : {0u, 1u, 2u, 40u, 127u, 128u, 200u, 255u})
      for (u32 zeros = 0; zeros < 64; zeros += 7)
        for (u32 mean = 0; mean < 64; ++mean)
          for (u32 tail = 0; tail < 4; ++tail) {
            const auto of = frequencies_of({last, zeros, mean, tail}, mantissa);
            ASSERT_EQ(std::accumulate(of.begin(), of.end(), 0u), kFrequencySum);
            for (u32 t = 0; t < 256; ++t) ASSERT_EQ(of[t] > 0, t <= last) << t;
          }
}

// Of codes from a Laplace distribution, few bits are lost against their own frequencies, also where
// tokens stand for many codes.
template <class I>
u64 entropy_and_curve(double scale, u64& by_curve) {
  std::mt19937_64 random(6);
  std::exponential_distribution<double> size(1 / scale);
  std::vector<I> codes(20000);
  for (I& code : codes) code = I(std::lround(random() % 2 ? size(random) : -size(random)));
  std::vector<u8> tokens(codes.size());
  BitWriter raw;
  tokenize(codes, tokens, raw);
  std::array<u32, 256> counts{};
  for (const u8 token : tokens) ++counts[token];
  by_curve = bits_under(counts, frequencies_of(best_curve(counts, kTokenBits<I>), kTokenBits<I>));
  double entropy = 0;
  for (const u32 n : counts)
    if (n > 0) entropy -= n * std::log2(n / double(codes.size()));
  return u64(entropy * 65536);
}
TEST(Curve, FitsCodesThatFallOff) {
  for (const double scale : {0.3, 1.0, 5.0, 40.0, 700.0}) {
    u64 by_curve = 0;
    const u64 entropy = entropy_and_curve<i32>(scale, by_curve);
    EXPECT_LT(double(by_curve), 1.04 * double(entropy)) << scale;
    const u64 of_wide = entropy_and_curve<i64>(scale, by_curve);
    EXPECT_LT(double(by_curve), 1.04 * double(of_wide)) << scale;
  }
}

}  // namespace
}  // namespace leeway::test
