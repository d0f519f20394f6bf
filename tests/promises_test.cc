// SPDX-License-Identifier: BSD-3-Clause
// The six promises, each with tests that fail if it breaks.
#include <algorithm>
#include <thread>

#include "leeway/quality/compare.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

class Promise : public testing::TestWithParam<std::string> {};

// A value near 0, of any type.
template <class T>
T make_small(double x) {
  if constexpr (is_floating<T>)
    return T(x);
  else
    return T(std::is_signed_v<T> ? i64(x) : i64(std::abs(x)));
}

// 1 and 2: every type, rank, texture and bound, from coarse to below one ulp.
TEST_P(Promise, KeepsEveryValueWithinTheBound) {
  for_each_type_of(GetParam(), [&]<class T>(std::type_identity<T>) {
    for (const Shape& shape : some_shapes())
      for (const Texture texture : kTextures)
        for (const double bound : {1e-1, 1e-3, 1e-7, 1e-12, 3.0, 1e6}) {
          const auto values = make_field<T>(shape, texture);
          check_round_trip(values, shape, options_for<T>(Bound::abs(bound), GetParam()));
          if (testing::Test::HasFatalFailure()) return;
        }
  });
}

TEST_P(Promise, KeepsRelativeBounds) {
  for_each_type_of(GetParam(), [&]<class T>(std::type_identity<T>) {
    for (const Shape& shape : {Shape{257}, Shape{16, 33}, Shape{3, 7, 11}})
      for (const Texture texture : kTextures)
        for (const double bound : {0.3, 1e-2, 1e-4, 1e-9})
          check_round_trip(make_field<T>(shape, texture), shape,
                           options_for<T>(Bound::rel(bound), GetParam()));
  });
}

TEST_P(Promise, LosslessIsBitForBit) {
  for_each_type_of(GetParam(), [&]<class T>(std::type_identity<T>) {
    for (const Shape& shape : some_shapes())
      for (const Texture texture : kTextures) {
        const auto values = make_field<T>(shape, texture);
        const Bytes stream =
            compress(values.data(), shape, options_for<T>(Bound::lossless(), GetParam()));
        const Array decoded = decompress(stream);
        for (size_t i = 0; i < values.size(); ++i)
          ASSERT_EQ(bits_of(values[i]), bits_of(decoded.as<T>()[i]));
      }
  });
}

// 6: what is stated is never less than what is there, even where values are tiny beside their
// errors.
TEST_P(Promise, StatesTheLargestError) {
  std::mt19937_64 random(31);
  std::normal_distribution<float> normal;
  for (int trial = 0; trial < 16; ++trial) {
    const Shape shape{40, 50};
    std::vector<float> values(size_t(shape.size()));
    for (float& value : values) value = normal(random) * (random() % 2 ? 1.0f : 1e-6f);
    const double bound = std::exp2(-double(random() % 1000) / 100);
    const Bytes stream =
        compress(values.data(), shape, options_for<float>(Bound::abs(bound), GetParam()));
    const Array decoded = decompress(stream);
    long double largest = 0;
    for (size_t i = 0; i < values.size(); ++i)
      largest =
          std::max(largest, std::abs((long double)values[i] - (long double)decoded.as<float>()[i]));
    EXPECT_LE(largest, (long double)inspect(stream).statement.max_error) << bound;
    EXPECT_LE(inspect(stream).statement.max_error, bound);
  }
}

// 3: compressing decoded data again, with the same absolute bound, changes nothing.
TEST_P(Promise, IsIdempotent) {
  for_each_type_of(GetParam(), [&]<class T>(std::type_identity<T>) {
    for (const Shape& shape : {Shape{1000}, Shape{33, 40}, Shape{9, 10, 11}})
      for (const Texture texture : kTextures)
        for (const double bound : {0.5, 1e-3, 1e-6}) {
          const auto values = make_field<T>(shape, texture);
          const auto options = options_for<T>(Bound::abs(bound), GetParam());
          const Array once = decompress(compress(values.data(), shape, options));
          const Array twice = decompress(compress(once.as<T>().data(), shape, options));
          for (size_t i = 0; i < values.size(); ++i)
            ASSERT_EQ(bits_of(once.as<T>()[i]), bits_of(twice.as<T>()[i]))
                << name_of(dtype_of<T>()) << " " << int(texture) << " " << bound << " at " << i;
        }
  });
}

