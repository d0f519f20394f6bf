// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/base/types.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace leeway {
namespace {

TEST(Types, NamesAndSizesAgree) {
  for (u8 id = 1; is_dtype(id); ++id)
    visit_dtype(DType(id), [&]<class T>(std::type_identity<T>) {
      EXPECT_EQ(dtype_of<T>(), DType(id));
      EXPECT_EQ(size_of(DType(id)), sizeof(T));
      EXPECT_TRUE(name_of(DType(id)).ends_with(std::to_string(8 * sizeof(T))));
    });
  EXPECT_FALSE(is_dtype(0));
  EXPECT_FALSE(is_dtype(13));
}

template <class H>
void check_half(double smallest, double largest) {
  // Every bit pattern survives the way through float, NaN aside.
  for (u32 bits = 0; bits < 65536; ++bits) {
    H h;
    h.bits = u16(bits);
    const float f = h;
    if (std::isnan(f))
      EXPECT_TRUE(std::isnan(float(H(f))));
    else
      EXPECT_EQ(H(f).bits, h.bits);
  }
  // Halfway between two neighbours goes to the even one, anything beyond to the nearer.
  for (u32 bits = 0; bits < 0x7b00; bits += 7) {
    H a, b;
    a.bits = u16(bits);
    b.bits = u16(bits + 1);
    const float middle = float((double(a) + double(b)) / 2);
    EXPECT_EQ(H(middle).bits, bits % 2 ? b.bits : a.bits);
    EXPECT_EQ(H(std::nextafter(middle, std::numeric_limits<float>::infinity())).bits, b.bits);
    EXPECT_EQ(H(std::nextafter(middle, -std::numeric_limits<float>::infinity())).bits, a.bits);
  }
  EXPECT_EQ(double(H(float(smallest))), smallest);
  EXPECT_EQ(double(H(float(largest))), largest);
  EXPECT_TRUE(std::isinf(float(H(std::numeric_limits<float>::max()))));
}

TEST(Types, HalfRoundsToNearestEven) { check_half<f16>(0x1p-24, 65504); }
TEST(Types, BrainFloatRoundsToNearestEven) { check_half<bf16>(0x1p-133, 0x1.fep127); }
TEST(Types, HalfOverflowsToInfinity) {
  EXPECT_TRUE(std::isinf(float(f16(65520.0f))));
  EXPECT_EQ(float(f16(65519.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(float(f16(-1e30f))));
}

}  // namespace
}  // namespace leeway
