// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/join/causal_contexts.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(CausalContexts, KnowTheRowAndThePlaneBefore) {
  CausalContexts contexts(Shape{3, 4, 40});
  ASSERT_FALSE(contexts.empty());
  EXPECT_EQ(contexts.most(), 39u);
  std::vector<i32> codes(3 * 4 * 40);
  codes[45] = -7;  // row 1
  std::vector<u8> found;
  for (size_t first = 0; first < codes.size(); first += 30) {
    const u8* next = contexts.next(30);
    found.insert(found.end(), next, next + 30);
    contexts.add(std::span<const i32>(codes).subspan(first, 30));
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const bool above = i == 85 || i == 205, beside = i == 84 || i == 86 || i == 204 || i == 206;
    // 1 + 14 and 1 + 7 in half octaves.
    EXPECT_EQ(found[i], above ? 7 : beside ? 6 : 0) << i;
  }
}

// An encoder that knows all codes of a piece finds the same contexts as a decoder that does not.
TEST(CausalContexts, AreTheSameOnBothSides) {
  const Shape shape{50, 33};
  std::mt19937_64 random(3);
  std::vector<i64> codes(size_t(shape.size()));
  for (i64& code : codes) code = i64(random() % 1000) - 500;
  CausalContexts encoder(shape), decoder(shape);
  encoder.add(std::span<const i64>(codes));
  const u8* all = encoder.next(codes.size());
  for (size_t first = 0, count; first < codes.size(); first += count) {
    count = std::min<size_t>(decoder.most(), codes.size() - first);
    ASSERT_TRUE(std::equal(all + first, all + first + count, decoder.next(count)));
    decoder.add(std::span<const i64>(codes).subspan(first, count));
  }
}

TEST(CausalContexts, AreLeftOutWhereTheySayLittle) {
  for (const Shape& shape : {Shape{}, Shape{1000}, Shape{100, 31}})
    EXPECT_TRUE(CausalContexts(shape).empty());
}

// They pay where rough and calm regions lie side by side.
TEST(CausalContexts, MakeStreamsSmaller) {
  const Shape shape{200, 300};
  std::mt19937_64 random(4);
  std::normal_distribution<float> normal;
  std::vector<float> values(size_t(shape.size()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = normal(random) * (i % 300 < 150 ? 0.01f : 1.0f);
  const auto size = [&](const std::string& recipe) {
    return check_round_trip(values, shape, options_for<float>(Bound::abs(0.01), recipe)).size();
  };
  EXPECT_LT(double(size("linear+lorenzo+rans")), 0.9 * double(size("linear+lorenzo+huffman")));
}

}  // namespace
}  // namespace leeway::test
