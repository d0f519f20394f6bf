// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/codec/typed_codec.h"

#include "leeway/codec/make_codec.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

struct Chunk {
  Bytes payload;
  ChunkReport report;
  Payload kind() const { return Payload(payload.at(0)); }
};

template <class T>
Chunk compress_chunk(const ChunkCodec& codec, const std::vector<T>& values, const Shape& shape,
                     double bound, const Mask& mask = {}) {
  Writer out;
  out.put(u8(99));  // what is there already stays
  Chunk chunk;
  chunk.report = codec.compress(view_of(values.data(), shape), bound, mask, out);
  EXPECT_EQ(out.bytes()[0], 99);
  chunk.payload.assign(out.bytes().begin() + 1, out.bytes().end());
  return chunk;
}

template <class T>
std::vector<T> decompress_chunk(const ChunkCodec& codec, ByteView payload, const Shape& shape,
                                double bound, const Wanted& wanted = {}) {
  std::vector<T> values(size_t(shape.size()));
  KeptValues kept(values.data());
  codec.decompress(payload, shape.squeezed(), bound, kept, wanted);
  return values;
}

std::shared_ptr<const ChunkCodec> codec_of(const std::string& recipe, DType dtype = DType::f32) {
  return make_codec(parse_recipe(recipe), dtype);
}

// A chunk becomes a payload of this kind, and comes back as the report says.
template <class T>
Chunk expect_kind(Payload kind, const std::string& recipe, const std::vector<T>& values,
                  const Shape& shape, double bound, const Mask& mask = {}) {
  const auto codec = codec_of(recipe, dtype_of<T>());
  const Chunk chunk = compress_chunk(*codec, values, shape, bound, mask);
  EXPECT_EQ(int(chunk.kind()), int(kind)) << recipe;
  const auto decoded = decompress_chunk<T>(*codec, chunk.payload, shape, bound);
  const bool keeps_all = kind == Payload::lossless || kind == Payload::stored;
  expect_within<T>(values, decoded, keeps_all ? 0 : bound, mask.fills, recipe);
  EXPECT_EQ(hash_of(bytes_of(std::span<const T>(decoded))), chunk.report.decoded_hash) << recipe;
  EXPECT_LE(chunk.report.max_error, bound) << recipe;
  return chunk;
}

const Shape kShape{20, 30, 1, 10};
const std::string kLorenzo = "linear+lorenzo+huffman+zstd";

TEST(ChunkCodec, KindsOfPayload) {
  const auto smooth = make_field<float>(kShape, Texture::smooth);
  const Mask calm{.is_needed = false};
  expect_kind(Payload::constant, kLorenzo, std::vector<float>(6000, 2.5f), kShape, 0.1);
  expect_kind(Payload::narrow, kLorenzo, smooth, kShape, 0.01, calm);
  expect_kind(Payload::narrow, kLorenzo, smooth, kShape, 0.01);
  auto masked = smooth;
  masked[100] = std::nanf("");
  expect_kind(Payload::coded, kLorenzo, masked, kShape, 0.01);
  expect_kind(Payload::coded, kLorenzo, smooth, kShape, 1e-5, calm);  // codes of 32 bits
  const Shape large{52, 51, 50};
  expect_kind(Payload::levels, "pyramid+linear+rans", make_field<float>(large, Texture::smooth), large, 0.01);
  expect_kind(Payload::lossless, kLorenzo, smooth, kShape, 0);
  expect_kind(Payload::lossless, kLorenzo, smooth, kShape, 1e-300);
  std::mt19937_64 random(1);
  std::vector<double> bits(300);
  for (double& value : bits) value = from_bits<double>(random());
  expect_kind(Payload::stored, kLorenzo, bits, {300}, 1e-300);
}

// What a chunk becomes depends on its own values, not on whether other chunks have special ones.
TEST(ChunkCodec, KnowsItsOwnValuesOnly) {
  const Shape shape{64, 64};
  const auto values = make_field<float>(shape, Texture::smooth);
  for (const std::string recipe : {"fast", "balanced", "small", "cuszp2-outlier"}) {
    const auto codec = codec_of(recipe);
    const std::vector<u64> fills{bits_of(-9999.0f)};
    const Chunk needed = compress_chunk(*codec, values, shape, 0.01, {fills, true}),
                not_needed = compress_chunk(*codec, values, shape, 0.01, {fills, false});
    EXPECT_EQ(needed.payload, not_needed.payload) << recipe;
  }
}

// No value of a narrow chunk becomes a fill value: the chunk is coded with a patch.
TEST(ChunkCodec, NarrowCodesDoNotBecomeFillValues) {
  std::vector<float> values(4096);
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i % 50);
  const float fill = LinearGrid<float>(0.4).recover(0, 20);
  const Mask mask{.fills = {bits_of(fill)}};
  const Chunk chunk = expect_kind(Payload::coded, "fast", values, {4096}, 0.4, mask);
  EXPECT_GT(chunk.report.exact, 0u);
  EXPECT_EQ(chunk.report.special, 0u);
}

