// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/whole_bound.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "leeway/leeway.hpp"
#include "leeway/quality/compare.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(WholeBound, LimitsOfEachPart) {
  const auto part = [](const Bound& bound, double range = 0, double values = 0) {
    return part_bound({bound, range, values});
  };
  EXPECT_EQ(part(Bound::abs(0.5)), (PartBound{Bound::abs(0.5), 0}));
  EXPECT_EQ(part(Bound::pointwise(1e-3)), (PartBound{Bound::pointwise(1e-3), 0}));
  EXPECT_EQ(part(Bound::lossless()), (PartBound{Bound::lossless(), 0}));
  EXPECT_EQ(part(Bound::abs(0.5) && Bound::lossless()), (PartBound{Bound::lossless(), 0}));
  const double rel = part(Bound::rel(1e-3), 50).each.limits().at(0).value;
  EXPECT_LE(rel, 0.05);
  EXPECT_GT(rel, 0.05 * (1 - 1e-12));
  EXPECT_EQ(part(Bound::abs(0.01) && Bound::rel(1e-3), 50), (PartBound{Bound::abs(0.01), 0}));
  const PartBound psnr = part(Bound::psnr(60) && Bound::abs(1), 50);
  EXPECT_TRUE(psnr.each.limits() == Bound::abs(1).limits());
  EXPECT_LE(psnr.rms, 0.05);
  EXPECT_GT(psnr.rms, 0.05 * (1 - 1e-5));
  EXPECT_DOUBLE_EQ(part(Bound::l2(3), 0, 900).rms, 0.1);
  EXPECT_LE(part(Bound::l2(3) && Bound::psnr(60), 50, 900).rms, 0.05);
  EXPECT_TRUE(part(Bound::psnr(8000), 50).is_lossless());
}

TEST(WholeBound, WhatOnePartCannotKnow) {
  for (const Bound& bound : {Bound::rel(1e-3), Bound::psnr(60), Bound::l2(1), Bound::ratio(10),
                             Bound::rate(2), Bound(), Bound::pointwise(0.1) && Bound::abs(1)})
    EXPECT_THROW(part_bound({bound, 0, 0}), Error) << to_string(bound);
}

// Parts that are padded with zeros or a fill value, as hosts do at the edges of an array: what all
// values together are promised holds although nobody tells a part where it ends.
template <class T>
void check_parts(const WholeBound& whole, const std::string& recipe, T pad) {
  constexpr u64 kSide = 32, kUsed = 5, kParts = 3;
  const Shape shape{kSide, kSide};
  double squares = 0, count = 0, worst = 0;
  for (u64 part = 0; part < kParts; ++part) {
    auto values = make_field<T>(shape, Texture::smooth);
    for (u64 i = 0; i < values.size(); ++i)
      if (i % kSide >= kUsed) values[i] = pad;
    CompressOptions options;
    part_bound(whole).apply_to(options);
    options.recipe = recipe;
    if (pad != 0) options.fills = {double(pad)};
    const Bytes stream = compress(values.data(), shape, options);
    EXPECT_LE(stream.size(), max_compressed_size(dtype_of<T>(), shape, options));
    const Array decoded = decompress(stream);
    const Comparison found = compare(view_of(values.data(), shape),
                                     View(decoded.data(), decoded.dtype(), shape), {}, false);
    squares += found.l2 * found.l2;
    count += double(kSide * kUsed);
    worst = std::max(worst, found.max_abs);
    const Info info = inspect(stream);
    EXPECT_LE(found.max_abs, info.header.abs_bound);
    for (const Limit& limit : info.header.bound.limits())
      if (limit.kind == BoundKind::l2) EXPECT_LE(found.l2, limit.value);
  }
  EXPECT_GT(worst, 0);
  for (const Limit& limit : whole.bound.limits()) {
    if (limit.kind == BoundKind::l2) EXPECT_LE(std::sqrt(squares), limit.value);
    if (limit.kind == BoundKind::psnr)
      EXPECT_GE(20 * std::log10(whole.range / std::sqrt(squares / count)), limit.value);
    if (limit.kind == BoundKind::abs) EXPECT_LE(worst, limit.value);
  }
}

TEST(WholeBound, HoldsForTheWholeIfEveryPartKeepsIt) {
  for (const std::string recipe : {"balanced", "small"})
    for (const double pad : {0.0, 12345.0}) {
      SCOPED_TRACE(recipe);
      check_parts<float>({Bound::psnr(50), 4, 0}, recipe, float(pad));
      check_parts<double>({Bound::psnr(40) && Bound::abs(0.04), 4, 0}, recipe, pad);
      check_parts<float>({Bound::l2(0.5), 0, 480}, recipe, float(pad));
    }
}

TEST(WholeBound, PartsOfNothingButPaddingAreKept) {
  const Shape shape{100};
  CompressOptions options;
  options.rms = 0.1;
  const std::vector<float> values(100, 0.0f);
  const Bytes stream = compress(values.data(), shape, options);
  EXPECT_TRUE(inspect(stream).header.bound.has(BoundKind::lossless));
  const Array decoded = decompress(stream);
  EXPECT_TRUE(std::ranges::equal(decoded.as<float>(), values));
}

}  // namespace
}  // namespace leeway::test
