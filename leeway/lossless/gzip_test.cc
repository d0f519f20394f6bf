// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/lossless/gzip.h"

#include "leeway/lossless/lossless_test.h"

namespace leeway::test {
namespace {

constexpr size_t kFrame = 18 + 5;  // header and trailer, and the head of a stored block

TEST(Gzip, RoundTripsAndSurvivesDamage) {
  for (const int level : {1, 6, 12}) check_lossless(Gzip{.params = {.level = level}}, kFrame);
}

TEST(Gzip, RefusesMoreThanTheLimit) { check_limit(Gzip()); }

TEST(Gzip, IsAGzipFile) {
  Writer out;
  Gzip().compress(Bytes(1000, 7), out);
  const ByteView bytes = out.bytes();
  ASSERT_GT(bytes.size(), 18u);
  EXPECT_TRUE(bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 8);
  for (size_t i = 4; i < 8; ++i) EXPECT_EQ(bytes[i], 0);  // no time: the same bytes tomorrow
}

}  // namespace
}  // namespace leeway::test
