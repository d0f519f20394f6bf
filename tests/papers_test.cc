// SPDX-License-Identifier: BSD-3-Clause
// The examples that the papers calculate, digit for digit, by the stages of the library.
#include "leeway/encode/fixed.h"
#include "leeway/encode/parts/prefix_code.h"
#include "leeway/predict/blocks.h"
#include "leeway/predict/lorenzo.h"
#include "leeway/quantize/linear.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

std::vector<i32> quantized(std::vector<float> values, double bound, const Linear& quantizer = {}) {
  std::vector<i32> codes(values.size());
  Patches<float> exact;
  const double error =
      quantizer.at<float>(bound).quantize(std::span(values), std::span(codes), exact, 0, 0);
  EXPECT_LE(error, bound);
  EXPECT_EQ(exact.count(), 0u);
  return codes;
}

std::vector<i32> differences(const std::vector<i32>& integers) {
  Blocks blocks;
  blocks.params.size = 8;
  std::vector<u32> values(integers.begin(), integers.end());
  Writer side;
  blocks.forward(Field<u32>{values.data(), {values.size()}}, side);
  return {values.begin(), values.end()};
}

Bytes encoded(const std::vector<i32>& codes, i32 outlier) {
  Fixed fixed;
  fixed.params.block = 8;
  fixed.params.outlier = outlier;
  Writer out;
  const auto sink = fixed.sink<i32>(codes.size(), out);
  sink->put_all(codes, {});
  sink->finish();
  return {out.bytes().begin(), out.bytes().end()};
}

// CereSZ, Figure 5: a block of eight values at a bound of 0.1 becomes six bytes, a ratio of 5.33.
TEST(Papers, CereszCompressesItsBlock) {
  const std::vector<float> values{0.83f, 1.85f, 3.44f, 4.87f, 5.01f, 4.66f, 3.41f, 3.63f};
  const std::vector<i32> integers = quantized(values, 0.1);
  EXPECT_EQ(integers, (std::vector<i32>{4, 9, 17, 24, 25, 23, 17, 18}));
  const std::vector<i32> codes = differences(integers);
  EXPECT_EQ(codes, (std::vector<i32>{4, 5, 8, 7, 1, -2, -6, 1}));
  const Bytes bytes = encoded(codes, 0);
  // The fixed length, the signs, and byte n with bit n of all eight magnitudes (Figure 8).
  EXPECT_EQ(bytes, (Bytes{4, 0b00000110, 0b01011001, 0b00010110, 0b11010010, 0b00100000}));
  EXPECT_NEAR(double(sizeof(float) * values.size()) / double(bytes.size()), 5.33, 0.005);
}

// cuSZp2, Figure 5: 1.12 at a bound of 0.1 is 6, and comes back as about 1.2.
TEST(Papers, Cuszp2QuantizesItsValue) {
  EXPECT_EQ(quantized({1.12f}, 0.1), std::vector<i32>{6});
  EXPECT_NEAR(Linear().at<float>(0.1).recover(0.0f, 6), 1.2, 0.005);
}

// cuSZp2, Figure 7: the first difference is 8, the others need one bit. Without the byte of the
// offset, plain encoding takes five bytes (a ratio of 6.4) and outlier encoding three (10.7).
TEST(Papers, Cuszp2KeepsTheOutlierApart) {
  const std::vector<i32> codes{8, 1, 0, -1, 1, 0, 0, 1};
  const Bytes plain = encoded(codes, 0), outlier = encoded(codes, 1);
  EXPECT_EQ(plain.size() - 1, 5u);
  EXPECT_EQ(outlier.size() - 1, 3u);
  // Figure 8: the flag, the size of the outlier (00: one byte), the length of the others.
  EXPECT_EQ(outlier.front(), 0b1'00'00001);
  EXPECT_EQ(outlier[1], 8);
  EXPECT_EQ(plain.front(), 4);
}