// Beside `fixed` and `pack` lists are in the form of the stage zstd, but not packed, and what does
// not shrink is stored.
TEST(ChunkCodec, UnpackedEncodersNeedNoOtherPacking) {
  std::mt19937_64 random(2);
  std::vector<float> values(4096);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = random() % 3 ? float(i % 7) : std::ldexp(float(random() % 1000), 100);
  for (const std::string recipe : {"fast", "cuszp2-outlier"}) {
    const Chunk chunk = expect_kind(Payload::coded, recipe, values, {4096}, 0.4);
    Reader in(chunk.payload);
    in.get<u8>();
    in.take_section();
    in.take_section();
    EXPECT_EQ(in.take_section().front(), 0) << recipe;
    std::vector<double> noise(300);
    for (double& value : noise) value = std::ldexp(double(random()), 500);
    expect_kind(Payload::stored, recipe, noise, {300}, 1e-3);
  }
}

// Coefficients that vanish need a smaller bound, or decoded values would not stay what they are.
TEST(ChunkCodec, TightensTheBound) {
  const Shape shape{16, 24};
  std::vector<float> values(size_t(shape.size()));
  for (size_t i = 0; i < values.size(); ++i)
    if (i / 24 % 8 == 3 && i % 8 == 4) values[i] = 1.1f;
  const std::string recipe = "dft+linear+huffman";
  const Chunk chunk = expect_kind(Payload::tightened, recipe, values, shape, 1);
  for (const u8 halvings : {0, 4, 255}) {
    Bytes wrong = chunk.payload;
    wrong.at(1) = halvings;
    EXPECT_THROW(decompress_chunk<float>(*codec_of(recipe), wrong, shape, 1), Error);
  }
}

TEST(ChunkCodec, SpecialValuesAndFillsComeBackBitForBit) {
  const u64 fill = bits_of(-9999.0f);
  const Mask mask{.fills = {fill}};
  const auto values = make_field<float>(kShape, Texture::hostile);
  u64 special = 0;
  for (const float value : values) special += mask.is_special(value);
  for (const std::string recipe : {"balanced", "fast", "small", "sz3-interp", "sz3-lr", "plain",
                                   "transpose+linear+lorenzo+huffman", "sz3-truncation"}) {
    const auto codec = codec_of(recipe);
    const Chunk chunk = compress_chunk(*codec, values, kShape, 0.01, mask);
    EXPECT_EQ(chunk.report.special, special) << recipe;
    const auto decoded = decompress_chunk<float>(*codec, chunk.payload, kShape, 0.01);
    expect_within<float>(values, decoded, 0.01, mask.fills, recipe);
    for (size_t i = 0; i < values.size(); ++i)  // nothing becomes a fill value
      ASSERT_EQ(bits_of(decoded[i]) == fill, bits_of(values[i]) == fill) << recipe;
  }
}

// Coarse levels from the first bytes of a payload, as the whole chunk has them.
TEST(ChunkCodec, LevelsNeedOnlyTheirPart) {
  const Shape shape{52, 51, 50};
  const auto values = make_field<float>(shape, Texture::smooth);
  const Chunk chunk = expect_kind(Payload::levels, "pyramid+linear+rans", values, shape, 0.01);
  const auto codec = codec_of("pyramid+linear+rans");
  const auto whole = decompress_chunk<float>(*codec, chunk.payload, shape, 0.01);
  Reader in(ByteView(chunk.payload).subspan(1));
  const LevelTable table = LevelTable::read(in);
  const size_t start = 1 + LevelTable::size(table.entries.size());
  for (size_t level = 1; level <= table.entries.size(); ++level) {
    const auto& entry = table.entries[level - 1];
    ASSERT_LT(start + entry.bytes, chunk.payload.size());
    const ByteView part = ByteView(chunk.payload).first(start + entry.bytes);
    EXPECT_EQ(hash_of(part.subspan(start)), entry.hash);
    std::vector<float> coarse(values.size());
    KeptValues kept(coarse.data());
    EXPECT_FALSE(codec->decompress(part, shape, 0.01, kept, {level, {}}));
    const size_t step = size_t(1) << level;
    for (size_t i = 0; i < 52; i += step)
      for (size_t j = 0; j < 51; j += step)
        for (size_t k = 0; k < 50; k += step) {
          const size_t at = (i * 51 + j) * 50 + k;
          ASSERT_EQ(bits_of(coarse[at]), bits_of(whole[at])) << level << " " << at;
        }
  }
}

TEST(ChunkCodec, MeasuresWhatComesBack) {
  const auto values = make_field<float>({50, 60}, Texture::hostile);
  for (const std::string recipe : {"balanced", "small", "dft+linear+huffman"}) {
    const auto codec = codec_of(recipe);
    const Chunk chunk = compress_chunk(*codec, values, {50, 60}, 0.01);
    if (chunk.kind() != Payload::coded && chunk.kind() != Payload::levels) continue;
    auto measured = values;
    codec->measure(measured.data(), {50, 60}, 0.01, Mask());
    const auto decoded = decompress_chunk<float>(*codec, chunk.payload, {50, 60}, 0.01);
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(bits_of(measured[i]), bits_of(decoded[i])) << recipe << " " << i;
  }
}

