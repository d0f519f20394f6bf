// SPDX-License-Identifier: BSD-3-Clause
#include "tests/support.h"

namespace leeway::test {
namespace {

struct Case {
  Shape shape{30, 40, 50};
  Shape chunk{8, 16, 32};
  double bound = 1e-3;
  std::vector<float> values = make_field<float>(shape, Texture::smooth);
  Bytes stream = make("fast");

  Bytes make(const std::string& recipe) const {
    auto options = options_for<float>(Bound::abs(bound), recipe);
    options.chunk = chunk;
    return compress(values.data(), shape, options);
  }
};

std::vector<float> decoded_of(ByteView stream) {
  const Array array = decompress(stream);
  return {array.as<float>().begin(), array.as<float>().end()};
}

// Writes `values` into the region; checks everything that must hold afterwards.
UpdateReport check_update(Bytes& stream, double bound, const Box& region,
                          const std::vector<float>& values, unsigned threads = 1) {
  const auto before = decoded_of(stream);
  const double error_before = inspect(stream).statement.max_error;
  MemoryStore store(stream);
  Execution execution;
  execution.threads = threads;
  const UpdateReport report =
      update(store, region.first, view_of(values.data(), region.shape), execution);
  EXPECT_EQ(report.stream_bytes, stream.size());
  const auto after = decoded_of(stream);
  const Shape& shape = inspect(stream).header.shape;
  size_t i = 0, used = 0;
  for_each_outer(shape, 0, [&](const Index& at) {
    bool inside = true;
    for (size_t axis = 0; axis < shape.rank(); ++axis)
      inside &=
          at[axis] >= region.first[axis] && at[axis] < region.first[axis] + region.shape[axis];
    if (inside)
      EXPECT_LE(std::abs(double(after[i]) - double(values[used++])), bound);
    else
      EXPECT_EQ(bits_of(after[i]), bits_of(before[i]));
    ++i;
  });
  EXPECT_EQ(used, values.size());
  EXPECT_GE(inspect(stream).statement.max_error, std::min(error_before, bound) * 0.5);
  EXPECT_LE(inspect(stream).statement.max_error, bound);
  return report;
}

TEST(Update, ReplacesARegionAndNothingElse) {
  for (const std::string recipe : {"fast", "balanced", "sz1.4", "cuszp2-outlier"})
    for (const unsigned threads : {1u, 3u}) {
      Case c;
      c.stream = c.make(recipe);
      const Box region{{5, 10, 20}, {10, 20, 25}};
      auto values = make_field<float>(region.shape, Texture::noise);
      const UpdateReport report = check_update(c.stream, c.bound, region, values, threads);
      EXPECT_EQ(report.chunks, 2 * 2 * 2u);
      EXPECT_GT(report.moved, 0u);  // noise takes more room
      // Smooth values fit where the noise was.
      values = make_field<float>(region.shape, Texture::smooth);
      EXPECT_EQ(check_update(c.stream, c.bound, region, values, threads).moved, 0u);
    }
}

TEST(Update, UntouchedChunksKeepTheirBytes) {
  Case c;
  const Bytes before = c.stream;
  const Box region{{0, 0, 0}, {8, 16, 32}};
  check_update(c.stream, c.bound, region, make_field<float>(region.shape, Texture::noise));
  const MemorySource old_source(before), new_source(c.stream);
  const StreamReader old_reader(old_source), new_reader(new_source);
  for (u64 ordinal = 1; ordinal < old_reader.chunks(); ++ordinal) {
    Bytes a, b;
    EXPECT_EQ(old_reader.offset(ordinal), new_reader.offset(ordinal));
    EXPECT_TRUE(std::ranges::equal(old_reader.read_chunk(ordinal, a).payload,
                                   new_reader.read_chunk(ordinal, b).payload));
  }
}

// The statement must be what a fresh look at the frames gives, and salvage must see the new frames.
TEST(Update, StreamsStayWholeAndSalvageable) {
  Case c;
  std::mt19937 random(3);
  for (int round = 0; round < 10; ++round) {
    Box region;
    std::array<u64, 3> extents;
    for (size_t axis = 0; axis < 3; ++axis) {
      region.first[axis] = random() % c.shape[axis];
      extents[axis] = 1 + random() % (c.shape[axis] - region.first[axis]);
    }
    region.shape = Shape(std::span<const u64>(extents));
    check_update(c.stream, c.bound, region,
                 make_field<float>(region.shape, round % 2 ? Texture::smooth : Texture::noise));
  }
  const auto whole = decoded_of(c.stream);
  c.stream.resize(c.stream.size() - 10);  // the tail is gone
  EXPECT_THROW(decompress(c.stream), Error);
  DecompressOptions salvage;
  salvage.salvage = true;
  const Array array = decompress(c.stream, salvage);
  EXPECT_TRUE(std::ranges::equal(array.as<float>(), whole));
}

TEST(Update, RefusesWhatCannotBe) {
  Case c;
  const std::vector<float> one(1);
  const std::vector<double> wrong_type(1);
  MemoryStore store(c.stream);
  EXPECT_THROW(update(store, {30, 0, 0}, view_of(one.data(), {1, 1, 1})), Error);
  EXPECT_THROW(update(store, {0, 0, 0}, view_of(one.data(), {1})), Error);
  EXPECT_THROW(update(store, {0, 0, 0}, view_of(wrong_type.data(), {1, 1, 1})), Error);
  Bytes measured = compress(c.values.data(), c.shape, Bound::psnr(60));
  MemoryStore other(measured);
  EXPECT_THROW(update(other, {0, 0, 0}, view_of(one.data(), {1, 1, 1})), Error);
  const Bytes before = c.stream;
  EXPECT_EQ(update(store, {0, 0, 0}, view_of(one.data(), {0, 1, 1})).chunks, 0u);
  EXPECT_EQ(c.stream, before);
}

}  // namespace
}  // namespace leeway::test
