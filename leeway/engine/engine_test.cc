// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/engine.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

TEST(Engine, ChunksDependOnTheShapeAlone) {
  constexpr u64 kMany = u64(1) << 19;
  EXPECT_EQ(default_chunk({512, 512, 512}, u64(1) << 15), Shape({8, 16, 256}));
  EXPECT_EQ(default_chunk({256, 256, 256}, kMany), Shape({32, 64, 256}));
  EXPECT_EQ(default_chunk({100, 100}, kMany), Shape({100, 100}));
  EXPECT_EQ(default_chunk({u64(1) << 21}, kMany), Shape({u64(1) << 19}));
  EXPECT_EQ(default_chunk({}, kMany), Shape());
  EXPECT_EQ(default_chunk({0, 5}, kMany), Shape({1, 5}));
  for (const Shape& shape :
       {Shape{3, 1000, 2000, 5}, Shape{u64(1) << 40}, Shape{7, 7, 7, 7, 7, 7, 7, 7}})
    EXPECT_LE(default_chunk(shape, kMany).size(), kMany);
}

TEST(Engine, WrongChunkShapesAreRefused) {
  const auto values = make_field<float>({10, 10}, Texture::smooth);
  auto options = options_for<float>(Bound::abs(1));
  for (const Shape& chunk : {Shape{10}, Shape{0, 5}}) {
    options.chunk = chunk;
    EXPECT_THROW(compress(values.data(), {10, 10}, options), Error);
  }
  options.chunk = {100, 100};  // cut to the array
  EXPECT_EQ(inspect(compress(values.data(), {10, 10}, options)).header.chunk, Shape({10, 10}));
}

TEST(Engine, RegionsOutsideAreRefused) {
  const auto values = make_field<float>({10, 10}, Texture::smooth);
  const Bytes stream = compress(values.data(), {10, 10}, Bound::abs(1));
  EXPECT_THROW(decompress(stream, Box{{5, 0}, {6, 1}}), Error);
  EXPECT_THROW(decompress(stream, Box{{11, 0}, {0, 1}}), Error);
  EXPECT_THROW(decompress(stream, Box{{0}, {5}}), Error);
  EXPECT_EQ(decompress(stream, Box{{5, 0}, {0, 10}}).shape().size(), 0u);
}

TEST(Engine, RegionsReadOnlyTheirChunks) {
  const Shape shape{64, 64};
  const auto values = make_field<float>(shape, Texture::noise);
  auto options = options_for<float>(Bound::abs(1e-3));
  options.chunk = {8, 8};
  const Bytes stream = compress(values.data(), shape, options);
  const MemorySource source(stream);
  const StreamReader reader(source);
  const u64 before = source.touched();
  Array part(DType::f32, {8, 8});
  decompress_into(reader, {8, 16}, part.view());
  EXPECT_LT(source.touched() - before, stream.size() / 30);
}

TEST(Engine, WrongTargetTypeIsRefused) {
  const auto values = make_field<float>({10}, Texture::smooth);
  const Bytes stream = compress(values.data(), {10}, Bound::abs(1));
  const MemorySource source(stream);
  Array wrong(DType::f64, {10});
  EXPECT_THROW(decompress_into(StreamReader(source), {}, wrong.view()), Error);
}

TEST(Engine, TheStreamStatesTheLargestError) {
  const Shape shape{300, 40};
  for (const std::string recipe : {"balanced", "feedback"}) {
    const auto values = make_field<double>(shape, Texture::noise);
    const Bytes stream =
        compress(values.data(), shape, options_for<double>(Bound::abs(0.01), recipe));
    const Array decoded = decompress(stream);
    double largest = 0;
    for (size_t i = 0; i < values.size(); ++i)
      largest = std::max(largest, std::abs(values[i] - decoded.as<double>()[i]));
    EXPECT_EQ(inspect(stream).statement.max_error, largest);
  }
}

TEST(Engine, HopelessBoundsFallBackToLossless) {
  const Shape shape{5000};
  const auto values = make_field<float>(shape, Texture::noise);
  const Bytes tight = compress(values.data(), shape, Bound::abs(1e-12));
  const Bytes lossless = compress(values.data(), shape, Bound::lossless());
  EXPECT_LE(tight.size(), lossless.size() + 64);
  EXPECT_EQ(inspect(tight).statement.max_error, 0);
}

}  // namespace
}  // namespace leeway::test
