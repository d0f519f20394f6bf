// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/pyramid.h"

#include <algorithm>

#include "tests/support.h"

namespace leeway::test {
namespace {

std::vector<float> wave(const Shape& shape, double period) {
  std::vector<float> values;
  for_each_outer(shape, 0, [&](const Index& index) {
    double sum = 0;
    for (size_t axis = 0; axis < shape.rank(); ++axis)
      sum += std::sin(double(index[axis]) * 6.283 / period + double(axis));
    values.push_back(float(sum));
  });
  return values;
}

double ratio_of(const std::vector<float>& values, const Shape& shape, const std::string& recipe,
                double bound) {
  const auto options = options_for<float>(Bound::rel(bound), recipe);
  check_round_trip(values, shape, options);
  return double(values.size() * 4) / double(compress(values.data(), shape, options).size());
}

// What `small` and `smallest` try first; the presets themselves may take something else.
constexpr const char* kSmall = "pyramid+linear+rans";
constexpr const char* kSmallest = "pyramid:taps=28,every=4,gain=0+linear+rans";
// A recipe that decodes fast, to compare with.
constexpr const char* kLorenzo = "linear+lorenzo+huffman+zstd";

// Settings as the stream holds them, behind the head of the only frame.
struct Settings {
  u8 frozen, tight, taps;
};
Settings settings_of(const Bytes& stream) {
  constexpr std::string_view kMagic = "LWYc";
  const auto found = std::search(stream.begin(), stream.end(), kMagic.begin(), kMagic.end());
  Reader in(ByteView(stream).subspan(size_t(found - stream.begin()) + 64));
  if (const u8 kind = in.get<u8>(); kind == 4)
    in.take(12 * in.get<u8>());  // levels
  else
    EXPECT_EQ(kind, 1);      // coded
  in.take(in.get_varint());  // mask
  EXPECT_EQ(in.get_varint(), 5u);
  EXPECT_EQ(in.get<u8>(), 0u);  // not worth packing
  const u8 frozen = in.get<u8>(), tight = in.get<u8>(), taps = in.get<u8>();
  return {frozen, tight, taps};
}

// Any axes frozen, with and without learning, in all ranks.
TEST(Pyramid, EverySettingRoundTrips) {
  for (const Shape& shape : {Shape{300}, Shape{20, 31}, Shape{9, 10, 33}, Shape{4, 5, 6, 17}}) {
    const auto values = wave(shape, 9);
    for (int frozen = 0; frozen < 1 << shape.rank(); ++frozen)
      for (const std::string rest :
           {",tight=0,taps=0", ",tight=1,taps=5,gain=0,every=1", ",tight=2,taps=40,gain=0,every=1"})
        check_round_trip(
            values, shape,
            options_for<float>(Bound::rel(1e-3),
                               "pyramid:frozen=" + std::to_string(frozen) + rest + "+linear+rans"));
  }
}

TEST(Pyramid, SmoothFieldsBecomeSmall) {
  const Shape shape{64, 65, 66};
  const auto values = wave(shape, 40);
  EXPECT_GT(ratio_of(values, shape, kSmall, 1e-3), 3 * ratio_of(values, shape, kLorenzo, 1e-3));
}

// A short wave along an axis cannot be interpolated, but learned.
TEST(Pyramid, LearningFindsWaves) {
  const Shape shape{40, 64, 64};
  const auto values = wave(shape, 4.7);
  EXPECT_GT(ratio_of(values, shape, "smallest", 1e-3),
            1.3 * ratio_of(values, shape, "pyramid:taps=0+linear+rans", 1e-3));
}

// Particles: a frame tells about the next, a particle nothing about its neighbour.
TEST(Pyramid, TrajectoriesArePredictedAlongTime) {
  const Shape shape{50, 3000};
  std::mt19937_64 random(8);
  std::normal_distribution<float> normal;
  std::vector<float> values(size_t(shape.size())), phase(3000), speed(3000);
  for (size_t i = 0; i < 3000; ++i) {
    phase[i] = 3 * normal(random);
    speed[i] = 0.2f + 0.02f * normal(random);
  }
  for (size_t t = 0; t < 50; ++t)
    for (size_t i = 0; i < 3000; ++i)
      values[t * 3000 + i] = std::sin(phase[i] + speed[i] * float(t)) + float(i % 7);
  const auto options = options_for<float>(Bound::rel(1e-3), kSmall);
  EXPECT_TRUE(settings_of(compress(values.data(), shape, options)).frozen & 2);
  EXPECT_GT(ratio_of(values, shape, kSmall, 1e-3),
            1.5 * ratio_of(values, shape, kLorenzo, 1e-3));
}

// Slices that have nothing to do with each other, in any place among the axes.
TEST(Pyramid, AxesWithoutLikenessAreFrozen) {
  const Shape shape{24, 40, 41};
  for (size_t frozen = 0; frozen < 3; ++frozen) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    std::array<double, 64> offset;
    for (double& o : offset) o = 10 * normal(random);
    std::vector<float> values;
    for_each_outer(shape, 0, [&](const Index& index) {
      double sum = offset[index[frozen]];
      for (size_t axis = 0; axis < 3; ++axis)
        if (axis != frozen)
          sum += std::sin(double(index[axis]) * 0.2 + offset[index[frozen]] * double(axis + 1));
      values.push_back(float(sum));
    });
    const auto options = options_for<float>(Bound::rel(1e-4), kSmall);
    EXPECT_TRUE(settings_of(compress(values.data(), shape, options)).frozen & 1 << frozen);
  }
}

// The trials must find what made decoded data, however large: here more than they look at.
TEST(Pyramid, DecodedDataKeepsItsSettings) {
  const Shape shape{30, 60, 61};
  for (const std::string recipe : {kSmall, kSmallest})
    for (const double period : {3.0, 11.0, 60.0}) {
      const auto values = wave(shape, period);
      const auto options = options_for<float>(Bound::abs(2e-3), recipe);
      const Bytes once = compress(values.data(), shape, options);
      const Array decoded = decompress(once);
      const Bytes twice = compress(decoded.as<float>().data(), shape, options);
      const Settings a = settings_of(once), b = settings_of(twice);
      EXPECT_EQ(a.frozen, b.frozen);
      EXPECT_EQ(a.tight, b.tight);
      EXPECT_EQ(a.taps, b.taps);
      const Array again = decompress(twice);
      EXPECT_TRUE(std::ranges::equal(decoded.as<float>(), again.as<float>()));
    }
}

TEST(Pyramid, SpecialValuesDoNotSpoilTheirNeighbours) {
  const Shape shape{128, 128};
  auto values = wave(shape, 60);
  const double clean = ratio_of(values, shape, "small", 1e-4);
  for (size_t y = 40; y < 60; ++y)
    for (size_t x = 30; x < 70; ++x) values[y * 128 + x] = NAN;
  EXPECT_GT(ratio_of(values, shape, "small", 1e-4), 0.6 * clean);
}

TEST(Pyramid, SettingsOutsideTheirRangeAreRefused) {
  for (const Bytes& side : {Bytes{8, 0, 0, 0}, Bytes{0, 3, 0, 0}, Bytes{0, 0, 65, 0},
                            Bytes{0, 0, 0, 41}, Bytes{0, 0, 0}}) {
    Reader in(side);
    EXPECT_THROW(Pyramid().read(Shape{3, 4, 5}, in), Error);
  }
}

TEST(Pyramid, PredictionsOfIntegersStayInRange) {
  EXPECT_EQ(predicted_as<u8>(300.0f), 255u);
  EXPECT_EQ(predicted_as<u8>(-1.0f), 0u);
  EXPECT_EQ(predicted_as<u8>(7.5f), 8u);
  EXPECT_EQ(i64(predicted_as<i16>(-7.5f)), -7);
  EXPECT_EQ(predicted_as<u64>(1e30), ~u64(0));
  EXPECT_EQ(i64(predicted_as<i64>(double(NAN))), std::numeric_limits<i64>::min());
}

}  // namespace
}  // namespace leeway::test
