// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stream/joined.h"

#include "tests/golden/growing.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

Bytes joined(const std::vector<Bytes>& streams, size_t axis) {
  std::vector<std::unique_ptr<MemorySource>> sources;
  std::vector<std::unique_ptr<StreamReader>> readers;
  std::vector<const StreamReader*> parts;
  for (const Bytes& stream : streams) {
    sources.push_back(std::make_unique<MemorySource>(stream));
    readers.push_back(std::make_unique<StreamReader>(*sources.back()));
    parts.push_back(readers.back().get());
  }
  Bytes all;
  join(parts, axis, [&](ByteView part) { all.insert(all.end(), part.begin(), part.end()); });
  return all;
}

// Parts of an array along an axis, cut at these places.
std::vector<Bytes> cut_streams(const std::vector<float>& values, const Shape& shape, size_t axis,
                               const std::vector<u64>& cuts, const CompressOptions& options) {
  std::vector<Bytes> streams;
  for (size_t i = 0; i <= cuts.size(); ++i) {
    const u64 begin = i == 0 ? 0 : cuts[i - 1], end = i == cuts.size() ? shape[axis] : cuts[i];
    std::array<u64, kMaxRank> extents{};
    std::ranges::copy(shape.extents(), extents.begin());
    extents[axis] = end - begin;
    Box box{{}, Shape(std::span<const u64>(extents).first(shape.rank()))};
    box.first[axis] = begin;
    streams.push_back(compress(view_of(values.data(), shape).part(box), options));
  }
  return streams;
}

TEST(Join, GivesTheStreamOfTheWhole) {
  const Shape shape{24, 20, 27};
  const auto values = make_field<float>(shape, Texture::smooth);
  for (size_t axis = 0; axis < 3; ++axis) {
    CompressOptions options = options_for<float>(Bound::abs(1e-3), "balanced");
    options.chunk = {6, 5, 9};
    const u64 step = options.chunk[axis];
    const auto parts = cut_streams(values, shape, axis, {step, shape[axis] - step}, options);
    EXPECT_EQ(joined(parts, axis), compress(values.data(), shape, options)) << axis;
  }
}

TEST(Join, StreamsOfOneChunkAndOfOtherRanges) {
  const Shape shape{23, 20};
  const auto values = make_field<float>(shape, Texture::smooth);
  CompressOptions options = options_for<float>(Bound::rel(1e-3), "small");
  options.brief = true;
  options.chunk = {8, 20};
  const auto parts = cut_streams(values, shape, 0, {8, 16}, options);
  const Bytes all = joined(parts, 0);
  const Info info = inspect(all);
  EXPECT_EQ(info.header.shape, shape);
  EXPECT_EQ(info.header.chunk, (Shape{8, 20}));
  double most = 0;
  for (const Bytes& part : parts) most = std::max(most, inspect(part).header.abs_bound);
  EXPECT_EQ(info.header.abs_bound, most);
  const Array found = decompress(all);
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_LE(std::abs(double(found.as<float>()[i]) - double(values[i])), most);
}

TEST(Join, AGrowingStreamBecomesAnOrdinaryOne) {
  const Bytes growing = make_growing("balanced", Bound::abs(0.4));
  const Bytes fixed = joined({growing}, 0);
  EXPECT_FALSE(inspect(fixed).header.is_growing);
  const Array one = decompress(growing), other = decompress(fixed);
  EXPECT_EQ(one.shape(), other.shape());
  EXPECT_EQ(std::memcmp(one.data(), other.data(), size_t(one.bytes())), 0);
}

TEST(Join, WhatDoesNotFitIsRefused) {
  const Shape shape{24, 20};
  const auto values = make_field<float>(shape, Texture::smooth);
  CompressOptions options = options_for<float>(Bound::abs(1e-3), "balanced");
  options.chunk = {6, 20};
  const auto parts = cut_streams(values, shape, 0, {7}, options);
  EXPECT_THROW(joined(parts, 0), Error);  // inside a chunk
  EXPECT_THROW(joined({}, 0), Error);
  const auto good = cut_streams(values, shape, 0, {6}, options);
  EXPECT_THROW(joined(good, 1), Error);
  EXPECT_THROW(joined(good, 2), Error);
  options.recipe = "fast";
  EXPECT_THROW(joined({good[0], cut_streams(values, shape, 0, {6}, options)[1]}, 0), Error);
  Bytes damaged = good[0];
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_THROW(joined({damaged, good[1]}, 0), Error);
}

}  // namespace
}  // namespace leeway::test