// 3: also where arrays are so large that weights are learned, and several settings do for the
// coarse levels of the decoded data.
TEST_P(Promise, IsIdempotentInLargerArrays) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const Shape& shape : {Shape{90000}, Shape{300, 310}, Shape{50, 2400}, Shape{45, 50, 60},
                             Shape{10, 8, 40, 50}})
    for (const float noise : {0.0f, 0.01f, 0.1f, 0.5f}) {
      std::vector<float> values(size_t(shape.size()));
      for (size_t i = 0; i < values.size(); ++i) {
        const float part = float(i) / float(values.size());  // calm in the beginning
        values[i] = std::sin(0.05f * float(i / 60)) * std::cos(0.07f * float(i % 60)) +
                    noise * part * uniform(random);
      }
      const auto options = options_for<float>(Bound::abs(1e-2), GetParam());
      const Bytes once = compress(values.data(), shape, options);
      const Bytes twice = compress(decompress(once).as<float>().data(), shape, options);
      EXPECT_EQ(inspect(once).statement.decoded_hash, inspect(twice).statement.decoded_hash)
          << to_string(shape) << " " << noise;
    }
}

// 2 and 3: what was no fill value does not become one, although many lie near; then nothing
// changes when it is compressed again.
TEST_P(Promise, NoOrdinaryValueBecomesAFillValue) {
  for_each_type_of(GetParam(), [&]<class T>(std::type_identity<T>) {
    std::mt19937_64 random(41);
    for (const Shape& shape : {Shape{900}, Shape{40, 37}, Shape{9, 10, 11}})
      for (const bool is_rough : {false, true}) {
        std::vector<T> values(size_t(shape.size()));
        double walk = 0;
        for (T& value : values) {
          walk = is_rough ? double(random() % 41) / 4 - 5 : walk + double(random() % 3) / 4 - 0.25;
          value = make_small<T>(walk = std::abs(walk) > 20 ? -walk / 2 : walk);
        }
        auto options = options_for<T>(Bound::abs(2), GetParam());
        options.fills = {0, 3};
        for (size_t i = 0; i < values.size(); i += 7 + i % 5) values[i] = make_small<T>(0);
        const Array once = decompress(check_round_trip(values, shape, options));
        const std::vector<u64> fills = {bits_of(make_small<T>(0)), bits_of(make_small<T>(3))};
        const auto is_fill = [&](T value) {
          return std::ranges::find(fills, u64(bits_of(value))) != fills.end();
        };
        for (size_t i = 0; i < values.size(); ++i)
          ASSERT_EQ(is_fill(values[i]), is_fill(once.as<T>()[i]))
              << name_of(dtype_of<T>()) << " " << shape.size() << " at " << i;
        const Array twice = decompress(compress(once.as<T>().data(), shape, options));
        for (size_t i = 0; i < values.size(); ++i)
          ASSERT_EQ(bits_of(once.as<T>()[i]), bits_of(twice.as<T>()[i]))
              << name_of(dtype_of<T>()) << " at " << i;
      }
  });
}

TEST_P(Promise, SameBytesForAnyNumberOfThreads) {
  const Shape shape{70, 50, 30};
  const auto values = make_field<float>(shape, Texture::hostile);
  auto options = options_for<float>(Bound::rel(1e-3), GetParam());
  options.chunk = {16, 16, 16};
  const Bytes one = compress(values.data(), shape, options);
  for (const unsigned threads : {2u, 3u, 7u, 64u}) {
    options.execution.threads = threads;
    EXPECT_EQ(compress(values.data(), shape, options), one);
    options.execution.memory = 100000;
    EXPECT_EQ(compress(values.data(), shape, options), one);
    DecompressOptions decoding;
    decoding.execution.threads = threads;
    const Array a = decompress(one), b = decompress(one, decoding);
    EXPECT_EQ(0, std::memcmp(a.data(), b.data(), size_t(a.bytes())));
  }
}

