// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/rans.h"

#include "leeway/encode/encoder_test.h"

namespace leeway::test {
namespace {

TEST(Rans, RoundTripsAndSurvivesDamage) { check_encoder(Rans()); }

// Codes whose size depends on the context, as a predictor would pass them.
struct Coded {
  std::vector<i32> codes;
  std::vector<u8> contexts;
  double bits = 0;  // entropy given the context
};
Coded make_codes(size_t count) {
  std::mt19937_64 random(count);
  Coded made;
  std::map<u8, std::map<i32, double>> seen;
  for (size_t i = 0; i < count; ++i) {
    const u8 context = u8(30 * (random() % 7));
    std::geometric_distribution<i32> geometric(context == 0 ? 0.999 : 0.6 / (1 + context / 30));
    const i32 size = geometric(random);
    made.contexts.push_back(context);
    made.codes.push_back(random() % 2 ? size : -size);
    ++seen[context][made.codes.back()];
  }
  for (const auto& [context, codes] : seen) {
    double total = 0;
    for (const auto& [code, n] : codes) total += n;
    for (const auto& [code, n] : codes) made.bits -= n * std::log2(n / total);
  }
  return made;
}

// Pieces of any length, in other lengths than they were put.
TEST(Rans, ContextsNeedNotComeInTheSamePieces) {
  for (const size_t count : {1, 7, 8, 9, 100, 4095, 4096, 4097, 100000}) {
    const Coded made = make_codes(count);
    std::mt19937_64 random(5);
    Writer out;
    const auto sink = Rans().sink<i32>(count, out);
    for (size_t i = 0; i < count;) {
      const size_t n = std::min<size_t>(1 + random() % 300, count - i);
      std::copy_n(made.codes.data() + i, n, sink->room(n));
      sink->put(n, made.contexts.data() + i);
      i += n;
    }
    sink->finish();
    Reader in(out.bytes());
    const auto source = Rans().source<i32>(in, count);
    std::vector<i32> back(count);
    for (size_t i = 0; i < count;) {
      const size_t n = std::min<size_t>(1 + random() % 5000, count - i);
      source->next(std::span(back).subspan(i, n), made.contexts.data() + i);
      i += n;
    }
    ASSERT_EQ(back, made.codes) << count;
    if (count == 100000) EXPECT_LT(double(out.size()), made.bits / 8 * 1.01 + 400);
  }
}

TEST(Rans, EqualCodesTakeNothing) {
  const std::vector<i32> codes(1000000, -3);
  Writer out;
  encode(Rans(), codes, out);
  EXPECT_LT(out.size(), 160u);
}

TEST(Rans, WrongContextsAreNoticedOrHarmless) {
  const Coded made = make_codes(5000);
  Writer out;
  const auto sink = Rans().sink<i32>(5000, out);
  sink->put_all(made.codes, made.contexts);
  sink->finish();
  Reader in(out.bytes());
  std::vector<u8> contexts(5000, 255);
  std::vector<i32> back(5000);
  EXPECT_THROW(Rans().source<i32>(in, 5000)->next(std::span(back), contexts.data()), Error);
}

}  // namespace
}  // namespace leeway::test
