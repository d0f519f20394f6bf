// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/codec/alternatives.h"

#include "leeway/codec/make_codec.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

struct Chunk {
  Bytes payload;
  ChunkReport report;
  Alternative taken() const { return alternative_of(payload); }
};

Chunk coded_by(const std::string& recipe, const View& values, double bound) {
  Chunk chunk;
  Writer out;
  const Mask calm{.is_needed = false};
  chunk.report = make_codec(parse_recipe(recipe), values.dtype)->compress(values, bound, calm, out);
  chunk.payload.assign(out.bytes().begin(), out.bytes().end());
  return chunk;
}

template <class T>
std::vector<T> decoded_by(const std::string& recipe, ByteView payload, const Shape& shape,
                          double bound) {
  std::vector<T> values(size_t(shape.size()));
  KeptValues kept(values.data());
  make_codec(parse_recipe(recipe), dtype_of<T>())->decompress(payload, shape, bound, kept);
  return values;
}

// Smooth along both axes: interpolation wins. Particles: prediction makes it worse.
std::vector<float> make_waves(const Shape& shape) {
  std::vector<float> values;
  for (u64 y = 0; y < shape[0]; ++y)
    for (u64 x = 0; x < shape[1]; ++x)
      values.push_back(float(std::sin(0.05 * double(x)) * std::cos(0.03 * double(y))));
  return values;
}
std::vector<float> make_particles(const Shape& shape) {
  return make_field<float>(shape, Texture::noise);
}

TEST(Alternatives, TheSmallestIsTaken) {
  for (const Shape& shape : {Shape{40, 50}, Shape{400, 500}}) {
    for (const auto& values : {make_waves(shape), make_particles(shape)}) {
      const View view = view_of(values.data(), shape);
      const std::string names[] = {"plain", "pyramid+linear+rans", "fast"};
      size_t least = ~size_t(0), best = 0;
      for (size_t k = 0; k < 3; ++k) {
        const size_t bytes = coded_by(names[k], view, 1e-3).payload.size();
        if (bytes < least) least = bytes, best = k;
      }
      const Chunk chunk = coded_by("plain|pyramid+linear+rans|fast", view, 1e-3);
      EXPECT_EQ(chunk.taken().number, best);
      EXPECT_EQ(chunk.payload.size(), least + (best > 0 ? 2 : 0));
      EXPECT_LE(chunk.report.max_error, 1e-3);
      const auto decoded =
          decoded_by<float>("plain|pyramid+linear+rans|fast", chunk.payload, shape, 1e-3);
      expect_within<float>(values, decoded, 1e-3, {}, "plain|pyramid+linear+rans|fast");
      EXPECT_EQ(hash_of(bytes_of(std::span<const float>(decoded))), chunk.report.decoded_hash);
    }
  }
}

// Whatever was taken first, decoded data is its own decoded data.
TEST(Alternatives, DecodedDataStaysAsItIs) {
  for (const char* recipe :
       {"pyramid+linear+rans|linear+lorenzo+huffman+zstd|plain",
        "linear+lorenzo+huffman+zstd|pyramid+linear+rans", "fast|linear+lorenzo+rans",
        "sz3-interp|sz1.4|linear+lorenzo+huffman+zstd", "pyramid:gain=0+linear+rans|plain"})
    for (const Shape& shape : {Shape{40, 50}, Shape{300, 301}})
      for (const auto& values : {make_waves(shape), make_particles(shape)})
        for (const std::string& first :
             {std::string(recipe), std::string("linear+lorenzo+huffman+zstd"),
              std::string(recipe).substr(0, std::string(recipe).find('|'))}) {
          if (std::string(recipe).find(first) == std::string::npos) continue;
          const Chunk once = coded_by(first, view_of(values.data(), shape), 1e-2);
          const auto decoded = decoded_by<float>(first, once.payload, shape, 1e-2);
          const Chunk twice = coded_by(recipe, view_of(decoded.data(), shape), 1e-2);
          EXPECT_EQ(twice.report.decoded_hash, once.report.decoded_hash) << recipe << " " << first;
          EXPECT_EQ(twice.report.max_error, 0) << recipe << " " << first;
        }
}

