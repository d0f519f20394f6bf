// SPDX-License-Identifier: BSD-3-Clause
// The maker of books against the library: what counts decide, and the books made of them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "Vlwy_book_maker.h"
#include "leeway/encode/parts/book.h"
#include "rtl/tests/clocked.h"

namespace leeway::rtl {
namespace {

constexpr u32 kKeep = 339'476, kRestart = 635'044;  // of the rule `paper`
constexpr u8 kRestartByte = 6;

struct Answer {
  bool makes = false, restarts = false;
  u32 deviation = 0;
  std::vector<u8> bytes, lengths;
  std::vector<u16> codewords;
  u64 cycles = 0;
};

class Maker {
 public:
  explicit Maker(Stalls output = Stalls()) : output_(output) {
    module_->start_i = module_->count_valid_i = module_->byte_ready_i = 0;
    module_.reset();
  }
  Answer ask(const Book::Counts& counts, u32 deviation_before) {
    Answer answer;
    module_->start_i = 1;
    module_->deviation_i = deviation_before;
    hand_over(module_, [&] { return module_->idle_o; });
    module_->start_i = 0;
    std::vector<u32> all(counts.classes.begin(), counts.classes.end());
    all.insert(all.end(), counts.symbols.begin(), counts.symbols.end());
    const u64 start = module_.cycles;
    for (size_t next = 0; !module_->idle_o;) {
      if (module_.cycles > start + 200'000) throw std::runtime_error("the design hangs");
      module_->count_valid_i = next < all.size();
      if (next < all.size()) module_->count_i = all[next];
      module_->count_last_i = next + 1 == all.size();
      module_->byte_ready_i = !output_();
      module_.settle();
      see(answer);
      module_.rise();
      next += next < all.size();
    }
    answer.cycles = module_.cycles - start;
    return answer;
  }

 private:
  void see(Answer& answer) {
    if (module_->decided_o) {
      answer.makes = module_->makes_o, answer.restarts = module_->restarts_o;
      answer.deviation = module_->deviation_o;
    }
    if (module_->entry_valid_o) {
      EXPECT_EQ(module_->entry_token_o, answer.lengths.size());
      answer.lengths.push_back(module_->entry_length_o);
      answer.codewords.push_back(module_->entry_codeword_o);
    }
    if (module_->byte_valid_o && module_->byte_ready_i) {
      answer.bytes.push_back(module_->byte_o);
      EXPECT_TRUE(!ended_ || answer.bytes.size() == 1);
      ended_ = module_->byte_last_o;
    }
  }
  Clocked<Vlwy_book_maker> module_;
  Stalls output_;
  bool ended_ = false;
};

// Counts of many kinds, less than 2^20 together.
Book::Counts some_counts(std::mt19937_64& random, u32 kind) {
  Book::Counts counts;
  const i32 centre = i32(random() % 1024) - 512;
  const auto put = [&](i32 code, u64 n) {
    if (code >= -512 && code < 512 && n > 0) counts.symbols[Book::symbol_of(code)] += u32(n);
  };
  const double width = std::exp2(double(random() % 900) / 100);
  switch (kind % 9) {
    case 0:
      put(centre, 1 + random() % 500'000);
      break;  // one symbol
    case 1:
      for (i32 code = -512; code < 512; ++code) put(code, 7);
      break;
    case 2: {  // Fibonacci's: longer codes than 12 bits
      u64 a = 1, b = 1;
      for (i32 code = 0; a < 200'000; ++code, std::swap(a, b), b += a) put(centre + code, a);
      break;
    }
    case 3:
      for (int n = 0; n < 3000; ++n) put(i32(random() % 1024) - 512, random() % 100);
      break;
    case 4:  // hardly anything
      for (u64 n = random() % 4; n > 0; --n) put(i32(random() % 1024) - 512, 1);
      break;
    case 5:  // two hills, which an approximate sort takes apart
      for (i32 code = -200; code < 200; ++code)
        put(code, u64(500 / (1 + std::abs(std::abs(code) - 100))));
      break;
    default: {
      std::normal_distribution<double> normal(kind % 2 ? centre : 0, width);
      for (int n = 0; n < 4096; ++n) put(i32(std::lround(normal(random))), 1 + random() % 16);
    }
  }
  if (kind % 3 == 0)
    for (u32& n : counts.classes) n = u32(random() % (random() % 4 ? 3 : 20'000));
  return counts;
}

void check(Maker& maker, const Book::Counts& counts, u32 deviation_before, Answer& answer) {
  answer = maker.ask(counts, deviation_before);
  const u32 deviation = Book::deviation(counts);
  ASSERT_EQ(answer.deviation, deviation);
  const u32 change = std::max(deviation, deviation_before) - std::min(deviation, deviation_before);
  ASSERT_EQ(answer.restarts, change >= kRestart);
  ASSERT_EQ(answer.makes, change > kKeep && change < kRestart);
  if (!answer.makes) {
    ASSERT_EQ(answer.bytes, std::vector<u8>{answer.restarts ? kRestartByte : u8(0)});
    ASSERT_TRUE(answer.lengths.empty());
    return;
  }
  const Book book = Book::made_of(counts, prefix::Sort::approximate);
  ASSERT_EQ(answer.lengths, book.lengths);
  ASSERT_EQ(answer.codewords, prefix::canonical_codes(book.lengths));
  Writer out;
  out.put(u8(1));
  book.write(out);
  ASSERT_EQ(answer.bytes, std::vector<u8>(out.bytes().begin(), out.bytes().end()));
}

void check_books(u32 count) {
  std::mt19937_64 random(1);
  Maker fast, slow(Stalls(60, 1));
  double most = 0;
  for (u32 k = 0; k < count; ++k) {
    const Book::Counts counts = some_counts(random, k);
    const u32 deviation = Book::deviation(counts);
    // A change that makes a book.
    const u32 before = deviation > 400'000 ? deviation - 400'000 : deviation + 400'000;
    Answer answer;
    check(k % 5 ? fast : slow, counts, before, answer);
    if (testing::Test::HasFatalFailure()) FAIL() << k;
    const auto tokens = double(answer.lengths.size());
    if (k % 5) most = std::max(most, (double(answer.cycles) - 2300) / tokens);
  }
  std::printf("%u books: 2300 cycles and at most %.1f a token\n", count, most);
}

TEST(RtlBook, BooksAreThoseOfTheLibrary) { check_books(1000); }
TEST(RtlBook, LongRunOfBooksIsThatOfTheLibrary) { check_books(10'000); }

TEST(RtlBook, TheRuleIsThatOfTheLibrary) {
  std::mt19937_64 random(2);
  Maker maker;
  for (u32 k = 0; k < 200; ++k) {
    const Book::Counts counts = some_counts(random, k);
    const u32 deviation = Book::deviation(counts);
    for (const u32 change : {0u, kKeep, kKeep + 1, kRestart - 1, kRestart, kRestart + 1}) {
      Answer answer;
      check(maker, counts, deviation + change, answer);
      if (deviation >= change) check(maker, counts, deviation - change, answer);
      if (testing::Test::HasFatalFailure()) FAIL() << k;
    }
  }
}

}  // namespace
}  // namespace leeway::rtl
