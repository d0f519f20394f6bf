// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/engine/engine.h"

#include <algorithm>

#include "leeway/choose/advise.h"
#include "leeway/codec/make_codec.h"
#include "leeway/recipe/recipe.h"
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

// Codes of 16 bits whose differences need more, and a chunk whose codes do not fit: both come back,
// and the bytes do not depend on where the values stand.
TEST(Engine, NarrowCodesWrapAroundAndGiveWay) {
  if (!kIsCompiled<double>) return;
  const Shape shape{4, 6, 50};
  for (const char* recipe : {"fast", "cuszp2-outlier", "ceresz", "ceaz", "balanced", "linear+pack"})
    for (const double largest : {32000.0, 40000.0, 1e9}) {
      std::mt19937 random(3);
      std::vector<double> values(size_t(shape.size()));
      for (double& value : values) value = random() % 2 ? largest : -largest;
      const auto options = options_for<double>(Bound::abs(0.5), recipe);
      const Bytes stream = compress(values.data(), shape, options);
      const Array decoded = decompress(stream);
      const auto* back = reinterpret_cast<const double*>(decoded.data());
      for (size_t i = 0; i < values.size(); ++i) ASSERT_LE(std::abs(back[i] - values[i]), 0.5);
      std::vector<double> spread(2 * values.size());
      for (size_t i = 0; i < values.size(); ++i) spread[2 * i] = values[i];
      View view = view_of(spread.data(), shape);
      for (size_t axis = 0; axis < shape.rank(); ++axis) view.strides[axis] *= 2;
      EXPECT_EQ(compress(view, options), stream) << recipe << " " << largest;
    }
}

// A recipe without narrow codes refuses them.
TEST(Engine, NarrowCodesInTheWrongPlace) {
  for (const char* text :
       {"linear+lorenzo+raw", "small", "sz3-interp", "linear+lorenzo:order=2+pack",
        "linear:bins=16,beyond=planes+lorenzo+pack"}) {
    const auto codec = make_codec(parse_recipe(text), DType::f32);
    const auto values = make_field<float>({20, 30}, Texture::smooth);
    Writer out;
    codec->compress(view_of(values.data(), {20, 30}), 0.01, Mask(), out);
    Bytes payload(out.bytes().begin(), out.bytes().end());
    ASSERT_EQ(payload[0], 1) << text;
    payload[0] = 6;
    Buffer<float> back(600);
    KeptValues sink(back.data());
    try {
      codec->decompress(payload, {20, 30}, 0.01, sink);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::corrupt) << text;
    }
  }
}

