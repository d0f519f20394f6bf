// SPDX-License-Identifier: BSD-3-Clause
// waveSZ in hardware against the library's own walk, point by point and stream by stream.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>

#include "leeway/codec/typed_codec.h"
#include "leeway/engine/with_codec.h"
#include "leeway/encode/raw.h"
#include "leeway/lossless/deflate.h"
#include "rtl/tests/fields.h"
#include "rtl/tests/wavesz_machine.h"
#include "tools/fpga_model.h"

namespace leeway::rtl {
namespace {

constexpr LinearParams kHardware{
    .step = StepRule::power_of_two, .bins = 65536, .beyond = Beyond::exact, .second = 0};
constexpr double kBounds[] = {1e-2, 1e-3, 1e-4, 1e-6};

LinearGrid<float> grid_of(double bound) { return LinearGrid<float>(bound, kHardware); }

// Notes what the library's walk makes of every point.
struct Noting {
  const LinearGrid<float>& grid;
  std::vector<WavePoint>& points;
  void exact(float& value, float) { points.push_back({false, 0, value}); }
  void point(float& value, float predicted) {
    i32 code = 0;
    const bool coded = grid.quantize(value, predicted, code);
    points.push_back({coded, coded ? code : 0, value});
  }
  bool wave(const Wave<float>&) { return false; }
};

std::vector<WavePoint> by_library(const WaveTable& table, const LinearGrid<float>& grid,
                                  std::vector<float> values) {
  std::vector<WavePoint> points;
  if (table.rows == 1 || table.length == 1) {  // all of it is border
    for (const float value : values) points.push_back({false, 0, value});
    return points;
  }
  Noting visit{grid, points};
  Wavefront().walk(Field<float>{values.data(), {table.rows, table.length}}, visit);
  return points;
}

// Smooth, with noise, zeros of both signs and now and then anything at all.
std::vector<float> hostile_table(size_t rows, size_t length, std::mt19937_64& random) {
  std::normal_distribution<float> noise(0, 0.01f);
  std::vector<float> values(rows * length);
  for (size_t i = 0; i < values.size(); ++i) {
    const float y = float(i / length), x = float(i % length);
    values[i] = std::sin(y * 0.05f) * std::cos(x * 0.01f) + noise(random);
    const u64 dice = random() % 64;
    if (dice == 0) values[i] = std::bit_cast<float>(u32(random()));
    if (dice == 1) values[i] = -0.0f;
    if (dice == 2) values[i] = 0.0f;
    if (dice == 3) values[i] *= 1000;
    if (dice == 4) values[i] = std::numeric_limits<float>::denorm_min() * float(random() % 100);
  }
  return values;
}

void expect_same(const std::vector<WavePoint>& found, const std::vector<WavePoint>& wanted,
                 const std::string& what) {
  ASSERT_EQ(found.size(), wanted.size()) << what;
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_TRUE(found[i] == wanted[i])
        << what << ", point " << i << ": " << found[i].coded << ' ' << found[i].code << ' '
        << found[i].y << ", wanted " << wanted[i].coded << ' ' << wanted[i].code << ' '
        << wanted[i].y;
}

void check_tables(const std::vector<std::pair<size_t, size_t>>& sizes) {
  std::mt19937_64 random(1);
  for (const unsigned percent : {0u, 20u, 60u}) {
    WaveszMachine machine(Stalls(percent, 2), Stalls(percent, 3));
    WaveszDecoder decoder(Stalls(percent, 4), Stalls(percent, 5));
    for (const auto& [rows, length] : sizes)
      for (const double bound : kBounds) {
        const LinearGrid<float> grid = grid_of(bound * 2);
        const WaveTable table(rows, length, grid);
        const auto values = hostile_table(rows, length, random);
        const std::string what = std::to_string(rows) + " x " + std::to_string(length) +
                                 ", bound " + std::to_string(bound) + ", stalls " +
                                 std::to_string(percent);
        const auto points = machine.run(table, values);
        expect_same(points, by_library(table, grid, values), what);
        if (testing::Test::HasFatalFailure()) return;
        const auto decoded = decoder.run(table, points);
        for (size_t i = 0; i < decoded.size(); ++i)
          ASSERT_EQ(bits_of(decoded[i]), bits_of(points[i].y)) << what << ", decoded point " << i;
      }
  }
}

TEST(RtlWavesz, TablesAreThoseOfTheLibrary) {
  check_tables({{1, 1}, {1, 5}, {5, 1}, {2, 2}, {2, 9}, {9, 2}, {3, 40}, {31, 70}, {44, 44}, {70, 31}});
}

TEST(RtlWavesz, LongTablesAreThoseOfTheLibrary) {
  check_tables({{2, 3000}, {3000 / 4, 3}, {600, 600}, {64, 2000}, {43, 1500}, {1024, 50}});
}

// The largest and the smallest step, and values at the edge of what has a code.
TEST(RtlWavesz, StepsAndCodesAtTheEdge) {
  WaveszMachine machine;
  for (const double bound : {0x1p-99, 0x1p-60, 0.5, 0x1p60, 0x1p98}) {
    const LinearGrid<float> grid = grid_of(bound);
    const float step = grid.short_step;
    std::vector<float> values(48 * 48, 0.0f);
    std::mt19937_64 random(1);
    for (size_t i = 0; i < values.size(); ++i) {
      const float edges[] = {32766.5f, 32767.0f, 32767.25f, 32767.5f, 32768.0f, 0.5f, 1.5f, 2.5f};
      values[i] = edges[random() % 8] * step * (random() % 2 ? 1.0f : -1.0f);
    }
    const WaveTable table(48, 48, grid);
    expect_same(machine.run(table, values), by_library(table, grid, values),
                "bound " + std::to_string(bound));
  }
}

TEST(RtlWavesz, ResetForgetsATable) {
  std::mt19937_64 random(1);
  const LinearGrid<float> grid = grid_of(1e-3);
  const WaveTable table(50, 60, grid);
  WaveszMachine machine;
  machine.begin_some(table, 500);
  machine.reset();
  const auto values = hostile_table(50, 60, random);
  expect_same(machine.run(table, values), by_library(table, grid, values), "after a reset");
}

// A stream with the design in the place of predictor and quantizer.
struct Streamed {
  Bytes stream;
  u64 points, cycles;
};
Streamed through_hardware(const TestField& field, double abs, Stalls input, Stalls output) {
  const std::string recipe = "wavefront+linear:step=pow2,bins=65536,second=0+raw+deflate:level=1";
  WaveszMachine machine(input, output);
  Pipeline<float> pipeline;
  auto join = std::make_unique<WaveszJoin>(kHardware, machine);
  const WaveszJoin& counts = *join;
  pipeline.join = std::move(join);
  pipeline.encoder = erase_encoder(Raw());
  pipeline.lossless.push_back(erase_lossless(Deflate{.params = {.level = 1}}));
  const TypedChunkCodec<float> codec(std::move(pipeline));
  CompressOptions options;
  options.bound = Bound::abs(abs);
  Streamed result{};
  compress_with(codec, recipe, field.view(), options, [&](ByteView bytes) {
    result.stream.insert(result.stream.end(), bytes.begin(), bytes.end());
  });
  result.points = counts.points(), result.cycles = counts.cycles();
  return result;
}

Bytes by_recipe(const TestField& field, double abs, const char* recipe) {
  CompressOptions options;
  options.bound = Bound::abs(abs);
  options.recipe = recipe;
  return compress(field.view(), options);
}

void check_streams(const std::vector<TestField>& fields) {
  for (const TestField& field : fields) {
    CompressOptions options;
    const auto range = value_range(field.view(), options);
    for (const double rel : kBounds) {
      const double abs = rel * (range->max - range->min);
      const bool stalls = rel == 1e-3;
      const Streamed made = through_hardware(field, abs, Stalls(stalls ? 20 : 0, 1),
                                             Stalls(stalls ? 20 : 0, 2));
      const Bytes wanted = by_recipe(field, abs, "wavesz-rtl");
      ASSERT_TRUE(made.stream == wanted) << field.name << " at " << rel;
      const Array decoded = decompress(made.stream);
      EXPECT_LE(inspect(made.stream).statement.max_error, abs);
      ASSERT_EQ(decoded.as<float>().size(), field.values.size());
      // What `wavesz` would have made with codes that f64 finds: same values, if there are none.
      const Array twice = decompress(by_recipe(field, abs, "wavesz"));
      size_t differ = 0;
      for (size_t i = 0; i < field.values.size(); ++i)
        differ += bits_of(twice.as<float>()[i]) != bits_of(decoded.as<float>()[i]);
      std::printf("%-32s rel %g: %zu points, %zu in hardware, %.4f cycles a point%s, %zu bytes, "
                  "%zu values other than those of wavesz\n",
                  field.name.c_str(), rel, field.values.size(), size_t(made.points),
                  made.points ? double(made.cycles) / double(made.points) : 0,
                  stalls ? " (with stalls)" : "", made.stream.size(), differ);
    }
  }
}

TEST(RtlWavesz, StreamsAreThoseOfTheLibrary) { check_streams(generated_fields()); }

TEST(RtlWavesz, LongStreamsOfFieldFiles) {
  const auto fields = field_files();
  if (fields.empty()) GTEST_SKIP() << "LEEWAY_RTL_FIELDS names no directory with fields";
  check_streams(fields);
}

u64 cycles_of(size_t rows, size_t length) {
  std::vector<float> values(rows * length, 1.0f);
  WaveszMachine machine;
  EXPECT_EQ(machine.run(WaveTable(rows, length, grid_of(1e-3)), values).size(), values.size());
  return machine.cycles;
}

// The model of the schedule says how long a table takes, to the cycle.
TEST(RtlWavesz, CyclesAreThoseOfTheModel) {
  for (const auto& [rows, length] : std::vector<std::pair<size_t, size_t>>{
           {1, 100}, {2, 100}, {20, 300}, {43, 500}, {44, 500}, {100, 30}, {64, 3000}}) {
    const u64 modelled = cli::rtl_wave_schedule(rows, length).cycles;
    EXPECT_EQ(cycles_of(rows, length), modelled) << rows << " x " << length;
  }
}

TEST(RtlWavesz, AThousandthOfACycleIsLost) {
  const size_t rows = 64, length = 1 << 15;  // 2^21 points
  const double per_point = double(cycles_of(rows, length)) / double(rows * length);
  std::printf("%zu x %zu: %.5f cycles a point\n", rows, length, per_point);
  EXPECT_LE(per_point, 1.001);
}

}  // namespace
}  // namespace leeway::rtl
