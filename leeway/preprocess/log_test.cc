// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/preprocess/log.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Log, FunctionsAreRight) {
  std::mt19937_64 random(21);
  for (int i = 0; i < 100000; ++i) {
    const double x = std::bit_cast<double>((random() >> 2) % (u64(0x7fe) << 52) + (u64(1) << 52));
    EXPECT_NEAR(log2_of_number(x), std::log2(x), 4e-16 * std::max(1.0, std::abs(std::log2(x))));
    const double y = std::uniform_real_distribution<double>(-1000, 1000)(random);
    EXPECT_NEAR(power_of_two(y) / std::exp2(y), 1, 1e-15) << y;
  }
  EXPECT_EQ(log2_of_number(1), 0);
  EXPECT_EQ(log2_of_number(0x1p-300), -300);
  EXPECT_EQ(power_of_two(0), 1);
  EXPECT_EQ(power_of_two(-77), 0x1p-77);
}

// Values of all magnitudes and both signs, with zeros, denormals and special ones between.
template <class T>
std::vector<T> wild_values(const Shape& shape, bool special) {
  std::mt19937_64 random(22);
  std::normal_distribution<double> normal;
  std::vector<T> values(size_t(shape.size()));
  double walk = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    walk += 0.02 * normal(random);
    const double sign = std::sin(double(i) * 0.01) < 0 ? -1 : 1;
    values[i] = T(float(sign * std::exp2(4 * walk)));
    if (i % 97 < 3) values[i] = T(0.0f);
    if (i % 101 == 5) values[i] = T(-0.0f);
    if (i % 103 == 7) values[i] = from_bits<T>(random() % 50);  // denormal
    if (special && i % 211 == 0) values[i] = T(NAN);
    if (special && i % 223 == 0) values[i] = T(-INFINITY);
  }
  return values;
}

template <class T>
void check_pointwise(const Shape& shape, double bound, const std::string& recipe) {
  if (!kIsCompiled<T>) return;
  const auto values = wild_values<T>(shape, true);
  const Bytes stream =
      compress(values.data(), shape, options_for<T>(Bound::pointwise(bound), recipe));
  const Array once = decompress(stream);
  const Info info = inspect(stream);
  for (size_t i = 0; i < values.size(); ++i) {
    const T x = values[i], y = once.as<T>()[i];
    const double a = double(x), b = double(y);
    if (!std::isfinite(a) || a == 0) {
      ASSERT_EQ(bits_of(x), bits_of(y)) << recipe << " " << i;
    } else {
      ASSERT_LE(std::abs((long double)a - (long double)b),
                (long double)bound * std::abs((long double)a))
          << recipe << " " << i;
      ASSERT_LE(std::abs(a - b), info.header.abs_bound);
    }
  }
  // Decoded data compressed again does not change, if values are quantized first.
  if (predicts_first(parse_recipe(recipe))) return;
  std::vector<T> decoded(once.as<T>().begin(), once.as<T>().end());
  const Array twice =
      decompress(compress(decoded.data(), shape, options_for<T>(Bound::pointwise(bound), recipe)));
  for (size_t i = 0; i < decoded.size(); ++i)
    ASSERT_EQ(bits_of(decoded[i]), bits_of(twice.as<T>()[i])) << recipe << " " << i;
}

TEST(Log, EveryValueKeepsItsOwnBound) {
  for (const Shape& shape : {Shape{3000}, Shape{40, 70}, Shape{11, 12, 25}})
    for (const double bound : {0.3, 1e-2, 1e-3, 1e-4, 1e-6})
      for (const char* recipe :
           {"balanced", "fast", "small", "sz-pwr", "sz3-lr", "sz3-interp", "plain"}) {
        check_pointwise<float>(shape, bound, recipe);
        check_pointwise<double>(shape, bound, recipe);
        check_pointwise<f16>(shape, bound, recipe);
        check_pointwise<bf16>(shape, bound, recipe);
      }
}

