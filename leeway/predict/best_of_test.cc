// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/best_of.h"

#include "leeway/base/distance.h"
#include "leeway/compressor.h"
#include "leeway/encode/huffman.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

struct Ahead {  // asks for what is not known yet
  auto predict(const auto& at) const { return at(0, 1) + at(1, 0) + at(-1, 1); }
};
struct Either : BestOf<LorenzoRule, LineRule, BeforeRule, Ahead> {
  static constexpr std::string_view kName = "either", kAbout = "the best of four rules";
};
struct LorenzoAlone : BestOf<LorenzoRule> {
  static constexpr std::string_view kName = "alone", kAbout = "Lorenzo's rule";
};

template <class T, class... S>
Bytes check(const std::vector<T>& values, const Shape& shape, double bound, S... stages) {
  const Compressor<T, S...> compressor(stages...);
  const Bytes stream = compressor.compress(values.data(), shape, Bound::abs(bound));
  EXPECT_THROW(decompress(stream), Error);
  const auto known = compressor.known();
  const Array back = decompress(stream);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_TRUE(bits_of(values[i]) == bits_of(back.as<T>()[i]) ||
                error_between(values[i], back.as<T>()[i]) <= bound)
        << to_string(shape) << i;
  return stream;
}

TEST(BestOf, KeepsTheBoundInBothOrdersAndAnyShape) {
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{500}, Shape{20, 33},
                             Shape{7, 8, 13}, Shape{3, 7, 8, 9}, Shape{2, 2, 3, 2, 7}})
    for (const Texture texture : {Texture::smooth, Texture::hostile, Texture::huge}) {
      const auto values = make_field<double>(shape, texture);
      check(values, shape, 1e-3, Either(), Linear(), Huffman());
      check(values, shape, 1e-3, Linear(), Either{{.params = {.block = 3}, .rules = {}}},
            Huffman());
      check(make_field<float>(shape, texture), shape, 1e-2, Either(), Linear(), Huffman());
    }
}

// In blocks as in rows.
TEST(BestOf, LorenzosRuleNeedsNoOtherBlocks) {
  const Shape shape{20, 30};
  std::vector<double> plane;
  for_each_outer(shape, 0, [&](const Index& i) {
    plane.push_back(3 * double(i[0]) - 2 * double(i[1]) + double(i[0] * i[0]));
  });
  BlockOrder<double> order({plane.data(), shape}, 6);
  size_t visited = 0;
  order.for_each_block([&](const Box& block) {
    const double bits = order.estimated_bits(block, LorenzoRule(), 1);
    if (block.first[0] > 0 && block.first[1] > 0)
      EXPECT_LT(bits, double(block.shape.size()));  // nothing but noise
    order.visit(block, [&](const auto& at) {
      ++visited;
      if (at.index()[0] > 0 && at.index()[1] > 0) EXPECT_EQ(at.value(), at.lorenzo());
      EXPECT_EQ(at(0, 1), 0);
    });
  });
  EXPECT_EQ(visited, plane.size());
}

TEST(BestOf, TakesTheBetterRuleForEachBlock) {
  const Shape shape{64, 64};
  std::vector<float> values;
  std::mt19937 random(5);
  std::vector<float> column(64);
  for (float& x : column) x = float(random() % 1000);
  for_each_outer(shape, 0, [&](const Index& i) {
    values.push_back(i[1] < 32 ? column[i[1]] : float(i[0] * i[1]));
  });
  EXPECT_LT(check(values, shape, 0.01, Either(), Linear(), Huffman()).size(),
            check(values, shape, 0.01, LorenzoAlone(), Linear(), Huffman()).size());
}

TEST(BestOf, RegistrationsFindParametersAndEnd) {
  const Shape shape{30, 31};
  const auto values = make_field<float>(shape, Texture::smooth);
  using Mine = Compressor<float, Either, Linear, Huffman>;
  const Mine mine(Either{{.params = {.block = 5}, .rules = {}}}, Linear(), Huffman());
  const Bytes stream = mine.compress(values.data(), shape, Bound::abs(1e-3));
  const auto refusal = [&] {
    try {
      decompress(stream);
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_NE(refusal().find("'either'"), std::string::npos);
  {
    const auto known = Mine::known();  // with other parameters
    EXPECT_EQ(refusal(), "");
    const auto twice = Mine::known();
    EXPECT_EQ(refusal(), "");
  }
  EXPECT_NE(refusal(), "");
}

}  // namespace
}  // namespace leeway::test
