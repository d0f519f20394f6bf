// SPDX-License-Identifier: BSD-3-Clause
// The adder of rtl/lib against the processor's.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "Vlwy_fadd.h"
#include "Vlwy_fadd5.h"
#include "rtl/tests/clocked.h"

namespace leeway::rtl {
namespace {

float number(u32 bits) { return std::bit_cast<float>(bits); }
u32 bits(float number) { return std::bit_cast<u32>(number); }

// NaN and infinities are one thing to the adder.
bool is_special(u32 x) { return (x & 0x7f800000) == 0x7f800000; }
bool is_right(u32 a, u32 b, u32 sum) {
  if (is_special(a) || is_special(b)) return is_special(sum);
  const u32 wanted = bits(number(a) + number(b));
  return is_special(wanted) ? is_special(sum) : sum == wanted;
}

template <class Adder>
class Adding {
 public:
  explicit Adding(size_t stages) : waiting_(stages) {}
  // What comes out is the sum of the pair `stages` calls ago.
  void put(u32 a, u32 b) {
    adder_->a_i = a;
    adder_->b_i = b;
    adder_.settle();
    adder_.rise();
    waiting_[next_] = {a, b};
    next_ = (next_ + 1) % waiting_.size();
    if (++count_ < waiting_.size()) return;
    const auto [x, y] = waiting_[next_];
    if (is_right(x, y, adder_->sum_o)) return;
    if (++wrong_ < 5)
      ADD_FAILURE() << std::hex << x << " + " << y << " gives " << adder_->sum_o;
  }
  ~Adding() {
    for (size_t i = 0; i < waiting_.size(); ++i) put(0, 0);
    EXPECT_EQ(wrong_, 0u);
  }

 private:
  Clocked<Adder> adder_;
  std::vector<std::pair<u32, u32>> waiting_;
  size_t next_ = 0, count_ = 0;
  u64 wrong_ = 0;
};

// Nine kinds of pairs: any bits, exponents near each other, near cancellation, small exponents,
// powers of two that cancel in part, zeros, ties of the rounding, the largest numbers, specials.
std::pair<u32, u32> pair_of(unsigned kind, std::mt19937_64& random) {
  const u64 r = random();
  u32 a = u32(r), b = u32(r >> 32);
  const u32 s = u32(random());
  switch (kind) {
    case 1: b = (b & 0x807fffff) | (((a >> 23) + s % 60 + 226) % 255) << 23; break;
    case 2: b = a ^ 0x80000000u ^ s % 16; break;
    case 3: a &= 0x80ffffff, b &= 0x80ffffff; break;
    case 4: b = (a ^ 0x80000000u) & ~0u << s % 24; break;
    case 5: a &= 0x80000000u; break;
    case 6: {
      const u32 exponent = a & 0x7f800000;
      b = (exponent - std::min(exponent, (22 + s % 4) << 23)) | (s & 0x80700000);
      break;
    }
    case 7: a |= 0x7e000000, b |= 0x7e000000; break;
    case 8: (s & 1 ? a : b) |= 0x7f800000; break;
    default: break;
  }
  return {a, b};
}

template <class Adder>
void check_pairs(size_t stages, u64 count) {
  std::mt19937_64 random(stages);
  Adding<Adder> adding(stages);
  for (u64 i = 0; i < count; ++i) {
    const auto [a, b] = pair_of(unsigned(i % 9), random);
    adding.put(a, b);
  }
}

// Every pair of operands whose bits are few ones or few zeros at the edges of the fields.
template <class Adder>
void check_hard_operands(size_t stages, size_t count) {
  std::vector<u32> hard;
  for (const u32 exponent : {0, 1, 2, 23, 24, 25, 100, 126, 127, 128, 150, 151, 152, 253, 254, 255})
    for (const u32 fraction : {0u, 1u, 2u, 3u, 0x400000u, 0x400001u, 0x3fffffu, 0x7fffffu, 0x7ffffeu})
      for (const u32 sign : {0u, 1u}) hard.push_back(sign << 31 | exponent << 23 | fraction);
  std::mt19937_64 random(1);
  while (hard.size() < count) {
    const u32 low = u32(random() % 24), length = u32(random() % 24);
    const u32 ones = ((1u << length) - 1) << low & 0x7fffff;
    hard.push_back(u32(random()) << 31 | u32(110 + random() % 40) << 23 | ones);
  }
  Adding<Adder> adding(stages);
  for (const u32 a : hard)
    for (const u32 b : hard) adding.put(a, b);
}

TEST(RtlAdder, AddsLikeTheProcessor) {
  check_pairs<Vlwy_fadd>(7, 2'000'000);
  check_pairs<Vlwy_fadd5>(5, 2'000'000);
}

TEST(RtlAdder, AddsHardOperands) { check_hard_operands<Vlwy_fadd>(7, 1 << 10); }

TEST(RtlAdder, LongAddsLikeTheProcessor) {
  check_pairs<Vlwy_fadd>(7, 100'000'000);
  check_pairs<Vlwy_fadd5>(5, 100'000'000);
}

TEST(RtlAdder, LongAddsHardOperands) {
  check_hard_operands<Vlwy_fadd>(7, 1 << 12);
  check_hard_operands<Vlwy_fadd5>(5, 1 << 12);
}

}  // namespace
}  // namespace leeway::rtl
