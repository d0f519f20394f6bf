// SPDX-License-Identifier: BSD-3-Clause
// Every SIMD target gives the same bytes and values, equal to the scalar definitions.
#include <hwy/targets.h>

#include "leeway/core/hash.h"
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
        for (const std::string recipe : {"balanced", "feedback", "lossless"}) {
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

template <class T>
void check_linear(double bound, const std::vector<T>& values) {
  const LinearGrid<T> grid(bound);
  for_each_target([&](const char* target) {
    std::vector<T> fast = values;
    std::vector<Code<T>> codes(values.size());
    Patches<T> exact;
    grid.quantize(std::span(fast), std::span(codes), exact);
    std::vector<T> recovered(values.size());
    grid.recover(std::span<const Code<T>>(codes), std::span(recovered));
    exact.apply(std::span(recovered));
    for (size_t i = 0; i < values.size(); ++i) {
      T slow = values[i];
      Code<T> code;
      if (grid.quantize(slow, code)) {
        ASSERT_EQ(code, codes[i]) << target;
        ASSERT_EQ(bits_of(recovered[i]), bits_of(grid.recover(Predicted<T>(0), code))) << target;
      }
      ASSERT_EQ(bits_of(slow), bits_of(fast[i])) << target;
      ASSERT_EQ(bits_of(slow), bits_of(recovered[i])) << target << " " << double(values[i]);
    }
  });
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
