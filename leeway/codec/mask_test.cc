// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/codec/mask.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Mask, ReplacesByTheValueBefore) {
  const float nan = std::nanf("");
  std::vector<float> values = {nan, nan, 1, 2, INFINITY, 7, -1, nan};
  const auto original = values;
  const Mask mask{.fills = {bits_of(7.0f)}};
  Patches<float> patches;
  EXPECT_EQ(mask.take_out(Field<float>{values.data(), {8}}, patches),
            (std::vector<u8>{1, 1, 0, 0, 1, 1, 0, 1}));
  EXPECT_EQ(values, (std::vector<float>{1, 1, 1, 2, 2, 2, -1, -1}));
  patches.apply(values);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(bits_of(values[i]), bits_of(original[i]));
}

TEST(Mask, KnowsSpecialValuesOfEveryType) {
  for_each_type([]<class T>(std::type_identity<T>) {
    for (u64 trial = 0; trial < 70000; ++trial) {
      const T value = from_bits<T>(trial * 0x9e3779b97f4a7c15u >> (64 - 8 * sizeof(T)));
      bool finite = true;
      if constexpr (is_floating<T>) finite = std::isfinite(double(value));
      ASSERT_EQ(is_nonfinite(value), !finite);
    }
  });
}

}  // namespace
}  // namespace leeway::test
