// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/rate.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

Bytes stream_of(const std::vector<float>& values, const Shape& shape, const Bound& bound,
                const std::string& recipe, unsigned threads = 1, Shape chunk = {}) {
  auto options = options_for<float>(bound, recipe);
  options.execution.threads = threads;
  options.chunk = chunk;
  return compress(values.data(), shape, options);
}

double ratio_of(const Bytes& stream, const std::vector<float>& values) {
  return double(values.size() * sizeof(float)) / double(stream.size());
}

TEST(Rate, RatioIsReachedByEveryKindOfRecipe) {
  const Shape shape{50, 60, 70};
  const auto values = make_field<float>(shape, Texture::smooth);
  for (const char* recipe : {"balanced", "fast", "small", "sz3-interp", "cuszp2-outlier"})
    for (const double ratio : {4.0, 8.0, 15.0}) {
      const Bytes stream = stream_of(values, shape, Bound::ratio(ratio), recipe);
      EXPECT_NEAR(ratio_of(stream, values) / ratio, 1, 0.03) << recipe << " " << ratio;
      const Array decoded = decompress(stream);
      const Info info = inspect(stream);
      expect_within<float>(values, decoded.as<float>(), info.header.abs_bound, {}, recipe);
    }
  const Bytes stream = stream_of(values, shape, Bound::rate(4), "balanced");
  EXPECT_NEAR(ratio_of(stream, values), 8, 0.24);
}

// The first half is easy, the second hard: the control must even that out, with the same bytes for
// any number of threads.
TEST(Rate, UnevenArrayInManyChunks) {
  const Shape shape{120, 128, 160};
  const std::string recipe = "linear+lorenzo+huffman";
  auto values = make_field<float>(shape, Texture::smooth);
  const auto noise = make_field<float>(shape, Texture::noise);
  for (size_t i = values.size() / 2; i < values.size(); ++i) values[i] += 0.3f * noise[i];
  const Shape chunk{16, 16, 32};
  for (const double ratio : {5.0, 12.0}) {
    const Bytes stream = stream_of(values, shape, Bound::ratio(ratio), recipe, 1, chunk);
    EXPECT_NEAR(ratio_of(stream, values) / ratio, 1, 0.03) << ratio;
    EXPECT_EQ(stream, stream_of(values, shape, Bound::ratio(ratio), recipe, 3, chunk));
    // Into memory of the caller: the same.
    auto options = options_for<float>(Bound::ratio(ratio), recipe);
    options.execution.threads = 2;
    options.chunk = chunk;
    Bytes memory(stream.size());
    EXPECT_EQ(compress_into(view_of(values.data(), shape), options, memory).output_bytes,
              stream.size());
    EXPECT_EQ(memory, stream);
    // Every chunk says its bound, and keeps it; none is above what the header promises.
    const MemorySource source(stream);
    const StreamReader reader(source);
    for (u64 i = 0; i < reader.chunks(); ++i) {
      const FrameHead head = reader.read_head(i);
      EXPECT_LE(head.max_error, head.bound);
      EXPECT_LE(head.bound, reader.header().abs_bound);
    }
  }
}

TEST(Rate, OtherBoundsWin) {
  const Shape shape{40, 50, 60};
  const auto values = make_field<float>(shape, Texture::noise);
  for (const double cap : {1e-3, 0.1, 3.0}) {
    const auto options = options_for<float>(Bound::ratio(30) && Bound::abs(cap), "balanced");
    Bytes stream;
    const CompressReport report =
        compress(view_of(values.data(), shape), options,
                 [&](ByteView part) { stream.insert(stream.end(), part.begin(), part.end()); });
    EXPECT_LE(report.abs_bound, cap);
    EXPECT_NEAR(double(report.asked_bytes), double(values.size() * sizeof(float)) / 30, 1);
    expect_within<float>(values, decompress(stream).as<float>(), cap, {}, "capped");
    if (cap < 1) EXPECT_LT(ratio_of(stream, values), 29);
  }
}

TEST(Rate, NothingIsLostWithoutNeed) {
  const Shape shape{100, 100};
  std::vector<float> values(size_t(shape.size()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i / 1000);
  const Bytes stream = stream_of(values, shape, Bound::ratio(2), "balanced");
  EXPECT_GT(ratio_of(stream, values), 2);
  EXPECT_EQ(inspect(stream).header.abs_bound, 0);
  expect_within<float>(values, decompress(stream).as<float>(), 0, {}, "lossless");
}

TEST(Rate, StrangeArrays) {
  for (const Shape& shape : shapes())
    for (const Texture texture : kTextures) {
      const auto values = make_field<double>(shape, texture);
      const Bytes stream =
          compress(values.data(), shape, options_for<double>(Bound::ratio(7), "balanced"));
      const Info info = inspect(stream);
      expect_within<double>(values, decompress(stream).as<double>(), info.header.abs_bound,
                            info.header.fills, to_string(shape));
    }
  for (const double value : {0.0, -1.0, std::nan("")}) {
    EXPECT_THROW(Bound::ratio(value), Error);
    EXPECT_THROW(Bound::rate(value), Error);
  }
}

TEST(Rate, IntegersAndUpdates) {
  const Shape shape{64, 64, 64}, chunk{16, 16, 16}, part{16, 16, 16};
  std::vector<i32> values(size_t(shape.size()));
  const auto noise = make_field<float>(shape, Texture::noise);
  for (size_t i = 0; i < values.size(); ++i) values[i] = i32(1000 * noise[i]);
  auto options = options_for<i32>(Bound::ratio(6), "balanced");
  options.chunk = chunk;
  Bytes stream = compress(values.data(), shape, options);
  EXPECT_NEAR(double(values.size() * 4) / double(stream.size()) / 6, 1, 0.03);
  const MemorySource source(stream);
  const double bound = StreamReader(source).read_head(0).bound;
  std::vector<i32> others(size_t(part.size()), 5);
  others[7] = 1000;
  MemoryStore store(stream);
  update(store, {}, view_of(others.data(), part), {});
  EXPECT_EQ(inspect(stream).header.bound.limits().size(), 1u);
  const MemorySource again(stream);
  EXPECT_EQ(StreamReader(again).read_head(0).bound, bound);
}

}  // namespace
}  // namespace leeway::test
