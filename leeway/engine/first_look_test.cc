// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/first_look.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

// Into a sink the values are looked at first, into memory on the way: the streams are the same.
template <class T>
void expect_same(const std::vector<T>& values, const Shape& shape, const CompressOptions& options) {
  const View view = view_of(values.data(), shape);
  const Bytes stream = compress(view, options);
  Bytes memory(size_t(max_compressed_size(view.dtype, shape, options)));
  for (const unsigned threads : {1u, 3u}) {
    CompressOptions own = options;
    own.execution.threads = threads;
    const CompressReport report = compress_into(view, own, memory);
    ASSERT_EQ(Bytes(memory.begin(), memory.begin() + std::ptrdiff_t(report.output_bytes)), stream)
        << options.recipe << " " << to_string(shape);
    const Info info = inspect(stream);
    EXPECT_EQ(report.fills, info.header.fills);
    if (options.brief) continue;  // states no range
    EXPECT_EQ(report.min, info.header.min);
    EXPECT_EQ(report.max, info.header.max);
  }
}

TEST(FirstLook, StreamsAreThoseOfTwoPasses) {
  const Shape shape{60, 40, 50};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::string recipe : {"fast", "balanced"})
    for (const Texture texture : {Texture::smooth, Texture::constant, Texture::huge}) {
      const auto options = options_for<float>(Bound::abs(1e-3), recipe);
      auto values = make_field<float>(shape, texture);
      expect_same(values, shape, options);
      values[100000] = nan;  // in a late chunk
      expect_same(values, shape, options);
      values[10] = 1e20f;  // once: an ordinary value
      expect_same(values, shape, options);
      values[110000] = 1e20f;
      expect_same(values, shape, options);
      std::fill(values.begin(), values.begin() + 500, -9999.0f);
      expect_same(values, shape, options);
    }
  const auto smooth = make_field<double>(shape, Texture::smooth);
  expect_same(smooth, shape, options_for<double>(Bound::abs(1e-3), "fast"));
  expect_same(make_field<i16>(shape, Texture::smooth), shape,
              options_for<i16>(Bound::abs(2), "fast"));
}

TEST(FirstLook, BriefStreamsAndEmptyArrays) {
  auto options = options_for<float>(Bound::abs(1e-3), "fast");
  expect_same(std::vector<float>(), {0, 5}, options);
  options.brief = true;
  auto values = make_field<float>({30, 40}, Texture::smooth);
  expect_same(values, {30, 40}, options);
  const Bytes plain = compress(view_of(values.data(), {30, 40}), options);
  values[7] = values[9] = 1e20f;
  expect_same(values, {30, 40}, options);
  EXPECT_EQ(inspect(compress(view_of(values.data(), {30, 40}), options)).header.fills,
            std::vector<u64>{bits_of(1e20f)});
  EXPECT_TRUE(inspect(plain).header.fills.empty());
}

TEST(FirstLook, OnlyAbsoluteBoundsAllowIt) {
  const auto values = make_field<float>({4000}, Texture::smooth);
  Bytes memory(100);
  for (const Bound& bound : {Bound::abs(1e-6), Bound::rel(1e-6), Bound::psnr(80)}) {
    const auto options = options_for<float>(bound, "fast");
    EXPECT_THROW(compress_into(view_of(values.data(), {4000}), options, memory), Error);
    Bytes enough(20000);
    const auto report = compress_into(view_of(values.data(), {4000}), options, enough);
    EXPECT_LE(report.statement.max_error, report.abs_bound);
    EXPECT_LT(report.min, report.max);
  }
}

}  // namespace
}  // namespace leeway::test
