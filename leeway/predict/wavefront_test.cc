// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "leeway/predict/wavefront_test.h"

#include "leeway/predict/lorenzo.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

// Codes, reconstructed values and decoded values with waves are those without, bit for bit.
template <class T, class P>
void check_equal(const P& predictor, const Shape& shape, const LinearParams& params, double bound,
                 Texture texture, bool kept = false) {
  const auto original = make_field<T>(shape, texture);
  std::vector<T> values[2] = {original, original};
  Loop<T> loops[2] = {{LinearGrid<T>(bound, params), false}, {LinearGrid<T>(bound, params), true}};
  for (int k = 0; k < 2; ++k) predictor.walk(Field<T>{values[k].data(), shape}, loops[k]);
  const auto same = [](const T& a, const T& b) { return bits_of(a) == bits_of(b); };
  EXPECT_EQ(loops[0].codes, loops[1].codes);
  EXPECT_EQ(loops[0].max_error, loops[1].max_error);
  EXPECT_TRUE(std::ranges::equal(values[0], values[1], same)) << to_string(shape);
  if (loops[0].without_code > 0) return;
  std::vector<T> decoded(values[0].size());
  if (kept) decoded = values[0];  // the border
  Loop<T> back = loops[1];
  back.done = 0;
  back.decodes_now = true;
  predictor.walk(Field<T>{decoded.data(), shape}, back);
  EXPECT_TRUE(std::ranges::equal(values[0], decoded, same)) << to_string(shape);
}

TEST(Wavefront, WavesChangeNoBit) {
  const Shape shapes[] = {{16, 32},  {17, 33},   {40, 100},      {5, 64},         {3, 70},
                          {2, 80},   {31, 31},   {64, 16},       {4, 20, 40},     {3, 37, 65},
                          {8, 8, 8}, {100, 200}, {2, 3, 18, 48}, {2, 2, 2, 9, 33}};
  for (const Shape& shape : shapes)
    for (const Texture texture : kTextures)
      for (const double bound : {0.3, 1e-3, 1e-6}) {
        check_equal<float>(Lorenzo(), shape, {}, bound, texture);
        check_equal<double>(Lorenzo(), shape, {}, bound, texture);
        const LinearParams binary{StepRule::power_of_two, 65536};
        for (const Border border : {Border::exact, Border::predicted}) {
          Wavefront wavefront;
          wavefront.params.border = border;
          check_equal<float>(wavefront, shape, binary, bound, texture, true);
          check_equal<double>(wavefront, shape, binary, bound, texture, true);
        }
      }
}

TEST(Wavefront, WavesAreUsed) {
  const Shape shape{40, 100};
  auto values = make_field<float>(shape, Texture::smooth);
  Loop<float> loop{LinearGrid<float>(1e-3), true};
  Lorenzo().walk(Field<float>{values.data(), shape}, loop);
  if (wave_rows_f32() > 0) EXPECT_GT(loop.waves, 1u);
}

// The paper's example: the bound 2^floor(log2 e), so that no bound is ever exceeded.
TEST(Wavefront, BinaryStep) {
  EXPECT_EQ(binary_step(1.0), 2.0);
  EXPECT_EQ(binary_step(1.9), 2.0);
  EXPECT_EQ(binary_step(1e-3), 0x1p-9);
  EXPECT_EQ(binary_step(0x1p-10), 0x1p-9);
}

}  // namespace
}  // namespace leeway::test
