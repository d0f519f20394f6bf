// SPDX-License-Identifier: BSD-3-Clause
// Every SIMD target gives the same bytes and values, equal to the scalar definitions.
#include <hwy/targets.h>

#include "leeway/base/hash.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

template <class F>
void for_each_target(F&& f) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    f(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(Targets, SameStreamsAndValues) {
  for_each_type([]<class T>(std::type_identity<T>) {
    for (const Texture texture : kTextures)
      for (const double bound : {1e-1, 1e-4, 1e-7})
        for (const std::string recipe : {"balanced", "sz1.4", "lossless", "small", "smallest"}) {
          // The slow ones are tried on less.
          const bool slow = recipe.starts_with("small");
          if (slow && (bound != 1e-4 || (texture != Texture::smooth && texture != Texture::hostile)))
            continue;
          const Shape shape{5, 37, 41};
          const auto values = make_field<T>(shape, texture);
          Bytes expected;
          u64 decoded_hash = 0;
          for_each_target([&](const char* target) {
            const Bytes stream =
                compress(values.data(), shape, options_for<T>(Bound::abs(bound), recipe));
            const Array decoded = decompress(stream);
            const u64 hash =
                hash_of({reinterpret_cast<const u8*>(decoded.data()), size_t(decoded.bytes())});
            if (expected.empty()) expected = stream, decoded_hash = hash;
            EXPECT_EQ(stream, expected) << target;
            EXPECT_EQ(hash, decoded_hash) << target;
          });
        }
  });
}

// Straight from an array, in a plane of rows with gaps.
template <class T, class C>
void check_plane(const LinearGrid<T>& grid, const std::vector<T>& from, size_t length) {
  const size_t step = length + 3, rows = from.size() / step;
  const Plane<const std::byte> plane{reinterpret_cast<const std::byte*>(from.data()), rows,
                                     std::ptrdiff_t(step * sizeof(T)), length, sizeof(T)};
  std::vector<T> values(rows * length), recovered(rows * length);
  std::vector<C> codes(rows * length);
  double max_error = 0;
  if (!grid.quantize_plane(plane, values.data(), codes.data(), max_error)) return;
  grid.recover(std::span<const C>(codes), std::span(recovered));
  for (size_t r = 0; r < rows; ++r)
    for (size_t i = 0; i < length; ++i) {
      T slow = from[step * r + i];
      Code<T> code;
      ASSERT_TRUE(grid.quantize(slow, Predicted<T>(0), code));
      ASSERT_EQ(code, codes[r * length + i]);
      ASSERT_EQ(bits_of(slow), bits_of(values[r * length + i]));
      ASSERT_EQ(bits_of(slow), bits_of(recovered[r * length + i]));
      ASSERT_LE(std::abs(double(slow) - double(from[step * r + i])), max_error);
    }
}

template <class T>
void check_linear(double bound, const std::vector<T>& values) {
  const LinearGrid<T> grid(bound);
  for_each_target([&](const char* target) {
    std::vector<T> fast = values;
    std::vector<Code<T>> codes(values.size());
    Patches<T> exact;
    grid.quantize(std::span(fast), std::span(codes), exact);
    // A plane is only for values that all have a code.
    std::vector<T> good;
    for (size_t i = 0; i < values.size(); ++i) {
      T value = values[i];
      Code<T> code;
      if (std::abs(double(values[i])) < 1000 * bound && grid.quantize(value, Predicted<T>(0), code))
        good.push_back(values[i]);
    }
    for (const size_t length : {1, 27, 70}) {
      check_plane<T, Code<T>>(grid, good, length);
      check_plane<T, i16>(grid, good, length);
    }
    std::vector<T> recovered(values.size());
    grid.recover(std::span<const Code<T>>(codes), std::span(recovered));
    exact.apply(std::span(recovered));
    for (size_t i = 0; i < values.size(); ++i) {
      T slow = values[i];
      Code<T> code;
      if (grid.quantize(slow, Predicted<T>(0), code)) {
        ASSERT_EQ(code, codes[i]) << target;
        ASSERT_EQ(bits_of(recovered[i]), bits_of(grid.recover(Predicted<T>(0), code))) << target;
      }
      ASSERT_EQ(bits_of(slow), bits_of(fast[i])) << target;
      ASSERT_EQ(bits_of(slow), bits_of(recovered[i])) << target << " " << double(values[i]);
    }
  });
}

// One value without a code, anywhere in a plane, must show.
template <class C>
void check_refusal(std::initializer_list<float> without_a_code) {
  const LinearGrid<float> grid(1e-3);
  for (const float odd : without_a_code)
    for (const size_t length : {20, 60})
      for (size_t position = 0; position < 60; position += 7)
        for_each_target([&](const char* target) {
          std::vector<float> values(60, 0.5f), decoded(60);
          std::vector<C> codes(60);
          values[position] = odd;
          const Plane<const std::byte> plane{reinterpret_cast<const std::byte*>(values.data()),
                                             60 / length, std::ptrdiff_t(length * sizeof(float)),
                                             length, sizeof(float)};
          double max_error = 0;
          EXPECT_FALSE(grid.quantize_plane(plane, decoded.data(), codes.data(), max_error))
              << target << " " << odd << " at " << position;
        });
}
TEST(Targets, PlanesWithoutACodeAreRefused) {
  check_refusal<i32>({NAN, INFINITY, -INFINITY, 1e30f, -66.0f * 2048});
  check_refusal<i16>({NAN, INFINITY, -INFINITY, 1e30f, 66.0f, -66.0f});
}

TEST(Targets, LinearEqualsItsDefinition) {
  std::mt19937_64 random(9);
  std::vector<float> floats;
  std::vector<double> doubles;
  for (int i = 0; i < 20000; ++i) {
    floats.push_back(std::ldexp(float(i64(random())), int(random() % 80) - 100));
    doubles.push_back(std::ldexp(double(i64(random())), int(random() % 160) - 150));
    if (i % 50 == 0)
      floats.back() = from_bits<float>(random()), doubles.back() = from_bits<double>(random());
  }
  for (const double bound : {1.0, 0.1, 1e-3, 1e-6, 1e-12, 1e-30, 1e-44, 1e-200, 1e30, 3e38}) {
    check_linear(bound, floats);
    check_linear(bound, doubles);
  }
}

}  // namespace
}  // namespace leeway::test