TEST(Log, IsOfUse) {
  const Shape shape{200, 300};
  std::vector<float> values(size_t(shape.size()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(std::exp2(10 * std::sin(double(i % 300) * 0.03) + double(i / 300) * 0.05));
  const auto options = options_for<float>(Bound::pointwise(1e-3), "balanced");
  const Bytes stream = compress(values.data(), shape, options);
  EXPECT_GT(double(values.size() * 4) / double(stream.size()), 5);
  EXPECT_EQ(inspect(stream).header.recipe, to_string(with_first("log", parse_recipe("balanced"))));
  EXPECT_EQ(inspect(stream).header.bound.limits()[0].kind, BoundKind::pointwise);
}

TEST(Log, StrangeArraysAndRegions) {
  for (const Shape& shape : shapes()) check_pointwise<float>(shape, 1e-3, "balanced");
  const Shape shape{60, 70};
  auto values = wild_values<float>(shape, false);
  auto options = options_for<float>(Bound::pointwise(1e-2), "balanced");
  options.chunk = {16, 32};
  Bytes stream = compress(values.data(), shape, options);
  const auto before = decompress(stream);
  std::vector<float> others(25, 3.25f);
  MemoryStore store(stream);
  update(store, {20, 20}, view_of(others.data(), {5, 5}));
  const auto after = decompress(stream);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t row = i / 70, column = i % 70;
    if (row >= 20 && row < 25 && column >= 20 && column < 25)
      EXPECT_NEAR(after.as<float>()[i], 3.25f, 0.0325);
    else
      EXPECT_EQ(bits_of(after.as<float>()[i]), bits_of(before.as<float>()[i]));
  }
}

// The stream states an absolute bound, which larger values would break.
TEST(Log, RefusesUpdatesWithLargerValues) {
  const std::vector<float> values(500, 2.0f);
  auto larger = make_field<float>({300}, Texture::smooth);
  for (float& value : larger) value = 1e6f + 1e4f * value;
  Bytes stream =
      compress(values.data(), {500}, options_for<float>(Bound::pointwise(1e-3), "sz-pwr"));
  const Bytes before = stream;
  MemoryStore store(stream);
  EXPECT_THROW(update(store, {20}, view_of(larger.data(), {300})), Error);
  EXPECT_TRUE(stream == before);
}

// An absolute bound is the one relative to the largest value: smaller values have smaller errors.
TEST(Log, KeepsAbsoluteBounds) {
  for (const Texture texture : kTextures)
    for (const Bound& bound :
         {Bound::abs(0.01), Bound::rel(1e-4), Bound::abs(1) && Bound::rel(1e-3)}) {
      const auto values = make_field<float>({30, 40}, texture);
      const auto options = options_for<float>(bound, "log+linear+lorenzo+huffman");
      const Bytes stream = compress(values.data(), {30, 40}, options);
      auto by_value = options;
      by_value.recipe = "plain";
      const double limit = inspect(compress(values.data(), {30, 40}, by_value)).header.abs_bound;
      const Info info = inspect(stream);
      EXPECT_LE(info.header.abs_bound, limit);
      const Array back = decompress(stream);
      expect_within<float>(values, back.as<float>(), limit, info.header.fills, to_string(bound));
    }
  std::vector<double> wide;
  for (double x = -10; x < 2; x += 0.001) wide.push_back(std::pow(10, x));
  const Shape shape{wide.size()};
  const Array back =
      decompress(compress(wide.data(), shape, options_for<double>(Bound::abs(1), "log+linear")));
  EXPECT_LE(std::abs(back.as<double>()[0] - wide[0]), 0.02 * wide[0]);
}

TEST(Log, RefusesWhatMakesNoSense) {
  const std::vector<float> values = {1, 2, 3};
  const std::vector<i32> integers = {1, 2, 3};
  const auto pointwise = Bound::pointwise(1e-3);
  EXPECT_THROW(compress(values.data(), {3}, options_for<float>(pointwise && Bound::abs(1))), Error);
  EXPECT_THROW(compress(values.data(), {3}, options_for<float>(Bound::psnr(60), "log+linear")),
               Error);
  EXPECT_THROW(compress(integers.data(), {3}, options_for<i32>(pointwise)), Error);
  EXPECT_THROW(Bound::pointwise(0), Error);
}

TEST(Log, SurvivesDamage) {
  const Shape shape{300};
  auto values = wild_values<float>(shape, false);
  Writer side;
  Field<float> field{values.data(), shape};
  std::vector<u8> special;
  Log().forward(field, special, side);
  std::mt19937 random(23);
  for (int trial = 0; trial < 500; ++trial) {
    Bytes damaged(side.bytes().begin(), side.bytes().end());
    damaged[random() % damaged.size()] ^= u8(1 << random() % 8);
    damaged.resize(trial % 2 ? damaged.size() : random() % damaged.size());
    auto copy = values;
    Reader in(damaged);
    try {
      Log().backward(Field<float>{copy.data(), shape}, in);
      in.expect_end();
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), Errc::corrupt);
    }
  }
}

}  // namespace
}  // namespace leeway::test
