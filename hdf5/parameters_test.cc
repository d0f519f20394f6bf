// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/parameters.h"

#include <gtest/gtest.h>

#include <bit>

#include "leeway/base/error.h"

namespace leeway::hdf5 {
namespace {

Words numbers(unsigned mode, std::initializer_list<double> values) {
  Words words{mode};
  for (const double value : values) {
    const u64 bits = std::bit_cast<u64>(value);
    words.push_back(unsigned(bits));
    words.push_back(unsigned(bits >> 32));
  }
  return words;
}

double abs_of(const Parameters& parameters) {
  return parameters.bound.is_lossless() ? 0 : parameters.bound.each.limits().at(0).value;
}

TEST(Hdf5Parameters, NumbersAndTextSayTheSame) {
  const auto same = [](const Words& words, const char* text) {
    EXPECT_EQ(parse_words(words).bound, parse_words(words_of_text(text)).bound) << text;
  };
  same(numbers(1, {1e-3}), "abs=1e-3");
  same(numbers(2, {1e-3, 50}), "rel=1e-3 range=50");
  same(numbers(3, {}), "lossless");
  same(numbers(4, {1e-3}), "pointwise=1e-3");
  same(numbers(5, {60, 50}), "psnr=60 range=50");
  same(numbers(6, {0.5, 1000}), "l2=0.5 values=1000");
  EXPECT_EQ(abs_of(parse_words(numbers(1, {1e-3}))), 1e-3);
  EXPECT_EQ(abs_of(parse_words(numbers(3, {}))), 0);
  EXPECT_EQ(parse_words(numbers(4, {1e-3})).bound, (PartBound{Bound::pointwise(1e-3)}));
  EXPECT_EQ(parse_words(words_of_text("l2=3 values=900 abs=2")).bound,
            (PartBound{Bound::abs(2), 0.1}));
  const Parameters text =
      parse_words(words_of_text("abs=1e-3  recipe=small fill=-999 fill=-9223372036854775807"));
  EXPECT_EQ(abs_of(text), 1e-3);
  EXPECT_EQ(text.recipe, "small");
  EXPECT_EQ(text.fills, (std::vector<std::string>{"-999", "-9223372036854775807"}));
}

TEST(Hdf5Parameters, WhatAUserWouldGive) {
  for (const char* text :
       {"abs=0.1", "lossless", "abs=1e-3 recipe=small fill=-999", "lossless recipe=fast",
        "pointwise=0.01", "psnr=60 range=7", "psnr=60 range=7 abs=0.5", "l2=3 values=7",
        "pointwise=0.01 recipe=small", "abs=0.5 keep=zeros,sign min=0 max=1e-3 recipe=small"}) {
    const Parameters given = parse_text(text), again = parse_words(given_words(given));
    EXPECT_EQ(again.bound, given.bound) << text;
    EXPECT_EQ(again.recipe, given.recipe);
    EXPECT_EQ(again.fills, given.fills);
  }
  EXPECT_EQ(given_words(parse_text("abs=1e-3")), numbers(1, {1e-3}));
}

TEST(Hdf5Parameters, WhatIsStoredReadsBack) {
  for (const char* bound : {"abs=0.1", "pointwise=0.1", "psnr=60 range=7", "abs=0.1 l2=3 values=7"})
    for (const DType dtype : {DType::f32, DType::i64, DType::u8})
      for (const Shape& shape : {Shape{7}, Shape{10, 32, 32}, Shape{1, 2, 3, 4, 5, 6, 7, 8}})
        for (const std::optional<u64>& fill : {std::optional<u64>(), std::optional<u64>(~u64(0))}) {
          Parameters given = parse_text(bound + std::string(" recipe=smallest fill=-1e30"));
          given.chunk = Chunk{dtype, dtype == DType::i64, shape, fill};
          const Words words = stored_words(given);
          const Parameters read = parse_words(words);
          EXPECT_EQ(read.bound, given.bound);  // to the bit
          EXPECT_EQ(read.recipe, "smallest");
          EXPECT_EQ(read.fills, given.fills);
          ASSERT_TRUE(read.chunk);
          EXPECT_EQ(read.chunk->dtype, dtype);
          EXPECT_EQ(read.chunk->big_endian, dtype == DType::i64);
          EXPECT_TRUE(read.chunk->shape == shape);
          EXPECT_EQ(read.chunk->fill, fill);
          EXPECT_EQ(stored_words(read), words);  // and again, when a dataset is copied
        }
  Parameters plain = parse_words(numbers(1, {1e-3}));
  plain.chunk = Chunk{DType::f32, false, Shape{10, 32, 32}, std::nullopt};
  EXPECT_LE(stored_words(plain).size(), 7u);
}

TEST(Hdf5Parameters, FillValuesInTheTypeOfTheValues) {
  Parameters given = parse_text("abs=5 fill=-9223372036854775807 fill=-999");
  given.chunk = Chunk{DType::i64, false, Shape{7}, u64(3)};
  EXPECT_EQ(given.options().fill_bits, (std::vector<u64>{u64(1) << 63 | 1, u64(-999), 3}));
  given.chunk->dtype = DType::f64;
  EXPECT_EQ(given.options().fills, (std::vector<double>{-9223372036854775807.0, -999}));
}

// NCO hands the filter to variables it was not asked for, with this.
TEST(Hdf5Parameters, ALoneZeroIsLossless) {
  EXPECT_TRUE(parse_words(Words{0}).bound.is_lossless());
  EXPECT_EQ(given_words(parse_words(Words{0})), Words{3});
}

TEST(Hdf5Parameters, NonsenseIsRefused) {
  const auto refused = [](const Words& words) { EXPECT_THROW(parse_words(words), Error); };
  refused({});
  refused({1});
  refused({1, 0});
  refused({0, 0});
  refused({9, 0, 0});
  refused({0x20001, 0, 0x3ff00000, 1 | 1 << 8, 5});  // of a later version
  refused(numbers(1, {0}));
  refused(numbers(1, {-1}));
  refused(numbers(2, {1e-3}));  // the range is missing
  refused(numbers(2, {1e-3, 0}));
  refused(numbers(5, {60}));
  refused(numbers(6, {0.5}));
  refused({0x10002, 0, 0x3ff00000, 0, 0x3ff00000, 1 | 1 << 8, 5});  // never stored
  refused({0x10001, 0, 0x3ff00000});                                // ends before the chunk
  refused({0x10001, 0, 0x3ff00000, 99});                            // no such type
  refused({0x10001, 0, 0x3ff00000, 1 | 200 << 8});                  // too many axes
  for (const char* text :
       {"abs=x", "abs=0", "abs=1e-3 recipe=nosuch", "abs", "recipe=small", "rel=1e-3", "psnr=60",
        "l2=1", "keep=zeros", "abs=1 keep=ones", "abs=1 min=x", "pointwise=0.1 abs=1", "bound=3",
        "abs=1e-3 fill=no", "    "})
    refused(words_of_text(text));
}

}  // namespace
}  // namespace leeway::hdf5