// A damaged payload is refused or gives some values; it never ends the process.
TEST(ChunkCodec, RefusesHostilePayloads) {
  const Shape shape{40, 50};
  const auto values = make_field<float>(shape, Texture::smooth);
  for (const std::string recipe :
       {"balanced", "fast", "small", "plain", "sz3-interp", "linear:bins=16,beyond=planes+rans"}) {
    const auto codec = codec_of(recipe);
    for (const bool needed : {false, true}) {
      const Chunk chunk = compress_chunk(*codec, values, shape, 0.01, {.is_needed = needed});
      const auto attempt = [&](const Bytes& payload) {
        try {
          decompress_chunk<float>(*codec, payload, shape, 0.01);
          return true;
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), Errc::corrupt) << recipe;
          return false;
        }
      };
      EXPECT_TRUE(attempt(chunk.payload));
      for (size_t size = 0; size < chunk.payload.size(); size += 1 + size / 20)
        EXPECT_FALSE(attempt({chunk.payload.begin(), chunk.payload.begin() + std::ptrdiff_t(size)}))
            << recipe << " " << size;
      for (size_t i = 0; i < chunk.payload.size(); i += 1 + i / 20)
        for (const u8 flip : {1, 128, 255}) {
          Bytes wrong = chunk.payload;
          wrong[i] = u8(wrong[i] ^ flip);
          attempt(wrong);
        }
      for (u8 kind = 0; kind < 20; ++kind) {
        Bytes wrong = chunk.payload;
        wrong[0] = kind;
        attempt(wrong);
        if (kind > u8(Payload::narrow)) EXPECT_FALSE(attempt(wrong)) << int(kind);
      }
      // A coded chunk has a bound.
      EXPECT_THROW(decompress_chunk<float>(*codec, chunk.payload, shape, 0), Error) << recipe;
    }
  }
}

// Streams of narrow codes have neither special nor exact values beside them.
TEST(ChunkCodec, NarrowCodesStandAlone) {
  const Shape shape{40, 50};
  auto values = make_field<float>(shape, Texture::smooth);
  values[7] = 1e30f;
  const auto codec = codec_of("linear+lorenzo+huffman");
  const Chunk chunk = compress_chunk(*codec, values, shape, 0.01, {.is_needed = false});
  ASSERT_EQ(chunk.kind(), Payload::coded);
  EXPECT_EQ(chunk.report.exact, 1u);
  Bytes wrong = chunk.payload;
  wrong[0] = u8(Payload::narrow);
  EXPECT_THROW(decompress_chunk<float>(*codec, wrong, shape, 0.01), Error);
}

// An encoder of somebody's own that wastes much, which a lossless stage takes away again.
struct Wasteful {
  static constexpr std::string_view kName = "wasteful", kAbout = "every code 16 times";
  static constexpr Kind kKind = Kind::encoder;
  static constexpr Traits kTraits{};
  NoParams params;
  template <class I>
  void encode(std::span<const I> codes, Writer& out) const {
    for (const I code : codes)
      for (int k = 0; k < 16; ++k) out.put(code);
  }
  template <class I>
  void decode(Reader& in, std::span<I> codes) const {
    for (I& code : codes)
      for (int k = 0; k < 16; ++k) code = in.get<I>();
  }
};

// A body larger than decoders unpack must not be written, however small it is when it is packed.
TEST(ChunkCodec, LargeBodiesAreKeptWithoutLoss) {
  Pipeline<float> pipeline;
  pipeline.join = quantize_first<float>(Linear(), Lorenzo());
  pipeline.encoder = erase_encoder(Wasteful());
  pipeline.lossless.push_back(erase_lossless(Zstd()));
  const TypedChunkCodec<float> codec(std::move(pipeline));
  const auto values = make_field<float>(kShape, Texture::smooth);
  const Chunk chunk = compress_chunk(codec, values, kShape, 0.01);
  EXPECT_EQ(int(chunk.kind()), int(Payload::lossless));
  EXPECT_EQ(decompress_chunk<float>(codec, chunk.payload, kShape, 0.01), values);
}

TEST(ChunkCodec, SaysWhatItsRecipeIs) {
  EXPECT_TRUE(codec_of(kLorenzo)->quantizes_first());
  EXPECT_FALSE(codec_of("small")->quantizes_first());
  EXPECT_TRUE(codec_of("pyramid+elementwise+rans")->is_by_value());
  EXPECT_FALSE(codec_of("small")->is_by_value());
  EXPECT_TRUE(codec_of("log+linear+lorenzo+huffman")->is_pointwise());
  EXPECT_FALSE(codec_of("transpose+linear+lorenzo+huffman")->is_pointwise());
  EXPECT_EQ(codec_of("fast")->chunk_values(), u64(1) << 15);
  EXPECT_EQ(codec_of(kLorenzo)->chunk_values(), u64(1) << 17);
  EXPECT_EQ(codec_of("linear+interp+huffman")->chunk_values(), u64(3) << 21);
}

}  // namespace
}  // namespace leeway::test