// 6: region decoding gives what cutting the whole gives.
TEST_P(Promise, RegionEqualsCrop) {
  const Shape shape{20, 31, 17};
  const auto values = make_field<double>(shape, Texture::smooth);
  auto options = options_for<double>(Bound::abs(1e-4), GetParam());
  options.chunk = {7, 8, 9};
  const Bytes stream = compress(values.data(), shape, options);
  const Array whole = decompress(stream);
  std::mt19937 random(5);
  for (int trial = 0; trial < 50; ++trial) {
    Box box;
    std::array<u64, 3> extents;
    for (size_t axis = 0; axis < 3; ++axis) {
      box.first[axis] = random() % shape[axis];
      extents[axis] = 1 + random() % (shape[axis] - box.first[axis]);
    }
    box.shape = Shape(std::span<const u64>(extents));
    const Array part = decompress(stream, box);
    size_t i = 0;
    for_each_outer(box.shape, 0, [&](const Index& index) {
      const size_t at = size_t(((box.first[0] + index[0]) * 31 + box.first[1] + index[1]) * 17 +
                               box.first[2] + index[2]);
      ASSERT_EQ(part.as<double>()[i++], whole.as<double>()[at]);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Recipes, Promise, testing::ValuesIn(recipes()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(u8(c))) c = '_';
  return name;
});

TEST(Bounds, PsnrAndL2AreMetByMeasurement) {
  for (const Texture texture : {Texture::smooth, Texture::noise, Texture::steps, Texture::hostile})
    for (const std::string recipe : {"balanced", "sz1.4"}) {
      const Shape shape{40, 50};
      const auto values = make_field<float>(shape, texture);
      const auto measured = [&](const Bound& bound) {
        const Bytes stream = compress(values.data(), shape, options_for<float>(bound, recipe));
        const Array decoded = decompress(stream);
        return compare(view_of(values.data(), shape), View(decoded.data(), DType::f32, shape),
                       inspect(stream).header.fills);
      };
      for (const double psnr : {20.0, 55.5, 90.0})
        EXPECT_GE(measured(Bound::psnr(psnr)).psnr, psnr);
      for (const double l2 : {10.0, 0.1, 1e-4}) EXPECT_LE(measured(Bound::l2(l2)).l2, l2);
      const Comparison both = measured(Bound::psnr(40) && Bound::abs(1e-3) && Bound::l2(3));
      EXPECT_GE(both.psnr, 40);
      EXPECT_LE(both.max_abs, 1e-3);
      EXPECT_LE(both.l2, 3);
    }
}

TEST(Bounds, PsnrIsNotMissedByFar) {
  const Shape shape{200, 200};
  const auto values = make_field<float>(shape, Texture::smooth);
  for (const double psnr : {30.0, 60.0, 80.0}) {
    const Array decoded = decompress(compress(values.data(), shape, Bound::psnr(psnr)));
    EXPECT_LT(compare(view_of(values.data(), shape), View(decoded.data(), DType::f32, shape)).psnr,
              psnr + 1);
  }
}

// Of integers above 2^53, which are no doubles, the range is exact all the same.
TEST(Bounds, RelativeOnesOf64BitIntegersReferToTheExactRange) {
  const auto check = [](auto zero, u64 base, u64 range) {
    using T = decltype(zero);
    if (!kIsCompiled<T>) return;
    std::mt19937_64 random(51);
    std::vector<T> values(5000);
    for (T& value : values) value = T(base + random() % (range + 1));
    values[17] = T(base), values[18] = T(base + range);
    for (const char* recipe : {"balanced", "small", "fast"})
      for (const double rel : {0.1, 0.02}) {
        const auto options = options_for<T>(Bound::rel(rel), recipe);
        const Bytes stream = check_round_trip(values, {5000}, options);
        const auto allowed = (long double)(rel) * (long double)(range);
        EXPECT_LE((long double)(inspect(stream).header.abs_bound), allowed) << base;
        EXPECT_GE((long double)(inspect(stream).header.abs_bound), 0.999L * allowed) << base;
        EXPECT_EQ(value_range(view_of(values.data(), {5000}), options)->size(), double(range));
      }
  };
  check(i64(0), 1700000000000000000 / 256 * 256, 130);
  check(u64(0), 1700000000000000000 / 256 * 256, 131);
  check(i64(0), u64(std::numeric_limits<i64>::min()), 1000);
  check(i64(0), u64(std::numeric_limits<i64>::min()), u64(1) << 63);
  check(u64(0), std::numeric_limits<u64>::max() - 999, 999);
  check(u64(0), (u64(1) << 53) - 5, 77);
}

// Squares of these errors overflow, or vanish.
TEST(Bounds, PsnrAndL2AreMetByHugeAndTinyValues) {
  const Shape shape{50, 60};
  const auto smooth = make_field<double>(shape, Texture::smooth);
  for (const double scale : {1e200, 1e302, 1e307, 1e-170, 1e-250})
    for (const std::string recipe : {"balanced", "sz1.4"}) {
      auto values = smooth;
      for (double& value : values) value *= scale;
      // In units of the scale.
      const auto measured = [&](const Bound& bound) {
        const Array decoded =
            decompress(compress(values.data(), shape, options_for<double>(bound, recipe)));
        long double squares = 0, low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < values.size(); ++i) {
          const long double x = (long double)(values[i]) / scale,
                            error = x - (long double)(decoded.as<double>()[i]) / scale;
          squares += error * error;
          low = std::min(low, x), high = std::max(high, x);
        }
        const long double rmse = std::sqrt(squares / (long double)(values.size()));
        return std::pair(double(20 * std::log10((high - low) / rmse)), double(std::sqrt(squares)));
      };
      const double psnr = measured(Bound::psnr(80)).first;
      EXPECT_GE(psnr, 80) << scale << recipe;
      if (scale < 1e303) EXPECT_LT(psnr, 83) << scale << recipe;  // no bound is above 1e300
      const double l2 = measured(Bound::l2(0.01 * scale)).second;
      EXPECT_LE(l2, 0.01) << scale << recipe;
      if (scale < 1e303) EXPECT_GT(l2, 0.005) << scale << recipe;
    }
}

// Once written, such a stream could not be read: its largest error was infinite.
TEST(Bounds, PointwiseOnesOfHugeAndTinyValues) {
  const auto check = [](const std::vector<double>& values, double bound) {
    const Shape shape{values.size()};
    for (const char* recipe : {"balanced", "sz-pwr"}) {
      const Bytes stream =
          check_round_trip(values, shape, options_for<double>(Bound::pointwise(bound), recipe));
      const Array decoded = decompress(stream);
      for (size_t i = 0; i < values.size(); ++i) {
        const long double x = values[i], y = decoded.as<double>()[i];
        ASSERT_TRUE(std::isfinite(y));
        ASSERT_LE(std::abs(x - y), bound * std::abs(x)) << recipe << " " << bound;
      }
    }
  };
  std::vector<double> values(100);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i % 2 ? 1.5e308 : -1.2e308;
  values[1] = 1e300;
  for (const double bound : {1000.0, 1e10, 1e300, 0.007}) check(values, bound);
  std::mt19937_64 random(61);
  for (double& value : values) value = 2.3e-308 * (1 + double(random() % 1000) / 100);
  for (const double bound : {1e-2, 1e-3, 1e-6}) check(values, bound);
}

TEST(Bounds, TruncatedIntegersKeepThemExactly) {
  if (!kIsCompiled<i64>) return;
  std::mt19937_64 random(71);
  for (const int bits : {2, 3, 4})
    for (const int octave : {58, 59, 60}) {
      const u64 bound = u64(1) << octave;
      std::vector<i64> values(20000);
      // Next to the middle between two values that there are codes for, mostly.
      for (i64& value : values)
        value = i64((random() >> (octave + 1) << (octave + 1)) + bound + random() % 128 - 64);
      const auto options = options_for<i64>(Bound::abs(double(bound)),
                                            "truncate:bits=" + std::to_string(bits) + "+raw");
      const Array decoded = decompress(compress(values.data(), {20000}, options));
      u64 worst = 0;
      for (size_t i = 0; i < values.size(); ++i) {
        const i64 x = values[i], y = decoded.as<i64>()[i];
        worst = std::max(worst, x > y ? u64(x) - u64(y) : u64(y) - u64(x));
      }
      EXPECT_LE(worst, bound) << bits << " " << octave;
    }
}

// 6: as the next double if it is none.
TEST(Bounds, LargestErrorsOf64BitIntegersAreRoundedUp) {
  const auto check = []<class T>(std::type_identity<T>) {
    if (!kIsCompiled<T>) return;
    std::mt19937_64 random(81);
    for (int trial = 0; trial < 40; ++trial) {
      std::vector<T> values(300);
      for (T& value : values) value = T(random() >> 2);
      for (const char* recipe : {"balanced", "sz1.4", "small", "truncate+raw", "plain",
                                 "transpose:order=1+linear+lorenzo+huffman"}) {
        const Bytes stream =
            compress(values.data(), {300}, options_for<T>(Bound::abs(0x1p55), recipe));
        const Array decoded = decompress(stream);
        long double worst = 0;
        for (size_t i = 0; i < values.size(); ++i)
          worst = std::max(worst, exact_error(values[i], decoded.as<T>()[i]));
        EXPECT_LE(worst, (long double)(inspect(stream).statement.max_error)) << recipe;
      }
    }
  };
  check(std::type_identity<i64>());
  check(std::type_identity<u64>());
}

// Behind preprocessors, too.
TEST(Bounds, LargestErrorsOfDoublesAreRoundedUp) {
  std::mt19937_64 random(91);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<double> values(300);
    for (double& value : values) value = std::exp2(double(random() % 4000) / 100 - 20);
    const Bytes stream = compress(values.data(), {300}, Bound::pointwise(500));
    const Array decoded = decompress(stream);
    long double worst = 0;
    for (size_t i = 0; i < values.size(); ++i)
      worst = std::max(worst, exact_error(values[i], decoded.as<double>()[i]));
    EXPECT_LE(worst, (long double)(inspect(stream).statement.max_error));
  }
}

