// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/lossless/bitshuffle.h"

#include <algorithm>

#include "leeway/lossless/lossless_test.h"

namespace leeway::test {
namespace {

TEST(BitShuffle, RoundTripsAndSurvivesDamage) {
  for (const int bytes : {1, 2, 3, 4, 8, 16})
    check_lossless(BitShuffle{.params = {.bytes = bytes}});
}

TEST(BitShuffle, RefusesMoreThanTheLimit) { check_limit(BitShuffle()); }

TEST(BitShuffle, PutsBitsOfEqualWeightTogether) {
  // Eight numbers of two bytes: the first bytes count from 0 to 7, the second are 128, then a rest.
  Bytes numbers;
  for (u8 i = 0; i < 8; ++i) numbers.insert(numbers.end(), {i, 128});
  numbers.push_back(42);
  Writer out;
  BitShuffle{.params = {.bytes = 2}}.compress(numbers, out);
  EXPECT_TRUE(std::ranges::equal(
      out.bytes(), Bytes{0xaa, 0xcc, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 42}));
}

// Bit by bit, as the page says.
TEST(BitShuffle, IsWhatItsPageSays) {
  std::mt19937 random(3);
  for (const size_t width : {1, 3, 4}) {
    Bytes numbers(width * 24);
    for (u8& byte : numbers) byte = u8(random());
    Bytes expected(numbers.size());
    for (size_t i = 0; i < 24; ++i)
      for (size_t k = 0; k < width; ++k)
        for (size_t bit = 0; bit < 8; ++bit)
          if (numbers[i * width + k] >> bit & 1) expected[(8 * k + bit) * 3 + i / 8] |= u8(1 << i % 8);
    Writer out;
    BitShuffle{.params = {.bytes = i32(width)}}.compress(numbers, out);
    EXPECT_TRUE(std::ranges::equal(out.bytes(), expected));
  }
}

}  // namespace
}  // namespace leeway::test
