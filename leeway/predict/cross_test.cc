// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/cross.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

// Blocks like integrals: sums of a few products, with rows (a, b) = (b, a) and columns alike.
std::vector<double> integrals(size_t blocks, size_t n, int rank) {
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  const auto pairs = [&] {
    std::vector<double> v(n * n);
    for (size_t a = 0; a < n; ++a)
      for (size_t b = 0; b <= a; ++b) v[a * n + b] = v[b * n + a] = normal(random);
    return v;
  };
  for (size_t block = 0; block < blocks; ++block) {
    std::vector<double> sum(n * n * n * n);
    double scale = std::exp2(-double(random() % 20));
    for (int k = 0; k < rank; ++k, scale *= 0.05) {
      const auto row = pairs(), column = pairs();
      for (size_t i = 0; i < n * n; ++i)
        for (size_t j = 0; j < n * n; ++j) sum[i * n * n + j] += scale * column[i] * row[j];
    }
    values.insert(values.end(), sum.begin(), sum.end());
  }
  return values;
}

TEST(Cross, BlocksOfLowRankAreSmall) {
  const auto values = integrals(50, 6, 4);
  const Shape shape{values.size()};
  const auto size = [&](const std::string& recipe) {
    return check_round_trip(values, shape, options_for<double>(Bound::abs(1e-9), recipe)).size();
  };
  EXPECT_LT(size("eri") * 3, size(to_string(parse_recipe("balanced"))));  // the stages alone
  EXPECT_LT(size("eri") * 2, size("sz3-pastri"));
  EXPECT_LT(size("linear+cross+rans"), size("linear+cross:rows=18,columns=72+rans"));
}

TEST(Cross, AnyShapeTypeAndBlock) {
  for (const Shape& shape : some_shapes())
    for (const std::string recipe :
         {"linear+cross:rows=4,columns=4+rans", "linear+cross:rows=2,columns=9+huffman",
          "linear+cross:rows=128,columns=128+rans"})
      for (const Texture texture : {Texture::smooth, Texture::hostile, Texture::huge}) {
        check_round_trip(make_field<double>(shape, texture), shape,
                         options_for<double>(Bound::abs(1e-3), recipe));
        check_round_trip(make_field<i16>(shape, texture), shape,
                         options_for<i16>(Bound::abs(2), recipe));
      }
}

TEST(Cross, StandsBehindTheQuantizerOnly) {
  EXPECT_THROW(parse_recipe("cross+linear+rans"), Error);
}

// A list is cut where blocks end.
TEST(Cross, ChunksHoldWholeBlocks) {
  const std::vector<double> values(1296 * 3000);
  const auto options = options_for<double>(Bound::abs(1e-9), "eri");
  const Info info = inspect(compress(values.data(), {values.size()}, options));
  EXPECT_EQ(info.header.chunk[0] % 1296, 0u);
  EXPECT_LT(info.header.chunk[0], values.size());
}

}  // namespace
}  // namespace leeway::test