TEST(Bounds, NonsenseIsRefused) {
  for (const double value : {0.0, -1.0, std::nan(""), double(INFINITY)}) {
    EXPECT_THROW(Bound::abs(value), Error);
    EXPECT_THROW(Bound::rel(value), Error);
    EXPECT_THROW(Bound::psnr(value), Error);
  }
  const float x = 1;
  EXPECT_THROW(compress(&x, {1}, Bound()), Error);
}

TEST(Specials, FillValuesDoNotSpoilTheRange) {
  const Shape shape{50, 60};
  auto values = make_field<float>(shape, Texture::smooth);
  const double range = [&] {
    const auto [low, high] = std::ranges::minmax(values);
    return double(high) - double(low);
  }();
  for (size_t i = 0; i < values.size(); i += 1 + i % 7) values[i] = i % 3 ? 1e20f : -9999.0f;
  values[5] = std::nanf("7");
  const Info info = inspect(check_round_trip(values, shape, options_for<float>(Bound::rel(1e-3))));
  EXPECT_EQ(info.header.fills.size(), 2u);
  EXPECT_LE(info.header.abs_bound, 1e-3 * range);
  EXPECT_GT(info.header.abs_bound, 0.9e-3 * range);
}

TEST(Specials, DeclaredFillValuesSurvive) {
  const Shape shape{4000};
  auto values = make_field<i32>(shape, Texture::noise);
  for (size_t i = 0; i < values.size(); i += 5) values[i] = i % 2 ? -1 : -2;
  auto options = options_for<i32>(Bound::abs(1000));
  options.fills = {-1, -2};
  const Array decoded = decompress(check_round_trip(values, shape, options));
  for (size_t i = 0; i < values.size(); i += 5) EXPECT_EQ(decoded.as<i32>()[i], values[i]);
  options.fills = {0.5};
  EXPECT_THROW(compress(values.data(), shape, options), Error);
}

