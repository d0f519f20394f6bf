// SPDX-License-Identifier: BSD-3-Clause
// Encoders write the bytes that they wrote before: golden streams (golden_test.cc) guard decoders
// only. Everything that an encoder can write must occur here.
#include <set>

#include "tests/checksums.h"
#include "tests/golden/cases.h"

namespace leeway::test {
namespace {

// What a body has before its codes: special values, notes, exact values. For recipes without
// preprocessors and lossless stages.
Reader codes_of(ByteView body) {
  Reader in(body);
  for (int section = 0; section < 3; ++section) in.take_section();
  return Reader(in.rest());
}

// What has occurred so far.
struct Seen {
  std::set<Payload> kinds;
  std::set<size_t> code_bytes;
  bool regions = false, by_value = false, contexts = false, segments = false;

  void add(ByteView stream) {
    const Parts parts = take_apart(stream);
    regions |= !parts.header.regions.empty();
    const Recipe recipe = parse_recipe(parts.header.recipe);
    for (const Frame& frame : parts.frames) {
      const Alternative taken = alternative_of(frame.payload);
      if (taken.bytes > 0) kinds.insert(Payload::alternative);
      const auto kind = Payload(frame.payload.at(taken.bytes));
      kinds.insert(kind);
      const bool is_whole = kind == Payload::coded || kind == Payload::levels;
      if (kind == Payload::narrow) code_bytes.insert(2);
      if (is_whole) code_bytes.insert(size_of(parts.header.dtype) == 8 ? 8 : 4);
      by_value |= is_whole && is_by_value(recipe);
      const bool is_plain =
          recipe.others.empty() && recipe.stages.front().kind != Kind::preprocessor && recipe.stages.back().name == "rans";
      if (is_whole && is_plain) look_into_rans(frame.payload, kind);
    }
  }

 private:
  void look_into_rans(ByteView payload, Payload kind) {
    Reader in(payload.subspan(1));
    if (kind == Payload::levels) LevelTable::read(in);
    Reader codes = codes_of(in.rest());
    ASSERT_EQ(codes.get_varint(), 0u);             // the form
    contexts |= codes.take_section().front() > 0;  // tables but the first
    size_t count = 0;
    for (; codes.remaining() > 0; ++count) {
      const u64 raw = codes.get_varint(), words = codes.get_varint();
      const u64 states[] = {1, 8, 32};
      ASSERT_LT(words % 4, 3u);
      codes.take(size_t(states[words % 4] * 4 + raw + words / 4 * 2));
    }
    segments |= count > 1;
  }
};

// What golden streams do not have, or only of types that small builds do not know: segments and
// levels, bits that cannot be packed.
void for_each_other_case(const TakeCase& take) {
  make<float>(take, "small", {52, 51, 50}, Bound::abs(8), true);
  make<float>(take, "pyramid:tile=14,taps=0+linear+rans", {49, 50, 54}, Bound::abs(9), false);
  make<double>(take, "small", {40000}, Bound::abs(2), false);
  std::vector<double> values(300);
  u64 state = 1;
  for (double& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = from_bits<double>(state);
  }
  take({"f64_stored", compress(values.data(), {300}, Bound::abs(1e-300))});
}

TEST(WrittenBytes, OfEverythingThatEncodersWriteAreTheSame) {
  Checksums payloads("payloads"), streams("streams");
  Seen seen;
  const auto take = [&](const GoldenCase& made) {
    if (made.stream.empty()) return;
    const std::string row = inspect(made.stream).header.recipe + " " + made.what;
    payloads.add_payloads(row, made.stream);
    streams.add_stream(row, made.stream);
    seen.add(made.stream);
  };
  for_each_golden_case(take);
  for_each_other_case(take);
  for (const Payload kind :
       {Payload::constant, Payload::coded, Payload::lossless, Payload::stored, Payload::levels,
        Payload::tightened, Payload::narrow, Payload::layered, Payload::alternative})
    EXPECT_TRUE(seen.kinds.contains(kind)) << "kind of payload " << int(kind);
  EXPECT_EQ(seen.code_bytes, (std::set<size_t>{2, 4, 8}));
  EXPECT_TRUE(seen.regions);
  EXPECT_TRUE(seen.by_value);
  EXPECT_TRUE(seen.contexts);
  EXPECT_TRUE(seen.segments);
  payloads.compare_with_file();
  streams.compare_with_file();
}

// All types, in chunks, smooth and rough.
TEST(WrittenBytes, OfNamedRecipesAreTheSame) {
  Checksums sums("named");
  for (const NamedRecipe& named : named_recipes()) {
    const std::string recipe(named.name);
    for_each_type_of(recipe, [&]<class T>(std::type_identity<T>) {
      for (const bool special : {false, true}) {
        const Shape shape{7, 20, 33};
        auto options = options_for<T>(Bound::abs(is_floating<T> ? 0.05 : 2), recipe);
        options.chunk = {4, 20, 33};
        sums.add_payloads(recipe, compress(make_values<T>(shape, special).data(), shape, options));
      }
    });
  }
  sums.compare_with_file();
}

}  // namespace
}  // namespace leeway::test
