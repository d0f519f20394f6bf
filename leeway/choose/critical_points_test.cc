// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/choose/critical_points.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

// Waves of some lengths and a little noise, with many zeros.
template <class T>
std::vector<T> vectors(const Shape& shape, unsigned seed, double noise) {
  std::mt19937 random(seed);
  const bool leads = shape[0] == shape.rank() - 1;
  const size_t components = shape.rank() - 1;
  std::vector<T> values;
  for_each_outer(shape, 0, [&](const Index& at) {
    const size_t c = size_t(leads ? at[0] : at[components]);
    double x = 0;
    for (size_t k = 0; k < components; ++k)
      x += std::sin(double(at[leads ? k + 1 : k]) * (0.61 + 0.17 * double((k + c) % 3)) +
                    double(seed + 3 * c));
    values.push_back(T(x + noise * (double(random() % 2001) / 1000 - 1)));
  });
  return values;
}

TEST(CriticalPoints, AreFoundWhereTheyAre) {
  // A vortex around (2.3, 4.6), and a saddle beside it.
  const Shape shape{2, 9, 10};
  std::vector<double> values;
  for (int c = 0; c < 2; ++c)
    for (int y = 0; y < 9; ++y)
      for (int x = 0; x < 10; ++x) values.push_back(c == 0 ? -(y - 2.3) : x - 4.6);
  const View field = view_of(values.data(), shape);
  EXPECT_EQ(compare_critical_points(field, field).before, 1u);
  auto moved = values;
  for (size_t i = 0; i < moved.size() / 2; ++i) moved[i] += 100;
  const CriticalPoints found = compare_critical_points(field, view_of(moved.data(), shape));
  EXPECT_EQ(found.lost, 1u);
  EXPECT_EQ(found.after, 0u);
}

TEST(CriticalPoints, StayUnderTheirBoundsWhateverTheErrorsAre) {
  std::mt19937 random(8);
  for (const Shape& shape :
       {Shape{2, 40, 50}, Shape{40, 50, 2}, Shape{3, 12, 13, 14}, Shape{12, 13, 14, 3}})
    for_each_type([&]<class T>(std::type_identity<T>) {
      if constexpr (std::is_floating_point_v<T>)
        for (const double noise : {0.0, 0.3}) {
          const auto values = vectors<T>(shape, 5, noise);
          const View field = view_of(values.data(), shape);
          const std::vector<float> bounds = critical_point_bounds(field, 0.5, {});
          EXPECT_GT(compare_critical_points(field, field).before, 5u);
          for (int attempt = 0; attempt < 10; ++attempt) {
            auto others = values;
            for (size_t i = 0; i < others.size(); ++i) {
              // The worst errors are the largest.
              const double sign = random() % 2 ? 1 : -1;
              const T moved = T(double(values[i]) + sign * double(bounds[i]));
              if (std::abs(double(moved) - double(values[i])) <= double(bounds[i]))
                others[i] = moved;
            }
            const CriticalPoints found =
                compare_critical_points(field, view_of(others.data(), shape));
            EXPECT_EQ(found.lost + found.gained, 0u) << to_string(shape);
          }
        }
    });
}

TEST(CriticalPoints, SurviveCpsz) {
  for (const Shape& shape : {Shape{2, 60, 70}, Shape{3, 20, 21, 22}, Shape{20, 21, 22, 3}}) {
    auto values = vectors<float>(shape, 2, 0.01);
    values[17] = std::numeric_limits<float>::quiet_NaN();
    const View field = view_of(values.data(), shape);
    const auto loss = [&](const char* recipe) {
      const Bytes stream =
          check_round_trip(values, shape, options_for<float>(Bound::rel(1e-1), recipe));
      const Array decoded = decompress(stream);
      const auto found =
          compare_critical_points(field, View(decoded.data(), decoded.dtype(), shape));
      return found.lost + found.gained;
    };
    EXPECT_EQ(loss("cpsz"), 0u);
    EXPECT_GT(loss("lorenzo+linear+huffman+zstd"), 0u);
  }
  // The same for any number of threads.
  const Shape shape{3, 20, 21, 22};
  const auto values = vectors<double>(shape, 3, 0.1);
  auto options = options_for<double>(Bound::abs(0.1), "cpsz");
  const Bytes stream = compress(values.data(), shape, options);
  options.execution.threads = 3;
  EXPECT_EQ(compress(values.data(), shape, options), stream);
}

TEST(CriticalPoints, OnlyOfVectorFields) {
  const std::vector<float> values(1000);
  for (const Shape& shape : {Shape{10}, Shape{2, 10}, Shape{4, 5, 6}, Shape{2, 5, 6, 7}, Shape{}})
    EXPECT_THROW(compress(values.data(), shape, options_for<float>(Bound::abs(1), "cpsz")), Error);
  const std::vector<i32> counts(200);
  EXPECT_THROW(compress(counts.data(), {2, 10, 10}, options_for<i32>(Bound::abs(1), "cpsz")),
               Error);
  auto options = options_for<float>(Bound::abs(1), "cpsz");
  options.bounds = view_of(values.data(), {2, 10, 10});
  EXPECT_THROW(compress(values.data(), {2, 10, 10}, options), Error);
  EXPECT_NO_THROW(check_round_trip(std::vector<float>(2 * 1 * 5), {2, 1, 5},
                                   options_for<float>(Bound::abs(1), "cpsz")));
}

}  // namespace
}  // namespace leeway::test