// Inside the range, and only where the analysis has seen enough to skip whole blocks.
TEST(Specials, DeclaredFillValuesAmongTheOthersSurvive) {
  const Shape shape{100000};
  auto values = make_field<float>(shape, Texture::noise);
  values[77777] = 0.125f;
  auto options = options_for<float>(Bound::abs(0.25));
  options.fills = {0.125};
  const Array decoded = decompress(check_round_trip(values, shape, options));
  EXPECT_EQ(decoded.as<float>()[77777], 0.125f);
}

TEST(Specials, FillValuesBehindTheEndOfATypeAreRefused) {
  const auto check = [](auto zero, double behind) {
    const std::vector values(4, zero);
    CompressOptions options;
    options.bound = Bound::abs(1);
    options.fills = {behind};
    EXPECT_THROW(compress(view_of(values.data(), {4}), options), Error) << behind;
  };
  check(i64(0), 0x1p63);
  check(u64(0), 0x1p64);
  check(u64(0), -1);
  check(i8(0), 128);
  check(i8(0), -129);
}

TEST(Specials, ASingleOutlierIsNoFillValue) {
  auto values = make_field<float>({1000}, Texture::smooth);
  values[10] = 1e20f;
  EXPECT_TRUE(inspect(compress(values.data(), {1000}, Bound::abs(1))).header.fills.empty());
}