TEST(Alternatives, ThoseNotForTheTypeAreLeftOut) {
  const Shape shape{40, 50};
  std::vector<i32> values;
  for (int i = 0; i < 2000; ++i) values.push_back(i * i % 1000);
  const std::string recipe = "wavesz|linear+lorenzo+huffman+zstd|fpzip-like";
  const Chunk chunk = coded_by(recipe, view_of(values.data(), shape), 3);
  EXPECT_GE(chunk.taken().number, 1u);
  expect_within<i32>(values, decoded_by<i32>(recipe, chunk.payload, shape, 3), 3, {}, recipe);
  EXPECT_TRUE(is_for(parse_recipe(recipe), DType::i32));
  EXPECT_FALSE(is_for(parse_recipe("wavesz|ghostsz"), DType::i32));
  // A payload by the first one is not for integers.
  const ByteView without(chunk.payload.data() + 2, chunk.payload.size() - 2);
  EXPECT_THROW(decoded_by<i32>(recipe, without, shape, 3), Error);
}

TEST(Alternatives, ThoseThatDoNotExistAreRefused) {
  const Shape shape{40, 50};
  const auto values = make_waves(shape);
  const std::string recipe = "plain|pyramid+linear+rans";
  const Bytes payload = coded_by(recipe, view_of(values.data(), shape), 1e-3).payload;
  ASSERT_EQ(payload[0], u8(Payload::alternative));
  ASSERT_EQ(payload[1], 1);
  const auto refuses = [&](size_t at, u8 byte) {
    Bytes other = payload;
    other[at] = byte;
    EXPECT_THROW(decoded_by<float>(recipe, other, shape, 1e-3), Error) << at << " " << int(byte);
  };
  for (const u8 number : {0, 2, 8, 255}) refuses(1, number);
  for (const Payload kind : {Payload::constant, Payload::lossless, Payload::stored,
                             Payload::layered, Payload::alternative})
    refuses(2, u8(kind));
  for (const size_t size : {1, 2})
    EXPECT_THROW(decoded_by<float>(recipe, ByteView(payload).first(size), shape, 1e-3), Error);
  EXPECT_THROW(decoded_by<float>("pyramid+linear+rans", payload, shape, 1e-3), Error);
}

// Through the whole library: a part, a preview, an update, the brief form, what inspect() counts.
TEST(Alternatives, StreamsAreAsOthers) {
  const Shape shape{300, 500};
  const auto values = make_waves(shape);
  auto options = options_for<float>(Bound::abs(1e-3), "plain|pyramid+linear+rans");
  options.chunk = {300, 500};
  const Bytes stream = compress(values.data(), shape, options);
  const Array all = decompress(stream);
  EXPECT_EQ(inspect(stream).alternatives, (std::vector<u64>{0, 1}));
  EXPECT_EQ(inspect(stream).header.recipe, "linear+huffman|pyramid+linear+rans");

  const Array part = decompress(stream, Box{{10, 20}, {30, 40}});
  const Array coarse = preview(stream, 1);
  EXPECT_EQ(coarse.shape(), (Shape{150, 250}));
  for (size_t y = 0; y < 30; ++y)
    for (size_t x = 0; x < 40; ++x) {
      EXPECT_EQ(part.as<float>()[y * 40 + x], all.as<float>()[(y + 10) * 500 + x + 20]);
      EXPECT_EQ(coarse.as<float>()[y * 250 + x], all.as<float>()[2 * y * 500 + 2 * x]);
    }
  options.brief = true;
  const Bytes brief = compress(values.data(), shape, options);
  EXPECT_LT(brief.size(), stream.size());
  const Array again = decompress(brief);
  EXPECT_EQ(std::memcmp(again.data(), all.data(), all.bytes()), 0);
}

}  // namespace
}  // namespace leeway::test
