// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/layers.h"

#include <algorithm>

#include "tests/support.h"

namespace leeway::test {
namespace {

const Shape kChunk{4, 6};

// A base and a layer of every kind, with payloads that are only bytes.
struct Example {
  Bytes base{1, 2, 3}, first{21}, second{22, 23}, third{24, 25, 26};
  Layers layers{base,
                {{{{0, 0}, {4, 6}}, Covers::box, {}, first},
                 {{{1, 2}, {2, 4}}, Covers::marked, {0b10100001}, second},
                 {{{3, 5}, {1, 1}}, Covers::list, {1}, third}}};
};

Bytes written(const Layers& layers) {
  Writer out;
  write(layers, out);
  return {out.bytes().begin(), out.bytes().end()};
}

TEST(Layers, WhatIsWrittenIsRead) {
  const Example example;
  const Bytes payload = written(example.layers);
  const Layers read = read_layers(payload, kChunk);
  EXPECT_TRUE(std::ranges::equal(read.base, example.base));
  ASSERT_EQ(read.over.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const Layer &layer = read.over[i], &original = example.layers.over[i];
    EXPECT_EQ(layer.box.first, original.box.first) << i;
    EXPECT_EQ(layer.box.shape, original.box.shape) << i;
    EXPECT_EQ(layer.covers, original.covers) << i;
    EXPECT_EQ(layer.marks, original.marks) << i;
    EXPECT_TRUE(std::ranges::equal(layer.payload, original.payload)) << i;
  }
}

TEST(Layers, APayloadWithoutLayersIsABase) {
  const Bytes payload{u8(Payload::coded), 5, 6};
  const Layers read = read_layers(payload, kChunk);
  EXPECT_TRUE(std::ranges::equal(read.base, payload));
  EXPECT_TRUE(read.over.empty());
}

TEST(Layers, ValuesAreThoseOfTheBoxThatAreMarked) {
  const Example example;
  std::vector<std::pair<size_t, size_t>> found;
  for_each_value(example.layers.over[1], kChunk,
                 [&](size_t in_chunk, size_t in_box) { found.emplace_back(in_chunk, in_box); });
  // Bits 0, 5 and 7 of a box of 2 x 4 values that begins at (1, 2) of a chunk of 4 x 6.
  const std::vector<std::pair<size_t, size_t>> expected{{8, 0}, {15, 5}, {17, 7}};
  EXPECT_EQ(found, expected);
  EXPECT_EQ(example.layers.over[1].payload_shape(), Shape({2, 4}));
  EXPECT_EQ(example.layers.over[2].payload_shape(), Shape());
  size_t count = 0;
  for_each_value(example.layers.over[0], kChunk, [&](size_t in_chunk, size_t in_box) {
    EXPECT_EQ(in_chunk, count);
    EXPECT_EQ(in_box, count++);
  });
  EXPECT_EQ(count, kChunk.size());
}

TEST(Layers, EveryTruncationIsRefused) {
  const Bytes payload = written(Example().layers);
  for (size_t size = 1; size < payload.size(); ++size)
    EXPECT_THROW(read_layers(ByteView(payload).first(size), kChunk), Error) << size;
  Bytes longer = payload;
  longer.push_back(0);
  EXPECT_THROW(read_layers(longer, kChunk), Error);
}

TEST(Layers, ChangedBytesAreRefusedOrKeepToTheChunk) {
  const Bytes payload = written(Example().layers);
  for (size_t at = 1; at < payload.size(); ++at)
    for (unsigned bit = 0; bit < 8; ++bit) {
      Bytes changed = payload;
      changed[at] ^= u8(1u << bit);
      try {
        for (const Layer& layer : read_layers(changed, kChunk).over) {
          EXPECT_TRUE(contains(kChunk, layer.box));
          for_each_value(layer, kChunk,
                         [&](size_t in_chunk, size_t) { EXPECT_LT(in_chunk, kChunk.size()); });
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), Errc::corrupt);
      }
    }
}

TEST(Layers, LayersOutsideTheirChunkAreRefused) {
  for (const Box& box : {Box{{4, 0}, {1, 1}}, Box{{0, 3}, {1, 4}}, Box{{0, 0}, {5, 6}}}) {
    const Layers layers{{}, {{box, Covers::box, {}, {}}}};
    EXPECT_THROW(read_layers(written(layers), kChunk), Error);
  }
  const Layers empty{{}, {{{{0, 0}, {0, 6}}, Covers::box, {}, {}}}};
  EXPECT_THROW(read_layers(written(empty), kChunk), Error);
}

TEST(Layers, MarksMustFitTheBox) {
  for (const Bytes& marks : {Bytes{0}, Bytes{0b1000}, Bytes{1, 1}}) {
    const Layers layers{{}, {{{{0, 0}, {1, 3}}, Covers::marked, marks, {}}}};
    EXPECT_THROW(read_layers(written(layers), kChunk), Error) << marks.size() << " " << +marks[0];
  }
}

TEST(Layers, LayersHaveNoLayers) {
  const Bytes inner = written(Example().layers);
  EXPECT_THROW(read_layers(written({inner, {}}), kChunk), Error);
  EXPECT_THROW(read_layers(written({{}, {{{{0, 0}, {1, 1}}, Covers::box, {}, inner}}}), kChunk),
               Error);
}

}  // namespace
}  // namespace leeway::test
