// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/adaptive.h"

#include "leeway/encode/encoder_test.h"
#include "leeway/encode/huffman.h"
#include "leeway/encode/parts/book.h"
#include "leeway/encode/parts/offline_books.h"

namespace leeway::test {
namespace {

Adaptive with(BookRule rule, prefix::Sort sort = prefix::Sort::approximate, i32 page = 12,
              i32 lag = 0) {
  Adaptive adaptive;
  adaptive.params.rule = rule;
  adaptive.params.sort = sort;
  adaptive.params.page = page;
  adaptive.params.lag = lag;
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
    for (const prefix::Sort sort : {prefix::Sort::approximate, prefix::Sort::exact})
      for (const i32 lag : {0, 1}) {
        const Adaptive adaptive = with(rule, sort, 11, lag);
        for (const std::vector<i64>& codes : code_samples<i64>()) {
          Writer out;
          encode(adaptive, codes, out);
          Reader in(out.bytes());
          ASSERT_EQ(decode<i64>(adaptive, in, codes.size()), codes);
          in.expect_end();
        }
      }
}

// What a page says of its book.
std::vector<u8> changes(const Adaptive& adaptive, const std::vector<i32>& codes) {
  Writer out;
  encode(adaptive, codes, out);
  Reader in(out.bytes());
  std::vector<u8> result;
  while (in.remaining() > 0) {
    result.push_back(in.get<u8>());
    if (result.back() == 1) Book::read(in);
    const auto sizes = prefix::read_sizes(in);
    in.take_section();
    in.take(prefix::sum_of(sizes));
  }
  return result;
}

// Calm for five pages, then rough: the first page of the rough ones decides on another book.
TEST(Adaptive, ALagHoldsBooksBackByAPage) {
  for (const BookRule rule : {BookRule::cost, BookRule::paper}) {
    std::vector<i32> codes = noise(5 << 12, 1, 1);
    const auto rough = noise(4 << 12, rule == BookRule::cost ? 100 : 25, 2);
    codes.insert(codes.end(), rough.begin(), rough.end());
    const auto at_once = changes(with(rule), codes),
               late = changes(with(rule, prefix::Sort::approximate, 12, 1), codes);
    ASSERT_EQ(at_once.size(), 9u);
    ASSERT_EQ(late.size(), 9u);
    EXPECT_NE(at_once[6], 0) << int(rule);
    EXPECT_EQ(late[6], 0) << int(rule);
    EXPECT_NE(late[7], 0) << int(rule);
  }
}

TEST(Adaptive, ThresholdsAndTheSymbolOfOutliersAreParameters) {
  std::vector<i32> codes = noise(3 << 12, 4, 1);
  const auto wider = noise(3 << 12, 20, 2);  // sigma of all changes by 6.6
  codes.insert(codes.end(), wider.begin(), wider.end());
  Adaptive adaptive = with(BookRule::paper);
  EXPECT_EQ(changes(adaptive, codes)[4], 1);  // a new book
  adaptive.params.keep = 900;
  EXPECT_EQ(changes(adaptive, codes)[4], 0);  // the old one
  adaptive.params.keep = 100;
  adaptive.params.restart = 600;
  EXPECT_EQ(changes(adaptive, codes)[4], 2 + kCommonBook);  // an offline book

  for (i32& code : codes) code = code % 50 == 7 ? code * 1000 : code;
  Adaptive one = with(BookRule::cost);
  const size_t by_classes = size_of(one, codes);
  one.params.outliers = Outliers::one;
  EXPECT_GT(size_of(one, codes), by_classes);  // 32 bits each
  check_encoder_for<i32>(one);
  check_encoder_for<i64>(one);
}

TEST(Adaptive, DeviationInIntegersIsThatOfReals) {
  std::mt19937_64 random(1);
  EXPECT_EQ(Book::deviation({}), 0u);
  for (int trial = 0; trial < 300; ++trial) {
    Book::Counts counts;
    const auto width = double(1 + random() % 500);
    std::normal_distribution<double> normal(double(random() % 400) - 200, width);
    // From 2^20 codes on, counts are halved.
    const u64 codes = trial % 3 == 0 ? 3000 : 300'000, weight = trial % 3 == 2 ? 50 : 1;
    double n = 0, sum = 0, squares = 0;
    for (u64 k = 0; k < codes / weight / 10; ++k) {
      const auto code = i64(normal(random));
      if (code < -512 || code > 511) continue;
      counts.symbols[Book::symbol_of(code)] += u32(10 * weight);
      n += 1, sum += double(code), squares += double(code) * double(code);
    }
    const double wanted = std::sqrt(squares / n - sum / n * (sum / n));
    EXPECT_NEAR(double(Book::deviation(counts)) / 65536, wanted, 0.01 + 1e-4 * wanted);
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