// Arrays of more than 32 MiB are written past the caches; rows of 1741 values start anywhere in a
// line, and those of the second target have a gap after them.
TEST(Engine, LargeArraysComeBackLikeTheirParts) {
  const Shape shape{3, 1733, 1741};
  std::vector<float> values(size_t(shape.size()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i % 1741) * float(i / 3000000 + 1);
  for (const char* recipe : {"fast", "balanced"}) {
    auto options = options_for<float>(Bound::abs(0.5), recipe);
    const Bytes stream = compress(values.data(), shape, options);
    const Array whole = decompress(stream);
    ASSERT_GT(whole.bytes(), u64(32) << 20);
    const size_t length = 1741, step = length + 3;
    std::vector<float> gaps(3 * 1733 * step, -7.f);
    MutableView target = mutable_view_of(gaps.data(), shape);
    target.strides[1] = std::ptrdiff_t(step * sizeof(float));
    target.strides[0] = 1733 * target.strides[1];
    const MemorySource source(stream);
    decompress_into(StreamReader(source), {}, target);
    for (u64 plane = 0; plane < 3; ++plane) {
      const Array part = decompress(stream, Box{{plane, 0, 0}, {1, 1733, 1741}});
      const auto expected = part.as<float>(), all = whole.as<float>();
      ASSERT_TRUE(std::ranges::equal(expected, all.subspan(plane * 1733 * length, 1733 * length)));
      for (size_t row = 0; row < 1733; ++row) {
        const float* found = gaps.data() + (plane * 1733 + row) * step;
        ASSERT_TRUE(std::equal(found, found + length, expected.data() + row * length));
        ASSERT_TRUE(std::all_of(found + length, found + step, [](float v) { return v == -7; }));
      }
    }
  }
}

// What a preview must be, taken from the whole array.
template <class T>
std::vector<T> coarse_of(const Array& whole, const Header& header, unsigned level) {
  std::vector<T> values;
  const u64 step = u64(1) << level;
  for_each_outer(whole.shape(), 0, [&](const Index& index) {
    u64 at = 0;
    for (size_t axis = 0; axis < whole.shape().rank(); ++axis) {
      if (index[axis] % header.chunk[axis] % step != 0) return;
      at = at * whole.shape()[axis] + index[axis];
    }
    values.push_back(whole.as<T>()[size_t(at)]);
  });
  return values;
}

template <class T>
void expect_previews(const Shape& shape, const std::string& recipe, const Shape& chunk) {
  if (!kIsCompiled<T>) return;
  auto values = make_field<T>(shape, Texture::smooth);
  if constexpr (std::is_floating_point_v<T>) values[3] = T(NAN);
  auto options = options_for<T>(Bound::rel(1e-3));
  options.recipe = recipe;
  options.chunk = chunk;
  const Bytes stream = compress(values.data(), shape, options);
  const Array whole = decompress(stream);
  const Header header = inspect(stream).header;
  for (const unsigned level : {0u, 1u, 2u, 3u, 5u, 9u, 1000u}) {
    const Array coarse = preview(stream, level);
    const auto expected = coarse_of<T>(whole, header, std::min(level, 20u));
    ASSERT_EQ(coarse.shape().size(), expected.size()) << recipe << " " << level;
    EXPECT_EQ(std::memcmp(coarse.data(), expected.data(), expected.size() * sizeof(T)), 0)
        << recipe << " " << to_string(shape) << " " << level;
  }
}

TEST(Preview, HasTheValuesOfTheWhole) {
  for (const char* recipe :
       {"small", "smallest", "balanced", "fast", "sz3-interp", "pyramid:frozen=1+linear+rans",
        "pyramid+linear+huffman", "linear+pyramid+rans"}) {
    expect_previews<float>({50, 40, 37}, recipe, {});
    expect_previews<float>({50, 40, 37}, recipe, {50, 21, 19});
  }
  expect_previews<double>({1, 300, 1, 301}, "small", {});
  expect_previews<float>({100000}, "small", {});
  expect_previews<float>({60, 50, 50}, "pyramid:tile=12,taps=0,frozen=0+linear+rans", {});
  expect_previews<float>({6, 150, 150}, "pyramid:frozen=1,tile=12+linear+rans", {});
  expect_previews<i16>({41, 40, 43}, "small", {});
  expect_previews<f16>({41, 40, 43}, "small", {});
  expect_previews<float>({3, 4, 5, 6}, "small", {});
  expect_previews<float>({17, 16, 17, 18}, "small", {});
  expect_previews<float>({2, 17, 8, 17, 18}, "small", {});
}

TEST(Preview, ReadsAPartAndNoticesDamageInIt) {
  const Shape shape{64, 64, 64};
  const auto values = make_field<float>(shape, Texture::smooth);
  auto options = options_for<float>(Bound::rel(1e-4));
  options.recipe = "pyramid:frozen=0+linear+rans";
  const Bytes stream = compress(values.data(), shape, options);
  u64 last = stream.size() / 2;
  for (const unsigned level : {1u, 2u}) {
    const MemorySource source(stream);
    const StreamReader reader(source);
    Array coarse(DType::f32, preview_shape(reader.header(), level));
    const u64 before = source.touched();
    preview_into(reader, level, coarse.view());
    EXPECT_LT(source.touched() - before, last) << level;
    last = source.touched() - before;
  }
  const Array coarse = preview(stream, 2);
  const MemorySource source(stream);
  const size_t frame = size_t(StreamReader(source).offset(0));
  Bytes damaged = stream;
  damaged[frame + 64 + 60] ^= 1;  // in the first levels
  EXPECT_THROW(preview(damaged, 2), Error);
  damaged = stream;
  damaged[frame + 64 + 3] ^= 1;  // in the table
  EXPECT_THROW(preview(damaged, 1), Error);
  damaged = stream;
  damaged[stream.size() - 500] ^= 1;  // in the finest level
  EXPECT_THROW(decompress(damaged), Error);
  EXPECT_EQ(std::memcmp(preview(damaged, 2).data(), coarse.data(), coarse.bytes()), 0);
}

// Regions of arrays that are cut into tiles, and what of a chunk is decoded for them.
template <class T>
void expect_tiles(const Shape& shape, const std::string& recipe, const Box& region) {
  if (!kIsCompiled<T>) return;
  auto values = make_field<T>(shape, Texture::smooth);
  if constexpr (std::is_floating_point_v<T>) values[values.size() / 2] = T(NAN);
  auto options = options_for<T>(Bound::rel(1e-3), recipe);
  options.chunk = shape;
  const Bytes stream = check_round_trip(values, shape, options);
  const Array whole = decompress(stream);
  Array part(dtype_of<T>(), region.shape);
  const MemorySource source(stream);
  const StreamReader reader(source);
  decompress_into(reader, region.first, part.view());
  size_t i = 0;
  for_each_outer(region.shape, 0, [&](const Index& index) {
    u64 at = 0;
    for (size_t axis = 0; axis < shape.rank(); ++axis)
      at = at * shape[axis] + region.first[axis] + index[axis];
    ASSERT_EQ(bits_of(part.as<T>()[i++]), bits_of(whole.as<T>()[size_t(at)])) << recipe;
  });

  // With segments, tiles are left out: the values there stay what they were.
  const auto codec = make_codec(parse_recipe(recipe), dtype_of<T>());
  Bytes storage;
  const auto chunk = reader.read_chunk(0, storage);
  std::vector<T> decoded(values.size(), T(77.0f));
  KeptValues target(decoded.data());
  const bool complete = codec->decompress(chunk.payload, shape.squeezed(), chunk.head.bound, target,
                                          {0, squeezed(region, shape)});
  const bool has_segments = recipe.ends_with("rans");
  EXPECT_EQ(complete, !has_segments) << recipe << " " << to_string(shape);
  const size_t untouched = size_t(std::ranges::count(decoded, T(77.0f)));
  if (has_segments) EXPECT_GT(untouched, values.size() / 3) << recipe << " " << to_string(shape);
}

TEST(Tiles, RegionsNeedOnlyTheirs) {
  const std::string plain = "pyramid:tight=0,taps=0,frozen=0,tile=";
  for (const std::string coder : {"+linear+rans", "+linear+huffman"}) {
    expect_tiles<float>({60, 50, 50}, plain + "12" + coder, {{20, 3, 17}, {9, 12, 10}});
    expect_tiles<double>({400, 401}, plain + "12" + coder, {{390, 0}, {10, 64}});
    expect_tiles<i16>({1, 410, 1, 400}, plain + "13" + coder, {{0, 64, 0, 128}, {1, 1, 1, 20}});
    expect_tiles<float>({150000}, plain + "10" + coder, {{70000}, {5000}});
    expect_tiles<f16>({20, 21, 22, 23}, plain + "12" + coder, {{1, 2, 3, 4}, {5, 5, 5, 5}});
    expect_tiles<float>({3, 60, 900}, "pyramid:frozen=1,taps=6,every=1,gain=0,tile=10" + coder,
                        {{1, 5, 100}, {2, 40, 30}});
  }
}

// One chunk, several threads: they take its tiles, and change nothing.
TEST(Tiles, ThreadsShareAChunk) {
  const Shape shape{70, 60, 60};
  auto values = make_field<float>(shape, Texture::smooth);
  values[1000] = 1e30f;  // kept exactly
  values[100000] = -1e30f;
  auto options = options_for<float>(Bound::abs(1e-3), "pyramid:tile=12,taps=0+linear+rans");
  options.chunk = shape;
  const Bytes stream = compress(values.data(), shape, options);
  const Array decoded = decompress(stream);
  for (const unsigned threads : {2u, 5u}) {
    options.execution.threads = threads;
    EXPECT_EQ(compress(values.data(), shape, options), stream);
    DecompressOptions decoding;
    decoding.execution.threads = threads;
    const Array shared = decompress(stream, decoding);
    EXPECT_EQ(std::memcmp(shared.data(), decoded.data(), decoded.bytes()), 0);
  }
}

// What tiles have made stays when it is compressed again, whatever the trials have to choose from.
TEST(Tiles, DecodedDataStays) {
  for (const Shape& shape : {Shape{70, 64, 64}, Shape{600, 500}}) {
    for (const std::string recipe :
         {"pyramid:tile=12+linear+rans", "pyramid:tile=15+linear+rans"}) {
      const auto values = make_field<float>(shape, Texture::smooth);
      const auto options = options_for<float>(Bound::rel(1e-3), recipe);
      const Array once = decompress(compress(values.data(), shape, options));
      auto again_options = options_for<float>(
          Bound::abs(inspect(compress(values.data(), shape, options)).header.abs_bound), recipe);
      const Array twice = decompress(compress(once.as<float>().data(), shape, again_options));
      EXPECT_TRUE(std::ranges::equal(once.as<float>(), twice.as<float>()))
          << recipe << to_string(shape);
    }
  }
}

TEST(Preview, WrongTargetsAreRefused) {
  const auto values = make_field<float>({10, 10}, Texture::smooth);
  const Bytes stream = compress(values.data(), {10, 10}, Bound::abs(1));
  const MemorySource source(stream);
  Array wrong(DType::f32, {5, 4}), other(DType::f64, {5, 5});
  EXPECT_THROW(preview_into(StreamReader(source), 1, wrong.view()), Error);
  EXPECT_THROW(preview_into(StreamReader(source), 1, other.view()), Error);
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
  for (const std::string recipe : {"balanced", "sz1.4"}) {
    const auto values = make_field<double>(shape, Texture::noise);
    const Bytes stream =
        compress(values.data(), shape, options_for<double>(Bound::abs(0.01), recipe));
    const Array decoded = decompress(stream);
    double largest = 0;
    for (size_t i = 0; i < values.size(); ++i)
      largest = std::max(largest, std::abs(values[i] - decoded.as<double>()[i]));
    EXPECT_GE(inspect(stream).statement.max_error, largest);
    EXPECT_LE(inspect(stream).statement.max_error, std::nextafter(largest, 1.0));
  }
}

// Errors of a box of a 2-D array.
double largest_error(const std::vector<float>& a, std::span<const float> b, const Shape& shape,
                     const Box& box) {
  double largest = 0;
  for_each_outer(box.shape, 0, [&](const Index& at) {
    const size_t i = size_t((box.first[0] + at[0]) * shape[1] + box.first[1] + at[1]);
    largest = std::max(largest, std::abs(double(a[i]) - double(b[i])));
  });
  return largest;
}

TEST(Regions, KeepTheirOwnBounds) {
  const Shape shape{300, 400};
  const auto values = make_field<float>(shape, Texture::noise);
  for (const std::string recipe : {"balanced", "small", "fast", "sz3-lr"}) {
    auto options = options_for<float>(Bound::rel(1e-1), recipe);
    const size_t plain = compress(values.data(), shape, options).size();
    options.regions = {{{{10, 20}, {50, 60}}, 1e-4}, {{{290, 390}, {10, 10}}, 0}};
    options.chunk = {64, 64};
    const Bytes stream = check_round_trip(values, shape, options);
    const Array decoded = decompress(stream);
    for (const RegionBound& region : options.regions)
      EXPECT_LE(largest_error(values, decoded.as<float>(), shape, region.box), region.bound);
    EXPECT_GT(largest_error(values, decoded.as<float>(), shape, {{128, 128}, {64, 64}}), 1e-2);
    EXPECT_GT(stream.size(), plain);
    EXPECT_EQ(inspect(stream).header.regions.size(), 2u);
    // What is written later keeps them, too.
    Bytes updated = stream;
    MemoryStore store(updated);
    std::vector<float> others(100, 0.123f);
    update(store, {15, 25}, view_of(others.data(), {10, 10}));
    const Array after = decompress(updated);
    EXPECT_NEAR(after.as<float>()[15 * 400 + 25], 0.123f, 1e-4);
  }
}

TEST(Regions, ValueByValue) {
  const Shape shape{200, 300};
  const auto values = make_field<float>(shape, Texture::noise);
  std::vector<float> bounds(values.size(), std::numeric_limits<float>::infinity());
  bounds[150 * 300 + 250] = 1e-5f;
  auto options = options_for<float>(Bound::abs(0.1), "balanced");
  options.chunk = {50, 50};
  options.bounds = view_of(bounds.data(), shape);
  const Bytes stream = check_round_trip(values, shape, options);
  ASSERT_EQ(inspect(stream).header.regions.size(), 1u);
  const Array decoded = decompress(stream);
  EXPECT_LE(largest_error(values, decoded.as<float>(), shape, {{150, 250}, {50, 50}}), 1e-5);
  EXPECT_GT(largest_error(values, decoded.as<float>(), shape, {{0, 0}, {50, 50}}), 1e-2);
  // Where memory is given, too.
  Bytes memory(size_t(max_compressed_size(DType::f32, shape, options)));
  EXPECT_EQ(compress_into(view_of(values.data(), shape), options, memory).output_bytes,
            stream.size());
  bounds[0] = -1;
  EXPECT_THROW(compress(values.data(), shape, options), Error);
}

TEST(Chunks, OfAnotherRankOrWithoutExtentAreRefusedEverywhere) {
  const Shape shape{10, 10};
  const std::vector<float> values(100);
  for (const Shape& chunk : {Shape{5}, Shape{0, 5}, Shape{5, 0}, Shape{5, 5, 5}}) {
    auto options = options_for<float>(Bound::abs(1), "balanced");
    options.chunk = chunk;
    Bytes memory(10000);
    EXPECT_THROW(max_compressed_size(DType::f32, shape, options), Error) << to_string(chunk);
    EXPECT_THROW(compress(values.data(), shape, options), Error) << to_string(chunk);
    EXPECT_THROW(compress_into(view_of(values.data(), shape), options, memory), Error);
    EXPECT_THROW(advise(view_of(values.data(), shape), options, {}), Error) << to_string(chunk);
  }
}

TEST(Regions, RefuseWhatMakesNoSense) {
  const std::vector<float> values(100);
  const Shape shape{10, 10};
  const auto attempt = [&](const RegionBound& region, const Bound& bound) {
    auto options = options_for<float>(bound, "balanced");
    options.regions = {region};
    compress(values.data(), shape, options);
  };
  EXPECT_NO_THROW(attempt({{{0, 0}, {10, 10}}, 0.1}, Bound::abs(1)));
  EXPECT_THROW(attempt({{{0, 5}, {10, 6}}, 0.1}, Bound::abs(1)), Error);
  EXPECT_THROW(attempt({{{0, ~u64(0)}, {10, 2}}, 0.1}, Bound::abs(1)), Error);
  EXPECT_THROW(attempt({{{0}, {10}}, 0.1}, Bound::abs(1)), Error);
  EXPECT_THROW(attempt({{{0, 0}, {10, 10}}, -0.1}, Bound::abs(1)), Error);
  EXPECT_THROW(attempt({{{0, 0}, {10, 10}}, 0.1}, Bound::pointwise(1e-3)), Error);
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
