// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/adaptive.h"

#include "leeway/encode/encoder_test.h"
#include "leeway/encode/huffman.h"

namespace leeway::test {
namespace {

Adaptive with(BookRule rule, prefix::Sort sort = prefix::Sort::approximate, i32 page = 12) {
  Adaptive adaptive;
  adaptive.params = {rule, sort, page};
  return adaptive;
}

std::vector<i32> noise(size_t count, double width, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, width);
  std::vector<i32> codes(count);
  for (i32& code : codes) code = i32(std::lround(normal(random)));
  return codes;
}

size_t size_of(const Adaptive& adaptive, const std::vector<i32>& codes) {
  Writer out;
  encode(adaptive, codes, out);
  Reader in(out.bytes());
  EXPECT_EQ(decode<i32>(adaptive, in, codes.size()), codes);
  in.expect_end();
  return out.size();
}

TEST(Adaptive, RoundTripsAndSurvivesDamage) {
  check_encoder_for<i32>(with(BookRule::cost));
  check_encoder_for<i16>(with(BookRule::cost));
  check_narrow(with(BookRule::cost));
}

TEST(Adaptive, EveryRuleRoundTrips) {
  for (const BookRule rule : {BookRule::cost, BookRule::paper, BookRule::offline})
    for (const prefix::Sort sort : {prefix::Sort::approximate, prefix::Sort::exact}) {
      const Adaptive adaptive = with(rule, sort, 11);
      for (const std::vector<i64>& codes : code_samples<i64>()) {
        Writer out;
        encode(adaptive, codes, out);
        Reader in(out.bytes());
        ASSERT_EQ(decode<i64>(adaptive, in, codes.size()), codes);
        in.expect_end();
      }
    }
}

TEST(Adaptive, FollowsTheData) {
  // Calm, rough, calm again: one code for all is too long for the one or the other.
  std::vector<i32> codes = noise(200000, 0.5, 1);
  for (const auto& part : {noise(200000, 40, 2), noise(200000, 0.4, 3)})
    codes.insert(codes.end(), part.begin(), part.end());
  const size_t by_cost = size_of(with(BookRule::cost), codes);
  EXPECT_LE(by_cost, size_of(with(BookRule::paper), codes));
  EXPECT_LT(by_cost, size_of(with(BookRule::offline), codes));
  Writer whole;
  encode(Huffman(), codes, whole);
  EXPECT_LT(by_cost, whole.size());
}

TEST(Adaptive, CostNeverLosesToThePaper) {
  for (const double width : {0.2, 0.7, 2.0, 9.0, 60.0, 300.0})
    for (const size_t count : {3000, 40000, 300000}) {
      const auto codes = noise(count, width, 4);
      EXPECT_LE(size_of(with(BookRule::cost), codes), size_of(with(BookRule::paper), codes))
          << width << " " << count;
    }
}

TEST(Adaptive, ApproximateSortCostsLittle) {
  for (const double width : {0.7, 4.0, 60.0}) {
    const auto codes = noise(300000, width, 5);
    const auto approximate = double(size_of(with(BookRule::cost), codes));
    EXPECT_LT(approximate,
              1.01 * double(size_of(with(BookRule::cost, prefix::Sort::exact), codes)));
  }
}

}  // namespace
}  // namespace leeway::test