TEST(Specials, FillValuesAreFoundAgainInDecodedData) {
  for (const double bound : {0.01, 150000.0})
    for (const float fill : {-9999.0f, 1e20f}) {
      std::vector<float> values(1000);
      for (size_t i = 0; i < values.size(); ++i) values[i] = i % 3 ? float(i % 5) : fill;
      const Bytes once = compress(values.data(), {1000}, Bound::abs(bound));
      const Bytes twice = compress(decompress(once).as<float>().data(), {1000}, Bound::abs(bound));
      EXPECT_EQ(inspect(once).header.fills, std::vector<u64>{bits_of(fill)});
      EXPECT_EQ(inspect(twice).header.fills, std::vector<u64>{bits_of(fill)});
    }
}

// Found by torture: decoding clamps to the ends of a type, which then looked like fill values.
TEST(Specials, IntegersHaveFillValuesOnlyIfIsolated) {
  std::vector<i16> missing(1000, 5);
  for (size_t i = 0; i < 1000; i += 10) missing[i] = -32768, missing[i + 1] = i16(i);
  EXPECT_TRUE(inspect(compress(missing.data(), {1000}, Bound::abs(3))).header.fills.empty());
  EXPECT_EQ(inspect(compress(missing.data(), {1000}, Bound::rel(1e-2))).header.fills,
            std::vector<u64>{0x8000});
}

