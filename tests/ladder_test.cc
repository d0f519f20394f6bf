// SPDX-License-Identifier: BSD-3-Clause
// The ladder of presets: on fields of every kind each makes streams no larger than the faster one,
// and the default reaches what it is known to reach, without terraces and within the range of the
// original.
#include <algorithm>

#include "tests/support.h"

namespace leeway::test {
namespace {

constexpr const char* kLadder[] = {"fast", "balanced", "small", "smallest"};
// A bound as a part of the range, and the least ratio of the default there.
struct Floor {
  double rel, ratio;
};

std::vector<float> make_smooth(const Shape& shape) {
  std::vector<float> values;
  for (u64 z = 0; z < shape[0]; ++z)
    for (u64 y = 0; y < shape[1]; ++y)
      for (u64 x = 0; x < shape[2]; ++x)
        values.push_back(
            float(std::sin(0.07 * double(x) + 0.03 * double(z)) * std::cos(0.05 * double(y)) +
                  0.3 * std::sin(0.11 * double(z) + 0.02 * double(y))));
  return values;
}

std::vector<float> with_noise(std::vector<float> values, float size) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> noise(-size, size);
  for (float& value : values) value += noise(random);
  return values;
}

// Land in the middle of an ocean.
std::vector<float> masked(std::vector<float> values, const Shape& shape) {
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t x = i % size_t(shape[2]), y = i / size_t(shape[2]) % size_t(shape[1]);
    if ((x / 7 + y / 5) % 4 == 0) values[i] = 1e20f;
  }
  return values;
}

// Atoms that swing around the places of a lattice, frame by frame.
std::vector<float> make_particles(const Shape& shape) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> phase(0, 6.3f);
  std::vector<float> values(size_t(shape.size()));
  const auto atoms = size_t(shape[1]);
  for (size_t atom = 0; atom < atoms; ++atom) {
    const float start = phase(random), speed = 0.2f + 0.02f * phase(random);
    for (size_t frame = 0; frame < size_t(shape[0]); ++frame)
      values[frame * atoms + atom] =
          float(atom % 40) * 1.5f + 0.1f * std::sin(start + speed * float(frame));
  }
  return values;
}

// Blocks of 36 x 36, each nearly a column times a row.
std::vector<float> make_integrals(const Shape& shape) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> values;
  while (values.size() < size_t(shape.size())) {
    float column[36], row[36];
    for (float& value : column) value = normal(random);
    for (float& value : row) value = normal(random);
    const float scale = std::exp2(4 * normal(random));
    for (const float a : column)
      for (const float b : row) values.push_back(scale * (a * b + 0.01f * normal(random)));
  }
  values.resize(size_t(shape.size()));
  return values;
}

std::vector<i32> make_counts(const Shape& shape) {
  std::mt19937 random(9);
  std::vector<i32> values;
  for (u64 i = 0; i < shape.size(); ++i)
    values.push_back(std::poisson_distribution<i32>(i % 300 < 40 ? 30.0 : 0.3)(random));
  return values;
}

template <class T>
void check(const char* name, const std::vector<T>& values, const Shape& shape,
           const std::vector<Floor>& floors) {
  constexpr double kHeaders = 1.001;
  constexpr size_t kFewBytes = 48;  // the same in streams of some hundred bytes: longer recipes
  for (const Floor& floor : floors) {
    auto options = options_for<T>(Bound::rel(floor.rel));
    size_t before = ~size_t(0);
    for (const char* preset : kLadder) {
      options.recipe = preset;
      const Bytes stream = compress(values.data(), shape, options);
      if (before != ~size_t(0)) {
        EXPECT_LE(double(stream.size()), double(before) * kHeaders + kFewBytes)
            << name << " " << floor.rel << " " << preset;
      }
      before = stream.size();
      if (options.recipe != "balanced") continue;
      const double ratio = double(values.size() * sizeof(T)) / double(stream.size());
      EXPECT_GE(ratio, floor.ratio) << name << " " << floor.rel;
      const auto asked_for_nothing = options_for<T>(Bound::rel(floor.rel));
      EXPECT_EQ(compress(values.data(), shape, asked_for_nothing), stream);
    }
  }
}

TEST(Ladder, EachPresetIsSmallerThanTheFasterOne) {
  const Shape solid{40, 50, 60}, frames{40, 3000}, blocks{40 * 1296}, image{250, 300};
  const auto smooth = make_smooth(solid);
  check("smooth", smooth, solid, {{1e-2, 480}, {1e-3, 190}, {1e-4, 66}});
  check("rough", with_noise(smooth, 0.2f), solid, {{1e-2, 9}, {1e-4, 3.1}});
  check("masked", masked(smooth, solid), solid, {{1e-2, 175}, {1e-4, 20}});
  check("particles", make_particles(frames), frames, {{1e-2, 450}, {1e-3, 29}});
  check("integrals", make_integrals(blocks), blocks, {{1e-4, 16}, {1e-6, 4.6}});
  check("constant", std::vector<float>(size_t(solid.size()), 2.5f), solid, {{1e-3, 1200}});
  if (kIsCompiled<i32>) check("counts", make_counts(image), image, {{1e-2, 10}, {1e-6, 10}});
}

// Sums of squares of differences between neighbours along rows.
double roughness(std::span<const float> values, std::span<const float> of, size_t row) {
  double sum = 0;
  for (size_t i = 1; i < values.size(); ++i)
    if (i % row != 0)
      sum += std::pow(double(values[i]) - of[i] - (double(values[i - 1]) - of[i - 1]), 2);
  return sum;
}

// Where values are quantized before they are predicted, a smooth field becomes a flight of steps.
TEST(Ladder, TheDefaultMakesNoTerraces) {
  const Shape shape{40, 50, 60};
  const auto smooth = make_smooth(shape);
  const auto decoded = [&](const char* recipe) {
    return decompress(compress(smooth.data(), shape, options_for<float>(Bound::rel(1e-2), recipe)));
  };
  const Array in_steps = decoded("linear+lorenzo+huffman+zstd"), ours = decoded("balanced");
  EXPECT_LT(roughness(ours.as<float>(), smooth, 60),
            0.2 * roughness(in_steps.as<float>(), smooth, 60));
}

TEST(Ladder, DecodedValuesStayWithinTheRange) {
  const Shape shape{40, 50, 60};
  std::vector<float> rain = with_noise(make_smooth(shape), 0.3f);
  for (float& value : rain) value = std::max(value, 0.0f);
  const auto [least, most] = std::ranges::minmax(rain);
  for (const char* preset : {"balanced", "small", "smallest"})
    for (const double rel : {0.1, 1e-2, 1e-3}) {
      const Array decoded =
          decompress(compress(rain.data(), shape, options_for<float>(Bound::rel(rel), preset)));
      const auto [low, high] = std::ranges::minmax(decoded.as<float>());
      EXPECT_GE(low, least) << preset << " " << rel;
      EXPECT_LE(high, most) << preset << " " << rel;
    }
}

}  // namespace
}  // namespace leeway::test
