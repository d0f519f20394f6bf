// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/simulate.h"

#include <cmath>
#include <limits>
#include <random>

#include "tests/support.h"

namespace leeway::fabric {
namespace {

std::vector<float> walk(size_t count, u32 seed, float scale = 1) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  float at = 0;
  for (float& v : values) v = at += scale * (float(random() % 2001) / 1000 - 1);
  return values;
}

struct Made {
  Simulation done;
  Bytes stream, wanted;
};
Made make(const View& view, const Bound& bound, Engine engine, Direction direction, u32 length) {
  Execution execution;
  execution.threads = 3;
  const Host host(view, bound, execution);
  Job job;
  job.machine.columns = 8;
  job.machine.rows = 3;
  Bytes stream;
  Simulation done =
      simulate(host, job, {.direction = direction, .length = length, .engine = engine}, {},
               [&](ByteView part) { stream.insert(stream.end(), part.begin(), part.end()); });
  CompressOptions options;
  options.bound = bound;
  options.recipe = "ceresz";
  return {std::move(done), std::move(stream), compress(view, options)};
}
void expect_equal(const std::vector<float>& values, const Shape& shape, const Bound& bound,
                  Engine engine, bool wafer_makes_all) {
  const View view = view_of(values.data(), shape);
  for (const u32 length : {1u, 3u}) {
    const Made made = make(view, bound, engine, Direction::compress, length);
    EXPECT_EQ(made.stream, made.wanted);
    EXPECT_TRUE(made.done.stream.equals_library);
    if (wafer_makes_all) EXPECT_EQ(made.done.stream.chunks_of_wafer, made.done.stream.chunks);
    EXPECT_TRUE(make(view, bound, engine, Direction::decompress, length).done.decodes);
  }
}

TEST(WaferHost, StreamsAreThoseOfTheLibraryAtElevenBounds) {
  const auto values = walk(20000, 1);
  for (const double e : {100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-4}) {
    SCOPED_TRACE(e);
    // The last bounds have codes of more than 16 bits.
    expect_equal(values, {10, 40, 50}, Bound::abs(e), Engine::rows, e >= 0.1 && e <= 30);
  }
}

TEST(WaferHost, TheMeshMakesTheSameStream) {
  expect_equal(walk(2000, 2), {20, 100}, Bound::rel(1e-3), Engine::mesh, true);
}

// Each is a chunk of its own kind.
TEST(WaferHost, FewValuesAndTailsThatDoNotFillABlock) {
  for (const size_t count : {1, 2, 3, 4, 5, 6, 7, 31, 33, 63, 64, 65, 100, 32769, 70001}) {
    SCOPED_TRACE(count);
    expect_equal(walk(count, u32(count)), {count}, Bound::abs(0.05), Engine::rows, false);
  }
}

TEST(WaferHost, ConstantSpecialAndWideChunksAreTheHosts) {
  auto values = walk(3 * 32768, 3);
  std::fill_n(values.begin() + 32768, 32768, 7.0f);
  for (size_t i = 65536; i < values.size(); ++i) values[i] *= 1e6f;
  const Made made = make(view_of(values.data(), {values.size()}), Bound::abs(0.1), Engine::rows,
                         Direction::compress, 1);
  EXPECT_EQ(made.stream, made.wanted);
  EXPECT_EQ(made.done.stream.chunks_of_wafer, 1u);
  for (const float special : {std::numeric_limits<float>::quiet_NaN(),
                              -std::numeric_limits<float>::infinity(), 1e30f, -9999.0f, -0.0f}) {
    values[70] = special;
    expect_equal(values, {values.size()}, Bound::abs(0.1), Engine::rows, false);
  }
}

TEST(WaferHost, AnyStridesAndShapes) {
  const auto values = walk(24 * 30 * 20, 4);
  View view = view_of(values.data(), {24, 30, 20});
  view.shape = {12, 30, 20};
  view.strides[0] *= 2;
  const Made made = make(view, Bound::rel(1e-2), Engine::rows, Direction::compress, 2);
  EXPECT_EQ(made.stream, made.wanted);
}

TEST(WaferHost, RefusesWhatTheWaferCannotTake) {
  const std::vector<double> doubles(100, 1.5);
  const auto values = walk(100, 5);
  EXPECT_THROW(Host(view_of(doubles.data(), {100}), Bound::abs(1), {}), Error);
  EXPECT_THROW(Host(view_of(values.data(), {100}), Bound::lossless(), {}), Error);
  EXPECT_THROW(Host(view_of(values.data(), {0}), Bound::abs(1), {}), Error);
}

// By hand: 4 blocks of f = 3 on 2 rows, a channel for each.
TEST(WaferHost, CollectionAndHostAreLimitedByTheirWords) {
  Job job;
  job.machine.columns = 2;
  job.machine.rows = 2;
  job.machine.channels = 2;
  job.machine.clock = 1e9;
  job.machine.host = 4e8;
  const std::vector<Chain> chains = chains_of(job);
  const Traffic traffic{1000, 512, {64, 64}, {10, 30}};
  auto ceilings = ceilings_of(job, chains, traffic, Origin::host);
  ASSERT_EQ(ceilings.size(), 5u);
  EXPECT_DOUBLE_EQ(ceilings[0].seconds, 1000e-9);
  EXPECT_DOUBLE_EQ(ceilings[1].seconds, 30e-9);
  EXPECT_DOUBLE_EQ(ceilings[2].seconds, 40 * 4 / 4e8);
  EXPECT_DOUBLE_EQ(ceilings[3].seconds, 64e-9);
  EXPECT_DOUBLE_EQ(ceilings[4].seconds, 128 * 4 / 4e8);
  EXPECT_EQ(lowest(ceilings).name, "host, in");
  job.machine.channels = 1;
  EXPECT_DOUBLE_EQ(ceilings_of(job, chains, traffic, Origin::wafer)[1].seconds, 40e-9);
}

}  // namespace
}  // namespace leeway::fabric
