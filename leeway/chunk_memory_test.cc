// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/chunk_memory.h"

#include <algorithm>

#include "tests/support.h"

namespace leeway::test {
namespace {

// A host that keeps one chunk compressed, as HDF5 and Zarr do: whoever writes a part of it has it
// decoded, changed and compressed again.
template <class T>
struct Host {
  Shape shape;
  CompressOptions options;
  ChunkMemory memory;
  Bytes stream;

  void encode(const std::vector<T>& values) {
    Bytes room(size_t(max_compressed_size(dtype_of<T>(), shape, options)));
    room.resize(
        size_t(memory.compress_into(view_of(values.data(), shape), options, room).output_bytes));
    stream = std::move(room);
  }
  std::vector<T> decode() {
    const Array array = decompress(stream);
    memory.remember(stream, view_of(array.template as<T>().data(), shape));
    return {array.template as<T>().begin(), array.template as<T>().end()};
  }
};

template <class T>
CompressOptions host_options(double bound, const std::string& recipe) {
  return options_for<T>(Bound::abs(bound), recipe);
}

TEST(ChunkMemory, AChunkWrittenInSlabsKeepsItsBound) {
  const Shape shape{64, 20, 24};
  const auto truth = make_field<float>(shape, Texture::smooth);
  for (const std::string recipe : {"fast", "balanced", "small", "smallest", "sz3-interp", "sz3-lr",
                                   "dft+linear+huffman", "lorenzo+logscale+huffman", "auto"})
    for (const bool columns : {false, true}) {
      SCOPED_TRACE(recipe + (columns ? " columns" : " slabs"));
      Host<float> host{shape, host_options<float>(0.01, recipe), {}, {}};
      host.encode(std::vector<float>(truth.size()));
      std::vector<float> expected(truth.size());
      for (size_t part = 0; part < 16; ++part) {
        auto values = host.decode();
        EXPECT_EQ(values, part ? expected : std::vector<float>(truth.size()));
        const auto is_in = [&](size_t i) {
          return columns ? i % 24 * 2 / 3 == part : i / (20 * 24) / 4 == part;
        };
        for (size_t i = 0; i < values.size(); ++i)
          if (is_in(i)) values[i] = truth[i];
        host.encode(values);
        expected = host.decode();
        for (size_t i = 0; i < values.size(); ++i) {
          if (is_in(i))
            ASSERT_LE(std::abs(expected[i] - values[i]), 0.01);
          else
            ASSERT_EQ(bits_of(expected[i]), bits_of(values[i]));
        }
      }
      for (size_t i = 0; i < truth.size(); ++i)
        ASSERT_LE(std::abs(double(expected[i]) - double(truth[i])), 0.01) << i;
    }
}

// Filled up by the host with zeros.
TEST(ChunkMemory, ChunksAtABorderAreStillCodedWithoutTheirFilling) {
  const Shape shape{24, 40, 64};
  auto values = make_field<float>(shape, Texture::smooth);
  const auto is_outside = [](size_t i) { return i % 64 >= 50 || i / 64 % 40 >= 33; };
  for (size_t i = 0; i < values.size(); ++i)
    if (is_outside(i)) values[i] = 0;
  for (const std::string recipe : {"fast", "linear+lorenzo+huffman+zstd", "balanced", "small"}) {
    Host<float> host{shape, host_options<float>(0.001, recipe), {}, {}};
    host.options.brief = true;
    host.encode(values);
    const auto before = host.decode();
    auto changed = before;
    for (size_t i = 0; i < changed.size(); ++i)
      if (i / (40 * 64) == 7 && !is_outside(i)) changed[i] = -values[i];
    const size_t alone = compress(changed.data(), shape, host.options).size();
    host.encode(changed);
    EXPECT_LE(host.stream.size(), alone * 5 / 4) << recipe;
    if (recipe != "balanced" && recipe != "small") EXPECT_EQ(host.stream.size(), alone) << recipe;
    const auto after = host.decode();
    for (size_t i = 0; i < after.size(); ++i)
      if (bits_of(changed[i]) == bits_of(before[i]))
        ASSERT_EQ(bits_of(after[i]), bits_of(before[i]));
  }
}

// Two datasets with the same values: what is rewritten is a stream with the recipe that is asked for.
TEST(ChunkMemory, DatasetsWithTheSameValuesAndOtherRecipes) {
  const Shape shape{10, 24, 32};
  const auto values = make_field<float>(shape, Texture::smooth);
  ChunkMemory memory;
  const auto write = [&](const std::vector<float>& array, const std::string& recipe) {
    const CompressOptions options = host_options<float>(0.01, recipe);
    Bytes stream(size_t(max_compressed_size(DType::f32, shape, options)));
    const View view = view_of(array.data(), shape);
    stream.resize(size_t(memory.compress_into(view, options, stream).output_bytes));
    const Array decoded = decompress(stream);
    memory.remember(stream, view_of(decoded.as<float>().data(), shape));
    return std::vector<float>(decoded.as<float>().begin(), decoded.as<float>().end());
  };
  const auto first = write(values, "lorenzo+linear+huffman");
  ASSERT_EQ(write(first, "lorenzo+linear+rans"), first);
  for (const std::string recipe : {"lorenzo+linear+huffman", "lorenzo+linear+rans"}) {
    auto changed = first;
    std::fill_n(changed.begin() + 4 * 24 * 32, 32, 3.0f);
    const auto after = write(changed, recipe);
    for (size_t i = 0; i < after.size(); ++i)
      if (bits_of(changed[i]) == bits_of(first[i]))
        ASSERT_EQ(bits_of(after[i]), bits_of(first[i])) << recipe << " " << i;
  }
}

// Rain: most values are 0, and so are most of what a stream gives.
std::vector<float> make_rain(const Shape& shape, size_t shift) {
  std::vector<float> rain(size_t(shape.size()));
  for (size_t i = 0; i < rain.size(); ++i)
    rain[i] = std::max(0.0f, float(std::sin(double(i % 1024 + shift) * 0.02) *
                                   std::cos(double(i / 1024 + shift) * 0.3)) -
                                 0.5f);
  return rain;
}

TEST(ChunkMemory, AnArrayThatIsWrittenAgainHasTheSameStream) {
  const Shape shape{40, 1024};
  for (const std::string recipe : {"fast", "balanced", "small", "smallest", "sz3-interp"}) {
    SCOPED_TRACE(recipe);
    Host<float> host{shape, host_options<float>(0.01, recipe), {}, {}};
    const auto rain = make_rain(shape, 0);
    host.encode(rain);
    const Bytes first = host.stream;
    host.decode();
    host.encode(rain);
    EXPECT_EQ(host.stream, first);
  }
}

TEST(ChunkMemory, TheZerosOfAnotherArrayCostLittle) {
  const Shape shape{40, 1024};
  for (const std::string recipe : {"small", "smallest", "sz3-interp"}) {
    SCOPED_TRACE(recipe);
    Host<float> host{shape, host_options<float>(0.01, recipe), {}, {}};
    std::vector<std::vector<float>> known;
    for (const size_t shift : {0, 1, 2}) {
      host.encode(make_rain(shape, shift));
      known.push_back(host.decode());
    }
    const auto rain = make_rain(shape, 3);
    host.encode(rain);
    EXPECT_LT(host.stream.size(), compress(view_of(rain.data(), shape), host.options).size() * 1.2);
    const auto decoded = host.decode();
    for (size_t i = 0; i < rain.size(); ++i) {
      ASSERT_LE(std::abs(decoded[i] - rain[i]), 0.01);
      if (rain[i] == 0 && known.back()[i] == 0) ASSERT_EQ(decoded[i], 0);
    }
  }
}

// Rain: most values are 0, and of the others some are decoded to what they were by chance.
TEST(ChunkMemory, EqualValuesByChanceCostNothing) {
  const Shape shape{64, 90, 70};
  auto options = options_for<float>(Bound::pointwise(1e-5), "small");
  options.brief = true;
  options.chunk = shape;
  std::mt19937 random(7);
  std::vector<float> values(size_t(shape.size()));
  for (float& value : values)
    if (random() % 10 == 0) value = 1e-5f * float(random() % 4099 + 1);
  Host<float> host{shape, options, {}, {}};
  host.encode(values);
  const size_t alone = host.stream.size();
  const auto decoded = host.decode();
  size_t equal = 0;
  for (size_t i = 0; i < values.size(); ++i) equal += values[i] != 0 && values[i] == decoded[i];
  EXPECT_GT(equal, 4u);
  host.encode(values);
  EXPECT_LE(host.stream.size(), alone + alone / 50);
}

TEST(ChunkMemory, IntegersAndScatteredValues) {
  if (!kIsCompiled<i32>) return;
  const Shape shape{50, 40};
  std::vector<i32> truth(2000);
  for (size_t i = 0; i < truth.size(); ++i) truth[i] = i32(i * i % 5003);
  Host<i32> host{shape, host_options<i32>(20, "small"), {}, {}};
  host.encode(truth);
  std::mt19937 random(4);
  for (int round = 0; round < 20; ++round) {
    auto values = host.decode();
    for (int k = 0; k < 30; ++k) {
      const size_t i = random() % values.size();
      truth[i] = values[i] = i32(random() % 5003);
    }
    host.encode(values);
  }
  const auto decoded = host.decode();
  for (size_t i = 0; i < truth.size(); ++i) ASSERT_LE(std::abs(decoded[i] - truth[i]), 20);
}

// Values that were never decoded are compressed as they would be without a memory.
TEST(ChunkMemory, NewArraysGetTheSameBytes) {
  const Shape shape{32, 33};
  Host<double> host{shape, host_options<double>(1e-3, "small"), {}, {}};
  for (unsigned seed = 1; seed < 4; ++seed) {
    const auto values = make_field<double>(shape, Texture::noise, seed);
    host.encode(values);
    EXPECT_EQ(host.stream, compress(values.data(), shape, host.options));
    host.decode();
  }
}

// What a relative bound allows depends on all values: a chunk that is rewritten in part is kept
// without loss.
TEST(ChunkMemory, BoundsOfTheWholeChunkDoNotDrift) {
  const Shape shape{40, 50};
  for (const Bound& bound : {Bound::rel(1e-3), Bound::psnr(60), Bound::pointwise(1e-2)}) {
    Host<float> host{shape, options_for<float>(bound, "small"), {}, {}};
    host.encode(make_field<float>(shape, Texture::smooth));
    auto values = host.decode();
    for (size_t i = 0; i < 200; ++i) values[i] = 1000;
    host.encode(values);
    const auto decoded = host.decode();
    for (size_t i = 200; i < values.size(); ++i) ASSERT_EQ(bits_of(decoded[i]), bits_of(values[i]));
    const Info info = inspect(host.stream);
    EXPECT_LE(info.statement.max_error, info.header.abs_bound);
  }
}

// Streams that have been forgotten cannot be continued: what came from them is kept without loss.
TEST(ChunkMemory, ForgottenStreamsCostSpaceAndNoError) {
  const Shape shape{64, 64};
  const auto truth = make_field<float>(shape, Texture::smooth);
  Host<float> host{shape, host_options<float>(0.05, "small"), {}, {}};
  host.encode(truth);
  auto values = host.decode();
  const Shape large{1 << 20};
  const auto noise = make_field<double>(large, Texture::noise);
  const Bytes other = compress(noise.data(), large, host_options<double>(1e-14, "linear+raw"));
  for (int i = 0; i < 12; ++i) host.memory.remember(other, view_of(noise.data(), large));
  for (size_t i = 0; i < 64; ++i) values[i] = 9;
  host.encode(values);
  EXPECT_EQ(host.decode(), values);
}

// The next process knows nothing of this one: what a chunk was decoded from must be in the stream.
TEST(ChunkMemory, WhatWasKeptWithoutLossDoesNotDriftLater) {
  const Shape shape{40, 50};
  for (const Bound& bound : {Bound::abs(0.05), Bound::rel(0.01), Bound::psnr(50)}) {
    SCOPED_TRACE(to_string(bound));
    const auto options = options_for<float>(bound, "small");
    const auto first = make_field<float>(shape, Texture::smooth);
    Bytes stream = compress(first.data(), shape, options);
    for (size_t process = 0; process < 6; ++process) {
      Host<float> host{shape, options, {}, stream};
      auto values = host.decode();
      if (process % 2 == 0) {
        CompressOptions kept = options;
        kept.keeps_all = inspect(stream).header.abs_bound;  // as if it had been forgotten
        stream = compress(values.data(), shape, kept);
        host.stream = stream;
        EXPECT_EQ(host.decode(), values);
        const Info info = inspect(stream);
        EXPECT_EQ(info.header.bound.limits(), bound.limits());
        EXPECT_LE(info.statement.max_error, info.header.abs_bound);
        continue;
      }
      for (size_t i = 0; i < 100; ++i) values[process * 300 + i] += 1;
      host.encode(values);
      stream = host.stream;
      const auto decoded = host.decode();
      const double most = bound.is_lasting() ? 0.05 : 0;
      for (size_t i = 0; i < values.size(); ++i) {
        if (i / 100 == process * 3)
          ASSERT_LE(std::abs(double(decoded[i]) - double(values[i])), most);
        else
          ASSERT_EQ(bits_of(decoded[i]), bits_of(values[i])) << i;
      }
    }
  }
}

// A chunk of mostly fill values grows part by part. Earlier states of it have fewer ordinary
// values, so that marks tell more of them: the last one must be found nevertheless.
TEST(ChunkMemory, EarlierStatesAreNotTakenForTheLast) {
  const Shape shape{10, 24, 32};
  auto options = host_options<float>(0.01, "small");
  options.fills = {-77.5};
  const auto truth = make_field<float>(shape, Texture::smooth);
  Host<float> host{shape, options, {}, {}};
  host.encode(std::vector<float>(truth.size(), -77.5f));
  for (size_t part = 0; part < 40; ++part) {
    auto values = host.decode();
    const size_t first = part * 179 % truth.size(), end = std::min(first + 90, truth.size());
    for (size_t i = first; i < end; ++i) values[i] = truth[i] + float(part);
    host.encode(values);
    const auto decoded = host.decode();
    for (size_t i = 0; i < values.size(); ++i) {
      if (i >= first && i < end)
        ASSERT_LE(std::abs(decoded[i] - values[i]), 0.01) << part;
      else
        ASSERT_EQ(bits_of(decoded[i]), bits_of(values[i])) << part << " at " << i;
    }
  }
}

// Chunks that were decoded after the one that comes back, and have many values in common with it.
TEST(ChunkMemory, AlikeChunksAreToldApart) {
  const Shape shape{32, 32};
  const auto check = [&]<class T>(const std::vector<std::vector<T>>& chunks, double bound) {
    Host<T> host{shape, host_options<T>(bound, "small"), {}, {}};
    std::vector<std::vector<T>> decoded;
    for (const auto& chunk : chunks) {
      host.stream = compress(chunk.data(), shape, host.options);
      decoded.push_back(host.decode());
    }
    for (auto& values : decoded) {
      for (size_t i = 0; i < 100; ++i) values[i] = 60;
      host.encode(values);
      const Array array = decompress(host.stream);
      for (size_t i = 100; i < values.size(); ++i)
        ASSERT_EQ(bits_of(array.template as<T>()[i]), bits_of(values[i]));
    }
  };
  // Zero but for a part.
  std::vector<std::vector<float>> rain;
  for (unsigned seed = 1; seed < 6; ++seed) {
    rain.push_back(make_field<float>(shape, Texture::smooth, seed));
    std::fill(rain.back().begin() + 400, rain.back().end(), 0.0f);
  }
  check(rain, 0.01);
  // Few different values.
  std::mt19937 random(3);
  std::vector<std::vector<i32>> counts(256, std::vector<i32>(1024));
  for (auto& chunk : counts) {
    const double phase = double(random() % 1000) / 100;
    for (size_t i = 0; i < chunk.size(); ++i)
      chunk[i] = i32(30 + 15 * std::sin(double(i % 32) / 10 + phase) + double(random() % 4));
  }
  if (kIsCompiled<i32>) check(counts, 4);
}

// What cannot be continued is kept without loss: recipes with bounds value by value, regions.
TEST(ChunkMemory, StreamsThatCannotBeContinuedDoNotDrift) {
  const Shape shape{40, 50};
  auto with_regions = host_options<float>(0.05, "small"), with_chunks = with_regions;
  with_regions.regions = {{{{3, 4}, {5, 6}}, 0.01}};
  with_chunks.chunk = {30, 1000};  // longer than the array
  for (const CompressOptions& options :
       {host_options<float>(0.05, "pyramid+elementwise+rans"), with_regions, with_chunks}) {
    Host<float> host{shape, options, {}, {}};
    host.encode(make_field<float>(shape, Texture::smooth));
    auto values = host.decode();
    for (size_t i = 0; i < 200; ++i) values[i] = 9;
    host.encode(values);
    const auto decoded = host.decode();
    for (size_t i = 200; i < values.size(); ++i) ASSERT_EQ(bits_of(decoded[i]), bits_of(values[i]));
  }
}

}  // namespace
}  // namespace leeway::test
