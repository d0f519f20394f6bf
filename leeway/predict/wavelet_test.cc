// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/wavelet.h"

#include "leeway/predict/wavelet/holes.h"
#include "leeway/predict/wavelet/lifting.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

using namespace wavelet;

constexpr const char* kRecipe = "wavelet+linear+rans";

std::vector<float> waves(const Shape& shape, double noise = 0.001) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<float> values;
  for_each_outer(shape, 0, [&](const Index& index) {
    double sum = 0, phase = 0;
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      phase += double(index[axis]) * (0.05 + 0.03 * double(axis));
      sum += std::sin(double(index[axis]) * 0.11 + double(axis));
    }
    values.push_back(float(sum + std::sin(phase) + noise * normal(random)));
  });
  return values;
}

double psnr_of(const std::vector<float>& values, const Bytes& stream) {
  const Array decoded = decompress(stream);
  const auto [low, high] = std::ranges::minmax(values);
  double squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double error = double(values[i]) - double(decoded.as<float>()[i]);
    squares += error * error;
  }
  return 20 * std::log10((double(high) - low) / std::sqrt(squares / double(values.size())));
}

TEST(Wavelet, HalvingsAreUndone) {
  for (const Shape& shape : {Shape{100}, Shape{9, 31}, Shape{17, 2, 30}, Shape{40, 3, 70},
                             Shape{6, 5, 7, 20}, Shape{3, 300}})
    for (const auto order :
         {wavelet::Order::dyadic, wavelet::Order::packet, wavelet::Order::tensor})
      for (const u8 filter : {u8(0), u8(1)}) {
        const auto values = make_field<double>(shape, Texture::noise);
        auto found = values;
        Plan plan{.filter = filter, .order = order, .depth = {}};
        for (size_t axis = 0; axis < shape.rank(); ++axis)
          plan.depth[axis] = u8(depth_of(shape[axis], 2));
        const Bands bands = make_bands(shape, plan);
        forward(found.data(), shape, bands, filter);
        EXPECT_NE(found, values);
        backward(found.data(), shape, bands, filter);
        for (size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(found[i], values[i], 1e-9) << i;
      }
}

// Every coefficient is in one band, and norms are those of what a coefficient becomes.
TEST(Wavelet, BandsCoverTheArrayAndHaveTheirNorms) {
  const Shape shape{40, 56};
  for (const auto order : {wavelet::Order::dyadic, wavelet::Order::packet, wavelet::Order::tensor})
    for (const u8 filter : {u8(0), u8(1)}) {
      const Plan plan{.filter = filter, .order = order, .depth = {1, 2}};
      const Bands bands = make_bands(shape, plan);
      std::vector<u8> seen(size_t(shape.size()));
      for (const Band& band : bands.all) {
        for (u64 y = 0; y < band.extents[0]; ++y)
          for (u64 x = 0; x < band.extents[1]; ++x)
            ++seen[size_t((band.first[0] + y) * shape[1] + band.first[1] + x)];
        std::vector<double> one(seen.size());
        one[size_t((band.first[0] + band.extents[0] / 2) * shape[1] + band.first[1] +
                   band.extents[1] / 2)] = 1;
        backward(one.data(), shape, bands, filter);
        double squares = 0;
        for (const double v : one) squares += v * v;
        EXPECT_NEAR(std::sqrt(squares), band.norm, 0.02 * band.norm);
      }
      EXPECT_TRUE(std::ranges::all_of(seen, [](u8 n) { return n == 1; }));
    }
}

TEST(Wavelet, KeepsBoundsAndWhatIsSpecial) {
  for_each_type([]<class T>(std::type_identity<T>) {
    for (const Shape& shape : {Shape{257}, Shape{16, 33}, Shape{7, 9, 11}, Shape{2, 3, 40, 5}})
      for (const Texture texture : kTextures)
        for (const double bound : {1e-1, 1e-4, 3.0, 1e6})
          check_round_trip(make_field<T>(shape, texture), shape,
                           options_for<T>(Bound::abs(bound), kRecipe));
  });
}

TEST(Wavelet, ThreadsChangeNothing) {
  const Shape shape{40, 80, 90};
  const auto values = waves(shape);
  CompressOptions options;
  options.recipe = kRecipe;
  options.bound = Bound::psnr(60);
  const Bytes one = compress(values.data(), shape, options);
  options.execution.threads = 3;
  EXPECT_EQ(one, compress(values.data(), shape, options));
}

TEST(Wavelet, SmallerThanPredictionAtEqualPsnr) {
  const Shape shape{40, 64, 70};
  const auto values = waves(shape);
  for (const double target : {40.0, 60.0}) {
    CompressOptions options;
    options.bound = Bound::psnr(target);
    options.recipe = "pyramid+linear+rans";
    const Bytes predicted = compress(values.data(), shape, options);
    options.recipe = kRecipe;
    const Bytes transformed = compress(values.data(), shape, options);
    EXPECT_LT(transformed.size(), predicted.size() * 4 / 5) << target;
    const double reached = psnr_of(values, transformed);
    EXPECT_GE(reached, target);
    EXPECT_LE(reached, target + 0.1);
  }
}

TEST(Wavelet, BothLimitsHoldTogether) {
  const Shape shape{60, 70};
  const auto values = waves(shape, 0.1);
  for (const double bound : {0.02, 0.1, 0.4})
    for (const double target : {20.0, 35.0, 50.0}) {
      CompressOptions options;
      options.recipe = kRecipe;
      options.bound = Bound::abs(bound) && Bound::psnr(target);
      const Bytes stream = compress(values.data(), shape, options);
      const Array decoded = decompress(stream);
      for (size_t i = 0; i < values.size(); ++i)
        ASSERT_LE(std::abs(double(values[i]) - double(decoded.as<float>()[i])), bound);
      EXPECT_GE(psnr_of(values, stream), target) << bound;
      EXPECT_LE(inspect(stream).statement.max_error, bound);
    }
}

// Land in the sea.
TEST(Wavelet, HolesCostLittle) {
  const Shape shape{200, 240};
  auto values = waves(shape, 0.02);
  auto filled = values;
  std::vector<u8> holes(values.size());
  for (size_t y = 0; y < 200; ++y)
    for (size_t x = 0; x < 240; ++x)
      if (std::hypot(double(y) - 90, double(x) - 140) < 40 + 6 * std::sin(double(x) * 0.4)) {
        holes[y * 240 + x] = 1;
        values[y * 240 + x] = NAN;
      }
  fill_holes(filled.data(), shape, std::span<const u8>(holes));
  CompressOptions options;
  options.recipe = kRecipe;
  options.bound = Bound::psnr(60);
  const Bytes masked = compress(values.data(), shape, options);
  const Bytes whole = compress(filled.data(), shape, options);
  EXPECT_LT(double(masked.size()), 1.05 * double(whole.size()));
  const Array decoded = decompress(masked);
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(std::isnan(decoded.as<float>()[i]), holes[i] != 0);
}

TEST(Wavelet, ValuesStayInTheirRange) {
  const Shape shape{60, 70};
  auto values = waves(shape, 0);
  for (float& value : values) value = std::max(value, 0.0f);
  CompressOptions options;
  options.recipe = kRecipe;
  options.bound = Bound::psnr(35);
  const Array decoded = decompress(compress(values.data(), shape, options));
  for (const float value : decoded.as<float>()) {
    ASSERT_GE(value, 0);
    ASSERT_LE(value, *std::ranges::max_element(values));
  }
}

TEST(Wavelet, SettingsOutsideTheirRangeAreRefused) {
  const Shape shape{9, 10};
  for (const Bytes& side : {Bytes{6, 0, 0}, Bytes{0, 13, 0}, Bytes{0, 0, 5}, Bytes{0, 0}}) {
    Reader in(side);
    EXPECT_THROW(Plan::read(shape, in), Error);
  }
  const Shape many{9, 9, 9, 9, 9};
  const Bytes all_axes{0, 1, 1, 1, 1, 1};
  Reader in(all_axes);
  EXPECT_THROW(Plan::read(many, in), Error);
}

TEST(Wavelet, StandsBeforeLinearOnly) {
  const auto values = waves({20, 20});
  for (const char* recipe : {"wavelet+logscale+rans", "linear+wavelet+rans", "wavelet+rans",
                             "wavelet+linear:step=pow2+rans", "wavelet+elementwise+rans"}) {
    CompressOptions options;
    options.recipe = recipe;
    options.bound = Bound::abs(0.1);
    EXPECT_THROW(compress(values.data(), {20, 20}, options), Error) << recipe;
  }
}

}  // namespace
}  // namespace leeway::test
