// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/base/bits.h"

#include <algorithm>

#include "tests/support.h"

namespace leeway::test {
namespace {

struct Number {
  u64 value;
  int bits;
};

std::vector<Number> numbers(size_t count, int most) {
  std::mt19937_64 random(5);
  std::vector<Number> made(count);
  for (Number& number : made) {
    number.bits = int(random() % unsigned(most + 1));
    number.value = random() & ((u64(1) << number.bits) - 1);
  }
  return made;
}

Bytes one_by_one(std::span<const Number> numbers) {
  BitWriter out;
  for (const Number& number : numbers) out.put(number.value, number.bits);
  const Writer bytes = out.take();
  return {bytes.bytes().begin(), bytes.bytes().end()};
}

// However many are put together.
TEST(Bits, RunsTakeTheSameBits) {
  const auto check = [](auto together, int most) {
    const auto made = numbers(96, most);
    for (const size_t before : {0, 1, 5, 31}) {  // numbers before the run
      BitWriter out;
      for (size_t i = 0; i < before; ++i) out.put(made[i].value, made[i].bits);
      out.template put_run<together.value>(64, [&](size_t i) { return made[before + i]; });
      const Writer bytes = out.take();
      EXPECT_TRUE(
          std::ranges::equal(bytes.bytes(), one_by_one(std::span(made).first(before + 64))));
    }
  };
  check(std::integral_constant<size_t, 1>(), 56);
  check(std::integral_constant<size_t, 4>(), 14);
}

TEST(Bits, RunsAreReadLikeNumbers) {
  const auto made = numbers(200, 14);
  const Bytes bytes = one_by_one(made);
  for (size_t before = 0; before < 168; ++before) {
    BitReader in(bytes), other(bytes);
    for (size_t i = 0; i < before; ++i) in.get(made[i].bits), other.get(made[i].bits);
    std::array<u8, 32> bits;
    for (size_t i = 0; i < 32; ++i) bits[i] = u8(made[before + i].bits);
    std::array<u64, 32> values{};
    const bool done = in.get_run(bits.data(), 32, [&](size_t i, u64 value) { values[i] = value; });
    EXPECT_TRUE(done || before > 100) << before;  // only near the end
    for (size_t i = 0; i < 32; ++i) {
      const u64 value = other.get(bits[i]);
      if (done) EXPECT_EQ(values[i], value);
      if (!done) EXPECT_EQ(in.get(bits[i]), value);
    }
    EXPECT_EQ(in.get(3), other.get(3));
  }
}

}  // namespace
}  // namespace leeway::test