// Zeros of both signs are equal: which of them is met first must not matter.
TEST(Specials, TheSignOfAZeroMinimumDoesNotDependOnTheLayout) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 40; ++trial) {
    const Shape shape{40, 41, 3};
    std::vector<float> values(size_t(shape.size())), turned(values.size());
    for (float& value : values) {
      const u64 dice = random() % 20;
      value = dice == 0   ? 0.0f
              : dice == 1 ? -0.0f
              : dice < 4  ? -999.0f
                          : float(random() % 1000 + 1);
    }
    for (size_t i = 0; i < values.size(); ++i) turned[i % 123 * 40 + i / 123] = values[i];
    const View view(reinterpret_cast<const std::byte*>(turned.data()), DType::f32, shape,
                    Strides{4, 3 * 40 * 4, 40 * 4});
    auto options = options_for<float>(Bound::rel(1e-3));
    options.fills = {-999};
    const Bytes straight = compress(values.data(), shape, options);
    EXPECT_EQ(straight, compress(view, options));
    EXPECT_FALSE(std::signbit(inspect(straight).header.min));
  }
}

TEST(Sizes, EmptyArraysWork) {
  for (const Shape& shape : {Shape{0}, Shape{5, 0, 7}}) {
    const Bytes stream = compress(static_cast<const float*>(nullptr), shape, Bound::abs(1));
    EXPECT_EQ(decompress(stream).shape(), shape);
  }
}

TEST(Sizes, MoreThanTwoToTheThirtyTwoValuesAreDescribed) {
  // A view of one value, repeated by strides of 0: no memory needed.
  const float one = 1.5f;
  const Shape shape{u64(1) << 17, u64(1) << 16};
  const View view(reinterpret_cast<const std::byte*>(&one), DType::f32, shape, Strides{0, 0});
  CompressOptions options = options_for<float>(Bound::abs(1e-3));
  options.detect_fills = false;
  options.chunk = {4096, 4096};
  options.execution.threads = 2;
  u64 chunks = 0;
  options.execution.progress = [&](double) { return ++chunks < 8; };  // enough seen
  EXPECT_THROW(compress(view, options, [](ByteView) {}), Error);
  Header header;
  header.shape = shape;
  header.chunk = {4096, 4096};
  EXPECT_EQ(header.grid().size(), 512u);
  EXPECT_EQ(header.chunk_box(511).first[0], (u64(1) << 17) - 4096);
}

TEST(Strides, AnyLayoutIsRead) {
  const Shape shape{6, 10};
  const auto values = make_field<float>({12, 20}, Texture::smooth);
  // Every second row backwards, every second column.
  const View view(reinterpret_cast<const std::byte*>(&values[10 * 20]), DType::f32, shape,
                  Strides{-2 * 20 * 4, 2 * 4});
  const Array decoded = decompress(compress(view, options_for<float>(Bound::abs(1e-4))));
  for (size_t r = 0; r < 6; ++r)
    for (size_t c = 0; c < 10; ++c)
      EXPECT_NEAR(decoded.as<float>()[r * 10 + c], values[(10 - 2 * r) * 20 + 2 * c], 1e-4);
}

TEST(Execution, HostExecutorIsUsed) {
  const Shape shape{100, 100};
  const auto values = make_field<float>(shape, Texture::noise);
  auto options = options_for<float>(Bound::abs(0.1));
  options.chunk = {10, 10};
  const Bytes expected = compress(values.data(), shape, options);
  int calls = 0;
  options.execution.threads = 4;
  options.execution.executor = [&](unsigned workers, const std::function<void(unsigned)>& work) {
    ++calls;
    for (unsigned i = 0; i < workers; ++i) work(i);  // one after the other must work, too
  };
  EXPECT_EQ(compress(values.data(), shape, options), expected);
  EXPECT_GE(calls, 1);
}

TEST(Execution, ProgressEndsAtOneAndCanStop) {
  const Shape shape{64, 64};
  const auto values = make_field<float>(shape, Texture::noise);
  auto options = options_for<float>(Bound::abs(0.1));
  options.chunk = {16, 16};
  double last = 0;
  options.execution.progress = [&](double done) { return (last = done) >= 0; };
  compress(values.data(), shape, options);
  EXPECT_EQ(last, 1.0);
  options.execution.progress = [](double done) { return done < 0.5; };
  try {
    compress(values.data(), shape, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::canceled);
  }
}

}  // namespace
}  // namespace leeway::test
