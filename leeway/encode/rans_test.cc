// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/encode/rans.h"

#include <algorithm>

#include "leeway/base/bits.h"
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

// The parts of a stream in its short form: one table, in which token 0 has all frequencies; one
// state.
struct ShortForm {
  std::vector<u64> head = {0, 0, 0, 0};  // tables less one, kind, top token, count of levels
  std::vector<int> widths = {8, 1, 8, 9};
  u64 missing = 0;  // bytes that the head says it has beyond those it has
  u64 raw_bytes = 0, words_and_states = 0;
  u32 state = 0x10000;
  Bytes rest = {};

  Bytes bytes() const {
    BitWriter bits;
    for (size_t i = 0; i < head.size(); ++i) bits.put(head[i], widths[i]);
    const Writer packed = bits.take();
    Writer out;
    out.put_varint(0);
    out.put_varint(packed.size() + missing);
    out.put_bytes(packed.bytes());
    out.put_varint(raw_bytes);
    out.put_varint(words_and_states);
    out.put(state);
    out.put_bytes(rest);
    return {out.bytes().begin(), out.bytes().end()};
  }
};

void expect_refused(const Bytes& stream, size_t count = 5) {
  Reader in(stream);
  try {
    decode<i32>(Rans(), in, count);
    in.expect_end();
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::corrupt);
  }
}

TEST(Rans, TakesTheShortForm) {
  const Bytes stream = ShortForm().bytes();
  Reader in(stream);
  EXPECT_EQ(decode<i32>(Rans(), in, 5), std::vector<i32>(5, 0));
  in.expect_end();
  for (size_t size = 0; size < stream.size(); ++size)
    expect_refused({stream.begin(), stream.begin() + std::ptrdiff_t(size)});
}

TEST(Rans, RefusesWrongTablesOfTheShortForm) {
  expect_refused(ShortForm{.head = {5, 1, 2, 3, 4, 5}, .widths = {8, 8, 8, 8, 8, 8}}.bytes());
  expect_refused(ShortForm{.head = {2, 7, 7}, .widths = {8, 8, 8}}.bytes());  // contexts twice
  expect_refused(ShortForm{.head = {1, 0}, .widths = {8, 8}}.bytes());        // context 0 again
  expect_refused(ShortForm{.head = {0, 0, 0}, .widths = {8, 1, 8}}.bytes());  // half a table
  expect_refused(ShortForm{.head = {0, 0, 0, 300}}.bytes());  // more levels than tokens
  expect_refused(ShortForm{.head = {0, 0, 0, 0, 1}, .widths = {8, 1, 8, 9, 20}}.bytes());
  expect_refused(ShortForm{.missing = 1000000}.bytes());
}

TEST(Rans, RefusesWrongSegmentsOfTheShortForm) {
  expect_refused(ShortForm{.words_and_states = 3}.bytes());        // an unknown number of states
  expect_refused(ShortForm{.words_and_states = 1}.bytes());        // states that are not there
  expect_refused(ShortForm{.words_and_states = 4}.bytes());        // words that are not there
  expect_refused(ShortForm{.words_and_states = ~u64(3)}.bytes());  // more than memory holds
  expect_refused(ShortForm{.words_and_states = 4, .rest = {0, 0}}.bytes());  // one that is not used
  expect_refused(ShortForm{.raw_bytes = 1, .rest = {0}}.bytes());            // raw bits, too
  expect_refused(ShortForm{.raw_bytes = ~u64(0)}.bytes());
  expect_refused(ShortForm{.state = 0x10001}.bytes());  // does not end as it must
  expect_refused(ShortForm{.state = 0}.bytes());        // never had words enough
}

}  // namespace
}  // namespace leeway::test
