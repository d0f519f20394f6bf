// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/stream/format.h"

#include "tests/support.h"

namespace leeway::test {
namespace {

Header sample_header() {
  Header header;
  header.dtype = DType::i16;
  header.shape = {7, 1, 9};
  header.chunk = {4, 1, 9};
  header.bound = Bound::rel(1e-3) && Bound::psnr(70);
  header.abs_bound = 2.5;
  header.min = -3;
  header.max = 2497;
  header.recipe = "linear+huffman";
  header.fills = {1, 0xffff};
  return header;
}

TEST(Format, HeaderComesBack) {
  const Header header = sample_header();
  Writer out;
  write(header, out);
  EXPECT_EQ(header_bytes(out.bytes().first(kPreambleBytes)), out.size());
  const Header read = read_header(out.bytes());
  EXPECT_EQ(read.dtype, header.dtype);
  EXPECT_EQ(read.shape, header.shape);
  EXPECT_EQ(read.chunk, header.chunk);
  EXPECT_EQ(read.bound.limits(), header.bound.limits());
  EXPECT_EQ(read.abs_bound, header.abs_bound);
  EXPECT_EQ(read.recipe, header.recipe);
  EXPECT_EQ(read.fills, header.fills);
}

TEST(Format, EveryDamagedHeaderByteIsNoticed) {
  Writer out;
  write(sample_header(), out);
  for (size_t i = 0; i < out.size(); ++i) {
    Bytes damaged(out.bytes().begin(), out.bytes().end());
    damaged[i] ^= 0x10;
    EXPECT_THROW(read_header(damaged), Error);
  }
}

TEST(Format, OtherFilesAreToldApart) {
  const std::string text = "this is not a stream, really";
  try {
    header_bytes({reinterpret_cast<const u8*>(text.data()), 16});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "this is not a leeway stream");
  }
}

TEST(Format, ChunksCoverTheArrayOnce) {
  const Header header = sample_header();
  EXPECT_EQ(header.grid(), Shape({2, 1, 1}));
  EXPECT_EQ(header.chunk_box(1).shape, Shape({3, 1, 9}));
  EXPECT_EQ(header.chunk_box(1).first[0], 4u);
}

TEST(Format, TailComesBack) {
  Tail tail{{}, {5, 0, 0xffffffff}, {{0, 77}, {2, u64(1) << 41}}, {0.5, 1, 2, 3}};
  Writer out;
  write(tail, out);
  EXPECT_EQ(tail_bytes(out.bytes().last(kTailEndBytes)), out.size());
  Header header;
  header.shape = {3};
  header.chunk = {1};
  const Tail read = read_tail(out.bytes(), header);
  EXPECT_EQ(read.rooms, tail.rooms);
  ASSERT_EQ(read.moved.size(), 2u);
  EXPECT_EQ(read.moved[1].ordinal, 2u);
  EXPECT_EQ(read.moved[1].offset, u64(1) << 41);
  EXPECT_EQ(read.statement.max_error, 0.5);
  header.shape = {2};
  EXPECT_THROW(read_tail(out.bytes(), header), Error);
}

TEST(Format, TheTailOfAGrowingStreamSaysHowFarItReaches) {
  Header header = sample_header();
  header.regions.clear();
  header.is_growing = true;
  Writer stored;
  write(header, stored);
  Header read = read_header(stored.bytes());
  EXPECT_TRUE(read.is_growing);
  EXPECT_EQ(read.shape[0], 0u);
  EXPECT_EQ(read.shape[2], header.shape[2]);
  EXPECT_EQ(read.hash, stored_hash(stored.bytes()));
  Tail tail{Growth{read.hash, 13}, {1, 2, 3, 4}, {}, {}};
  Writer out;
  write(tail, out);
  EXPECT_EQ(read_tail(out.bytes(), read).growth->extent, 13u);
  EXPECT_EQ(find_tail(out.bytes(), read), out.size());
  read.hash ^= 1;  // another stream's
  EXPECT_THROW(read_tail(out.bytes(), read), Error);
  EXPECT_FALSE(find_tail(out.bytes(), read));
  read.hash ^= 1;
  read.is_growing = false;
  EXPECT_THROW(read_tail(out.bytes(), read), Error);
}

TEST(Format, SmallestBoundsOfChunksAreThoseOfTheRegionsThatTouchThem) {
  Header header;
  header.shape = {10, 23};
  header.chunk = {4, 5};
  header.regions = {{{{0, 0}, {1, 1}}, 0.5},
                    {{{3, 4}, {2, 2}}, 0.25},
                    {{{9, 22}, {1, 1}}, 0},
                    {{{0, 7}, {10, 1}}, 0.125},
                    {{{2, 2}, {0, 3}}, 0}};
  const std::vector<double> bounds = smallest_bounds(header);
  ASSERT_EQ(bounds.size(), 15u);
  for (u64 i = 0; i < bounds.size(); ++i) {
    double expected = std::numeric_limits<double>::infinity();
    for (const RegionBound& region : header.regions)
      if (region.box.shape.size() > 0 && overlap(header.chunk_box(i), region.box))
        expected = std::min(expected, region.bound);
    EXPECT_EQ(bounds[size_t(i)], expected) << i;
  }
}

}  // namespace
}  // namespace leeway::test