// cuSZp2, Figure 8: outliers of one to four bytes are 00, 01, 10 and 11.
TEST(Papers, Cuszp2SaysHowLargeTheOutlierIs) {
  for (const auto& [outlier, bits] : {std::pair{255, 0}, {256, 1}, {65536, 2}, {1 << 24, 3}}) {
    const Bytes bytes = encoded({outlier, 1, 0, -1, 1, 0, 0, 1}, 1);
    EXPECT_EQ(bytes.front(), 0b10000000 + (bits << 5) + 1) << outlier;
    EXPECT_EQ(bytes.size(), size_t(1 + bits + 1 + 1 + 1)) << outlier;
  }
}

// CEAZ, Algorithm 1, as it is printed: outwards from the middle symbol, of two the rarer first.
std::vector<u16> printed_sort(const std::vector<u32>& frequency, size_t middle) {
  const size_t size = frequency.size();
  std::vector<u16> sorted(size);
  sorted[size - 1] = u16(middle);
  size_t l = middle - 1, h = middle + 1, j = size - 2;
  const size_t turns = middle <= (size - 1) / 2 ? middle : size - middle - 1;
  for (size_t i = 0; i < turns; ++i, --l, ++h, j -= 2) {
    const bool low_is_rarer = frequency[l] <= frequency[h];
    sorted[j] = u16(low_is_rarer ? h : l);
    sorted[j - 1] = u16(low_is_rarer ? l : h);
  }
  // "Copy remaining": those on the longer side, outwards.
  if (middle <= (size - 1) / 2)
    for (size_t k = 0; h + k < size; ++k) sorted[j - k] = u16(h + k);
  else
    for (size_t k = 0; k <= l; ++k) sorted[j - k] = u16(l - k);
  return sorted;
}
TEST(Papers, CeazSortsApproximately) {
  for (const size_t middle : {3u, 5u, 6u}) {
    std::vector<u32> frequency(10);
    for (size_t i = 0; i < 10; ++i)
      frequency[i] = u32(1000 / (1 + (i < middle ? middle - i : i - middle)) + 7 * (i % 3));
    EXPECT_EQ(prefix::sorted(frequency, prefix::Sort::approximate),
              printed_sort(frequency, middle));
    // A symmetric histogram without ties is sorted exactly.
  }
  const std::vector<u32> symmetric{1, 4, 9, 20, 50, 19, 8, 3, 2};
  EXPECT_EQ(prefix::sorted(symmetric, prefix::Sort::exact),
            (std::vector<u16>{0, 8, 7, 1, 6, 2, 5, 3, 4}));
  EXPECT_EQ(prefix::sorted(symmetric, prefix::Sort::approximate),
            (std::vector<u16>{0, 8, 7, 1, 6, 2, 5, 3, 4}));
}

// waveSZ, section 3.3: a bound of 1e-3 becomes 2^-10, the nearest power of two below it.
TEST(Papers, WaveszTakesBoundsThatArePowersOfTwo) {
  Linear quantizer;
  quantizer.params.step = StepRule::power_of_two;
  EXPECT_EQ(quantizer.at<float>(1e-3).step, 2 * 0x1p-10);
  EXPECT_EQ(quantizer.at<float>(0x1p-10).step, 2 * 0x1p-10);
  EXPECT_EQ(quantizer.at<double>(1e-6).step, 2 * 0x1p-20);
}

// waveSZ, Figure 2: the signs of the neighbours are those of (-1)^(L + 1), L the Manhattan distance.
TEST(Papers, LorenzosSignsFollowTheManhattanDistance) {
  for (size_t rank = 1; rank <= 4; ++rank) {
    const size_t corners = size_t(1) << rank;
    const std::vector<u64> extents(rank, 2);
    const Shape shape{std::span<const u64>(extents)};
    for (size_t corner = 0; corner < corners; ++corner) {
      std::vector<u32> values(corners);
      values[corner] = 1;
      Writer side;
      Lorenzo().forward(Field<u32>{values.data(), shape}, side);
      const size_t distance = rank - size_t(std::popcount(corner));
      // The difference to the prediction at the last corner, so minus the weight.
      const i32 weight = distance == 0 ? 1 : distance % 2 ? -1 : 1;
      EXPECT_EQ(i32(values.back()), weight) << rank << " axes, corner " << corner;
    }
  }
}

}  // namespace
}  // namespace leeway::test
