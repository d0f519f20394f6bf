// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/raw.h"

#include "leeway/encode/encoder_test.h"

namespace leeway::test {
namespace {

TEST(Raw, RoundTripsAndSurvivesDamage) { check_encoder(Raw()); }

TEST(Raw, TakesTheFewestBytes) {
  const auto bytes = [](std::vector<i64> codes) {
    Writer out;
    encode(Raw(), codes, out);
    return out.size() - 2;
  };
  EXPECT_EQ(bytes({-127, 127}), 2u);
  EXPECT_EQ(bytes({-129, 127}), 4u);
  EXPECT_EQ(bytes({32769}), 3u);
  EXPECT_EQ(bytes({(i64(1) << 31) + 1}), 5u);
  EXPECT_EQ(bytes({i64(1) << 62, -(i64(3) << 60)}), 2u);
  EXPECT_EQ(bytes({0, 0, 0}), 3u);
}

// All widths, shifts and lengths, with the lowest code and without.
template <class I>
void check_widths() {
  std::mt19937_64 random(3);
  for (int width = 1; width < int(8 * sizeof(I)); ++width)
    for (const int shift : {0, 1, 7, 8, 13, 30}) {
      if (width + shift >= int(8 * sizeof(I))) continue;
      for (const bool has_lowest : {false, true})
        for (const size_t size : {1, 5, 17, 100, 2048, 2051}) {
          std::vector<I> codes(size);
          for (I& code : codes) code = I(u64(i64(random()) >> (64 - width)) << shift);
          if (has_lowest) codes[size / 2] = std::numeric_limits<I>::min();
          Writer out;
          encode(Raw(), codes, out);
          Reader in(out.bytes());
          ASSERT_EQ(decode<I>(Raw(), in, size), codes);
          in.expect_end();
        }
    }
}
TEST(Raw, KeepsEveryWidth) {
  check_widths<i32>();
  check_widths<i64>();
}

}  // namespace
}  // namespace leeway::test
