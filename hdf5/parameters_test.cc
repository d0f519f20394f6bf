// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/parameters.h"

#include <gtest/gtest.h>

#include <bit>

#include "leeway/core/error.h"

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

TEST(Hdf5Parameters, NumbersAndTextSayTheSame) {
  EXPECT_EQ(parse_words(numbers(1, {1e-3})).abs, 1e-3);
  EXPECT_EQ(parse_words(numbers(2, {1e-3, 50})).abs, 1e-3 * 50);
  EXPECT_EQ(parse_words(numbers(3, {})).abs, 0);
  const Parameters text = parse_words(words_of_text("abs=1e-3  recipe=small fill=-999 fill=1e20"));
  EXPECT_EQ(text.abs, 1e-3);
  EXPECT_EQ(text.recipe, "small");
  EXPECT_EQ(text.fills, (std::vector<double>{-999, 1e20}));
  EXPECT_EQ(parse_words(words_of_text("rel=0.5 range=4")).abs, 2);
  EXPECT_EQ(parse_words(words_of_text("lossless")).abs, 0);
}

TEST(Hdf5Parameters, WhatAUserWouldGive) {
  for (const char* text :
       {"abs=0.1", "lossless", "abs=1e-3 recipe=small fill=-999", "lossless recipe=fast"}) {
    const Parameters given = parse_text(text), again = parse_words(given_words(given));
    EXPECT_EQ(again.abs, given.abs);
    EXPECT_EQ(again.recipe, given.recipe);
    EXPECT_EQ(again.fills, given.fills);
  }
  EXPECT_EQ(given_words(parse_text("abs=1e-3")), numbers(1, {1e-3}));
}

TEST(Hdf5Parameters, WhatIsStoredReadsBack) {
  for (const DType dtype : {DType::f32, DType::i64, DType::u8})
    for (const Shape& shape : {Shape{7}, Shape{10, 32, 32}, Shape{1, 2, 3, 4, 5, 6, 7, 8}})
      for (const std::optional<u64>& fill : {std::optional<u64>(), std::optional<u64>(~u64(0))}) {
        Parameters given = parse_text("abs=0.1 recipe=smallest fill=-1e30");
        given.chunk = Chunk{dtype, dtype == DType::i64, shape, fill};
        const Words words = stored_words(given);
        const Parameters read = parse_words(words);
        EXPECT_EQ(read.abs, 0.1);  // to the bit
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

// NCO hands the filter to variables it was not asked for, with this.
TEST(Hdf5Parameters, ALoneZeroIsLossless) {
  EXPECT_EQ(parse_words(Words{0}).abs, 0);
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
  refused({0x10001, 0, 0x3ff00000});                // ends before the chunk
  refused({0x10001, 0, 0x3ff00000, 99});            // no such type
  refused({0x10001, 0, 0x3ff00000, 1 | 200 << 8});  // too many axes
  for (const char* text : {"abs=x", "abs=0", "abs=1e-3 recipe=nosuch", "abs", "recipe=small",
                           "rel=1e-3", "bound=3", "abs=1e-3 fill=no", "    "})
    refused(words_of_text(text));
}

}  // namespace
}  // namespace leeway::hdf5
