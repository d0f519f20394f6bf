// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <thread>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "leeway/leeway.h"
#include "tests/support.h"

namespace leeway::test {
namespace {

struct Context {
  leeway_context* c;
  explicit Context(leeway_context* made = leeway_create()) : c(made) {}
  ~Context() { leeway_destroy(c); }
  operator leeway_context*() { return c; }
};

TEST(CApi, RoundTripsWithStrides) {
  Context c;
  ASSERT_EQ(leeway_set_bound(c, "abs", 1e-3), LEEWAY_OK);
  auto values = make_field<double>({20, 30}, Texture::smooth);
  const u64 shape[] = {30, 20};
  const i64 strides[] = {8, 30 * 8};  // transposed
  const leeway_array array = {values.data(), LEEWAY_F64, 2, shape, strides};
  leeway_buffer* stream = nullptr;
  ASSERT_EQ(leeway_compress(c, &array, &stream), LEEWAY_OK) << leeway_message(c);
  leeway_info info;
  ASSERT_EQ(leeway_inspect(c, leeway_buffer_data(stream), leeway_buffer_size(stream), &info),
            LEEWAY_OK);
  EXPECT_EQ(info.rank, 2);
  EXPECT_EQ(info.shape[0], 30u);
  EXPECT_EQ(info.abs_bound, 1e-3);
  EXPECT_EQ(info.recipe, to_string(parse_recipe("balanced")));
  std::vector<double> out(600), region(6);
  const leeway_array target = {out.data(), LEEWAY_F64, 2, shape, strides};
  ASSERT_EQ(leeway_decompress(c, leeway_buffer_data(stream), leeway_buffer_size(stream), &target),
            LEEWAY_OK);
  expect_within<double>(values, out, 1e-3, {}, "C");
  const u64 first[] = {4, 5}, part[] = {2, 3};
  const leeway_array piece = {region.data(), LEEWAY_F64, 2, part, nullptr};
  ASSERT_EQ(leeway_decompress_region(c, leeway_buffer_data(stream), leeway_buffer_size(stream),
                                     first, &piece),
            LEEWAY_OK);
  EXPECT_EQ(region[4], out[6 * 30 + 5]);
  leeway_buffer_free(stream);
}

TEST(CApi, GivesAPreview) {
  const u64 shape[] = {31, 40};
  const auto values = make_field<double>({31, 40}, Texture::smooth);
  leeway_context* c = leeway_create();
  leeway_set_bound(c, "abs", 1e-3);
  leeway_set_recipe(c, "small");
  const leeway_array array = {const_cast<double*>(values.data()), LEEWAY_F64, 2, shape, nullptr};
  leeway_buffer* stream = nullptr;
  ASSERT_EQ(leeway_compress(c, &array, &stream), LEEWAY_OK);
  u64 coarse[LEEWAY_MAX_RANK] = {};
  ASSERT_EQ(
      leeway_preview_shape(c, leeway_buffer_data(stream), leeway_buffer_size(stream), 2, coarse),
      LEEWAY_OK);
  EXPECT_EQ(coarse[0], 8u);
  EXPECT_EQ(coarse[1], 10u);
  std::vector<double> out(80);
  const leeway_array target = {out.data(), LEEWAY_F64, 2, coarse, nullptr};
  ASSERT_EQ(leeway_decompress_preview(c, leeway_buffer_data(stream), leeway_buffer_size(stream), 2,
                                      &target),
            LEEWAY_OK);
  for (size_t i = 0; i < 80; ++i) EXPECT_NEAR(out[i], values[i / 10 * 4 * 40 + i % 10 * 4], 1e-3);
  const leeway_array wrong = {out.data(), LEEWAY_F64, 2, shape, nullptr};
  EXPECT_EQ(leeway_decompress_preview(c, leeway_buffer_data(stream), leeway_buffer_size(stream), 2,
                                      &wrong),
            LEEWAY_INVALID_ARGUMENT);
  leeway_buffer_free(stream);
  leeway_destroy(c);
}

TEST(CApi, FillValuesThatNoDoubleHolds) {
  const auto check = [](int dtype, auto fill, auto values) {
    using T = decltype(fill);
    if (!kIsCompiled<T>) return;
    Context c;
    values[7] = values[100] = fill;
    leeway_set_bound(c, "abs", 40);
    leeway_add_fill_bits(c, uint64_t(fill));
    const u64 shape[] = {values.size()};
    const leeway_array array = {values.data(), dtype, 1, shape, nullptr};
    leeway_buffer* stream = nullptr;
    ASSERT_EQ(leeway_compress(c, &array, &stream), LEEWAY_OK) << leeway_message(c);
    std::vector<T> out(values.size());
    const leeway_array target = {out.data(), dtype, 1, shape, nullptr};
    ASSERT_EQ(leeway_decompress(c, leeway_buffer_data(stream), leeway_buffer_size(stream), &target),
              LEEWAY_OK);
    leeway_info info;
    leeway_inspect(c, leeway_buffer_data(stream), leeway_buffer_size(stream), &info);
    EXPECT_EQ(info.special, 2u);
    EXPECT_EQ(out[7], fill);
    EXPECT_EQ(out[100], fill);
    EXPECT_NE(out, values);
    leeway_buffer_free(stream);
  };
  std::vector<u64> wide(200);
  for (size_t i = 0; i < wide.size(); ++i) wide[i] = (u64(1) << 60) + i * i;
  check(LEEWAY_U64, (u64(1) << 60) + 2, wide);
  std::vector<i16> narrow(200);
  for (size_t i = 0; i < narrow.size(); ++i) narrow[i] = i16(i * 7);
  check(LEEWAY_I16, i16(-32767), narrow);
}

TEST(CApi, CompressesIntoMemoryOfTheCaller) {
  Context c;
  leeway_set_bound(c, "rel", 1e-3);
  auto values = make_field<float>({1000}, Texture::noise);
  const u64 shape[] = {1000};
  const leeway_array array = {values.data(), LEEWAY_F32, 1, shape, nullptr};
  size_t capacity = 0, size = 0;
  ASSERT_EQ(leeway_max_compressed_size(c, &array, &capacity), LEEWAY_OK);
  std::vector<u8> room(capacity);
  EXPECT_EQ(leeway_compress_into(c, &array, room.data(), room.size(), &size), LEEWAY_OK);
  EXPECT_LE(size, capacity);
  EXPECT_EQ(leeway_compress_into(c, &array, room.data(), 100, &size), LEEWAY_TOO_SMALL);
}

TEST(CApi, WritesAndReadsTheBriefForm) {
  Context c;
  leeway_set_bound(c, "abs", 1e-3);
  auto values = make_field<float>({10, 100}, Texture::smooth);
  const u64 shape[] = {10, 100};
  const leeway_array array = {values.data(), LEEWAY_F32, 2, shape, nullptr};
  size_t sizes[2];
  std::vector<u8> room(10000);
  for (const int brief : {0, 1}) {
    leeway_set_brief(c, brief);
    ASSERT_EQ(leeway_compress_into(c, &array, room.data(), room.size(), &sizes[brief]), LEEWAY_OK);
    leeway_info info;
    ASSERT_EQ(leeway_inspect(c, room.data(), sizes[brief], &info), LEEWAY_OK);
    EXPECT_EQ(info.brief, u64(brief));
    EXPECT_EQ(info.shape[1], 100u);
    EXPECT_EQ(info.chunks, 1u);
    std::vector<float> out(1000);
    const leeway_array target = {out.data(), LEEWAY_F32, 2, shape, nullptr};
    ASSERT_EQ(leeway_decompress(c, room.data(), sizes[brief], &target), LEEWAY_OK);
    expect_within<float>(values, out, 1e-3, {}, "C");
  }
  EXPECT_LT(sizes[1] + 200, sizes[0]);
}

// All workers write at once: the bytes must be those of one worker, and those that come in order.
TEST(CApi, MemoryIsFilledByAllWorkersAtOnce) {
  Context c;
  leeway_set_bound(c, "abs", 1e-3);
  leeway_set_recipe(c, "fast");
  auto values = make_field<float>({60, 70, 80}, Texture::noise);
  const u64 shape[] = {60, 70, 80};
  const leeway_array array = {values.data(), LEEWAY_F32, 3, shape, nullptr};
  leeway_buffer* in_order = nullptr;
  ASSERT_EQ(leeway_compress(c, &array, &in_order), LEEWAY_OK);
  size_t capacity = 0;
  ASSERT_EQ(leeway_max_compressed_size(c, &array, &capacity), LEEWAY_OK);
  for (const unsigned threads : {1u, 2u, 5u}) {
    leeway_set_threads(c, threads);
    std::vector<u8> room(capacity);
    size_t size = 0;
    ASSERT_EQ(leeway_compress_into(c, &array, room.data(), capacity, &size), LEEWAY_OK);
    ASSERT_EQ(size, leeway_buffer_size(in_order));
    EXPECT_EQ(std::memcmp(room.data(), leeway_buffer_data(in_order), size), 0);
    EXPECT_EQ(leeway_compress_into(c, &array, room.data(), size, &size), LEEWAY_OK);
    for (const size_t cut : {size_t(1), size / 2, size - 10})
      EXPECT_EQ(leeway_compress_into(c, &array, room.data(), size - cut, &capacity),
                LEEWAY_TOO_SMALL);
    capacity = room.size();
  }
  leeway_buffer_free(in_order);
}

TEST(CApi, UpdatesAFile) {
  Context c;
  leeway_set_bound(c, "abs", 1e-3);
  auto values = make_field<float>({40, 50}, Texture::smooth);
  const u64 shape[] = {40, 50};
  const leeway_array array = {values.data(), LEEWAY_F32, 2, shape, nullptr};
  leeway_buffer* stream = nullptr;
  ASSERT_EQ(leeway_compress(c, &array, &stream), LEEWAY_OK);
  const std::string path = testing::TempDir() + "/leeway_update_test.lwy";
  {
    std::ofstream file(path, std::ios::binary);
    file.write(static_cast<const char*>(leeway_buffer_data(stream)),
               std::streamsize(leeway_buffer_size(stream)));
  }
  leeway_buffer_free(stream);
  const float fresh[] = {5, 6, 7, 8, 9, 10};
  const u64 first[] = {3, 4}, part[] = {2, 3};
  const leeway_array patch = {const_cast<float*>(fresh), LEEWAY_F32, 2, part, nullptr};
  ASSERT_EQ(leeway_update_file(c, path.c_str(), first, &patch), LEEWAY_OK) << leeway_message(c);
  const u64 outside[] = {39, 4};
  EXPECT_EQ(leeway_update_file(c, path.c_str(), outside, &patch), LEEWAY_INVALID_ARGUMENT);
  EXPECT_EQ(leeway_update_file(c, "/nowhere/at/all", first, &patch), LEEWAY_IO);
  const FileSource source(path);
  std::vector<float> decoded(2000);
  decompress_into(StreamReader(source), {}, mutable_view_of(decoded.data(), {40, 50}));
  for (size_t i = 0; i < 2; ++i)
    for (size_t k = 0; k < 3; ++k) values[(3 + i) * 50 + 4 + k] = fresh[3 * i + k];
  expect_within<float>(values, decoded, 1e-3, {}, "update");
  std::remove(path.c_str());
}

TEST(CApi, ErrorsHaveACodeAndAMessage) {
  Context c;
  EXPECT_EQ(leeway_set_bound(c, "abs", -1), LEEWAY_INVALID_ARGUMENT);
  EXPECT_NE(std::string(leeway_message(c)), "");
  EXPECT_EQ(leeway_set_bound(c, "absolute", 1), LEEWAY_INVALID_ARGUMENT);
  const uint64_t first[] = {0, 0}, extents[] = {1, 1};
  EXPECT_EQ(leeway_add_region_bound(c, 2, first, nullptr, 0.1), LEEWAY_INVALID_ARGUMENT);
  EXPECT_EQ(leeway_add_region_bound(c, 99, first, extents, 0.1), LEEWAY_INVALID_ARGUMENT);
  EXPECT_EQ(leeway_add_region_bound(c, 2, first, extents, 0.1), LEEWAY_OK);
  leeway_clear_region_bounds(c);
  EXPECT_EQ(leeway_set_recipe(c, "auto"), LEEWAY_OK);
  EXPECT_EQ(leeway_set_recipe(c, "balanced"), LEEWAY_OK);
  EXPECT_EQ(leeway_set_recipe(c, "nonsense"), LEEWAY_INVALID_ARGUMENT);
  EXPECT_EQ(leeway_set_recipe(nullptr, "balanced"), LEEWAY_INVALID_ARGUMENT);
  leeway_info info;
  EXPECT_EQ(leeway_inspect(c, "garbage", 7, &info), LEEWAY_CORRUPT);
  float x = 1;
  const u64 shape[] = {1};
  const leeway_array array = {&x, LEEWAY_F32, 1, shape, nullptr};
  leeway_buffer* stream;
  EXPECT_EQ(leeway_compress(c, &array, &stream), LEEWAY_INVALID_ARGUMENT);  // no bound yet
  EXPECT_NE(std::string(leeway_message(c)).find("bound"), std::string::npos);
  const leeway_array wrong = {&x, 99, 1, shape, nullptr};
  EXPECT_EQ(leeway_compress(c, &wrong, &stream), LEEWAY_INVALID_ARGUMENT);
}

TEST(CApi, RefusesWhatMakesNoSenseAtOnce) {
  Context c;
  const u64 first[] = {0, 0}, extents[] = {1, 1}, none[] = {4, 0};
  EXPECT_EQ(leeway_add_region_bound(c, 2, first, extents, -1), LEEWAY_INVALID_ARGUMENT);
  EXPECT_EQ(leeway_add_region_bound(c, 2, first, extents, NAN), LEEWAY_INVALID_ARGUMENT);
  EXPECT_EQ(leeway_set_chunk(c, 2, none), LEEWAY_INVALID_ARGUMENT);
  EXPECT_EQ(leeway_set_chunk(c, 2, nullptr), LEEWAY_INVALID_ARGUMENT);
  leeway_set_bound(c, "abs", 0.1);
  auto values = make_field<float>({4, 6}, Texture::smooth);
  const u64 shape[] = {4, 6}, turned[] = {6, 4};
  const leeway_array array = {values.data(), LEEWAY_F32, 2, shape, nullptr};
  leeway_buffer* stream = nullptr;
  ASSERT_EQ(leeway_compress(c, &array, &stream), LEEWAY_OK);
  const auto read = [&](const u64* into, const i64* strides) {
    const leeway_array out = {values.data(), LEEWAY_F32, 2, into, strides};
    return leeway_decompress(c, leeway_buffer_data(stream), leeway_buffer_size(stream), &out);
  };
  EXPECT_EQ(read(turned, nullptr), LEEWAY_INVALID_ARGUMENT);
  EXPECT_STREQ(leeway_message(c), "the array has the shape 6x4, the stream 4x6");
  for (const auto& strides : {std::array<i64, 2>{0, 4}, {24, 2}, {24, -2}, {4, 4}, {4, -4}}) {
    EXPECT_EQ(read(shape, strides.data()), LEEWAY_INVALID_ARGUMENT);
    EXPECT_NE(std::string(leeway_message(c)).find("strides"), std::string::npos);
  }
  EXPECT_EQ(read(shape, nullptr), LEEWAY_OK);
  leeway_buffer_free(stream);
  EXPECT_STREQ(leeway_status_name(LEEWAY_CORRUPT), "damaged stream");
  EXPECT_STREQ(leeway_status_name(leeway_status(99)), "unknown status");
}

TEST(CApi, ChunksAndDamageInThem) {
  Context c;
  leeway_set_bound(c, "abs", 1e-3);
  const u64 shape[] = {20, 30}, chunk[] = {10, 30};
  ASSERT_EQ(leeway_set_chunk(c, 2, chunk), LEEWAY_OK);
  auto values = make_field<float>({20, 30}, Texture::noise);
  const leeway_array array = {values.data(), LEEWAY_F32, 2, shape, nullptr};
  leeway_buffer* made = nullptr;
  ASSERT_EQ(leeway_compress(c, &array, &made), LEEWAY_OK) << leeway_message(c);
  const auto* data = static_cast<const u8*>(leeway_buffer_data(made));
  Bytes stream(data, data + leeway_buffer_size(made));
  leeway_buffer_free(made);
  leeway_info info;
  ASSERT_EQ(leeway_inspect(c, stream.data(), stream.size(), &info), LEEWAY_OK);
  EXPECT_EQ(info.chunks, 2u);
  EXPECT_EQ(info.chunk[0], 10u);

  stream[stream.size() / 3] ^= 0x55;  // in the first chunk
  std::vector<float> out(600);
  const leeway_array target = {out.data(), LEEWAY_F32, 2, shape, nullptr};
  EXPECT_EQ(leeway_decompress(c, stream.data(), stream.size(), &target), LEEWAY_CORRUPT);
  leeway_set_salvage(c, 1);
  ASSERT_EQ(leeway_decompress(c, stream.data(), stream.size(), &target), LEEWAY_OK);
  u64 chunks = 0, lost = 0;
  leeway_damage(c, &chunks, &lost);
  EXPECT_EQ(chunks, 1u);
  EXPECT_EQ(lost, 300u);
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_NEAR(out[599], values[599], 1e-3);
}

TEST(CApi, BoundsOfValuesAndTheirRange) {
  Context c;
  leeway_set_bound(c, "abs", 1);
  const u64 shape[] = {20, 30};
  auto values = make_field<float>({20, 30}, Texture::smooth);
  values[7] = NAN;
  std::vector<float> bounds(600, INFINITY), out(600);
  bounds[100] = 0;
  const leeway_array array = {values.data(), LEEWAY_F32, 2, shape, nullptr};
  const leeway_array limits = {bounds.data(), LEEWAY_F32, 2, shape, nullptr};
  ASSERT_EQ(leeway_set_value_bounds(c, &limits), LEEWAY_OK);
  Context copy(leeway_copy(c));  // has them, too
  leeway_buffer* stream = nullptr;
  ASSERT_EQ(leeway_compress(copy, &array, &stream), LEEWAY_OK) << leeway_message(copy);
  const leeway_array target = {out.data(), LEEWAY_F32, 2, shape, nullptr};
  ASSERT_EQ(leeway_decompress(c, leeway_buffer_data(stream), leeway_buffer_size(stream), &target),
            LEEWAY_OK);
  leeway_buffer_free(stream);
  EXPECT_EQ(out[100], values[100]);
  expect_within<float>(values, out, 1, {}, "C");

  double lowest = 0, highest = 0;
  ASSERT_EQ(leeway_value_range(c, &array, &lowest, &highest), LEEWAY_OK);
  values[7] = values[8];
  EXPECT_EQ(lowest, *std::ranges::min_element(values));
  EXPECT_EQ(highest, *std::ranges::max_element(values));
  std::ranges::fill(values, NAN);
  ASSERT_EQ(leeway_value_range(c, &array, &lowest, &highest), LEEWAY_OK);
  EXPECT_EQ(lowest, INFINITY);
  EXPECT_EQ(highest, -INFINITY);
}

TEST(CApi, TooLittleMemoryIsToldHowMuchIsEnough) {
  Context c;
  leeway_set_bound(c, "abs", 1e-3);
  const u64 shape[] = {600};
  auto values = make_field<float>({600}, Texture::noise);
  const leeway_array array = {values.data(), LEEWAY_F32, 1, shape, nullptr};
  size_t size = 0;
  u8 few[10];
  ASSERT_EQ(leeway_compress_into(c, &array, few, sizeof few, &size), LEEWAY_TOO_SMALL);
  Bytes enough(size);
  EXPECT_EQ(leeway_compress_into(c, &array, enough.data(), enough.size(), &size), LEEWAY_OK);
}

TEST(CApi, ExecutorAndProgressOfTheHost) {
  Context c;
  leeway_set_bound(c, "abs", 0.1);
  leeway_set_threads(c, 4);
  int runs = 0;
  leeway_set_executor(
      c,
      [](void* host, unsigned count, leeway_work work, void* data) {
        ++*static_cast<int*>(host);
        std::vector<std::jthread> threads;
        for (unsigned i = 0; i < count; ++i) threads.emplace_back([=] { work(data, i); });
      },
      &runs);
  auto values = make_field<float>({3000, 1000}, Texture::noise);
  const u64 shape[] = {3000, 1000};
  const leeway_array array = {values.data(), LEEWAY_F32, 2, shape, nullptr};
  leeway_buffer* stream = nullptr;
  ASSERT_EQ(leeway_compress(c, &array, &stream), LEEWAY_OK);
  leeway_buffer_free(stream);
  EXPECT_GE(runs, 1);
  leeway_set_progress(
      c, [](void*, double) { return 0; }, nullptr);
  EXPECT_EQ(leeway_compress(c, &array, &stream), LEEWAY_CANCELED);
}

TEST(CApi, ContextsAreIndependent) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      Context c;
      leeway_set_bound(c, "abs", std::pow(10.0, -t));
      auto values = make_field<float>({5000}, Texture::smooth, unsigned(t));
      const u64 shape[] = {5000};
      const leeway_array array = {values.data(), LEEWAY_F32, 1, shape, nullptr};
      for (int i = 0; i < 20; ++i) {
        leeway_buffer* stream = nullptr;
        ASSERT_EQ(leeway_compress(c, &array, &stream), LEEWAY_OK);
        leeway_info info;
        ASSERT_EQ(leeway_inspect(c, leeway_buffer_data(stream), leeway_buffer_size(stream), &info),
                  LEEWAY_OK);
        EXPECT_EQ(info.abs_bound, std::pow(10.0, -t));
        leeway_buffer_free(stream);
      }
    });
}

TEST(CApi, KnowsItsVersion) { EXPECT_STREQ(leeway_version(), version()); }

}  // namespace
}  // namespace leeway::test
