// SPDX-License-Identifier: BSD-3-Clause
// Rows that many ranks append, and streams that are written while they are made.
#include "leeway/parallel/append.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "leeway/parallel/threads.h"
#include "tests/support.h"

namespace leeway::parallel {
namespace {

namespace fs = std::filesystem;
using Context = std::unique_ptr<leeway_context, void (*)(leeway_context*)>;

class AppendTest : public ::testing::Test {
 protected:
  AppendTest() {
    std::string name = fs::temp_directory_path() / "leeway-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~AppendTest() override { fs::remove_all(folder_); }
  std::string path(const char* name = "run.lwy") const { return folder_ / name; }
  fs::path folder_;
};

Bytes contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Writes or appends rows [first, first + count) of an array, in slabs of the second axis, one for
// each rank; ranks beyond its extent have nothing.
leeway_status put(leeway_context* context, const leeway_team& team, const std::string& path,
                  const std::vector<float>& values, const Shape& shape, u64 first, u64 count,
                  bool appends, const leeway_write_options& options = {},
                  leeway_write_report* report = nullptr) {
  const u64 rank = u64(team.rank), ranks = u64(team.size);
  const u64 begin = shape[1] * rank / ranks, end = shape[1] * (rank + 1) / ranks;
  const u64 origin[] = {0, begin, 0}, extents[] = {count, end - begin, shape[2]},
            rows[] = {count, shape[1], shape[2]};
  const std::int64_t strides[] = {std::int64_t(4 * shape[1] * shape[2]), std::int64_t(4 * shape[2]),
                                  4};
  const float* data = values.data() + (first * shape[1] + begin) * shape[2];
  const leeway_block block{origin, {const_cast<float*>(data), LEEWAY_F32, 3, extents, strides}};
  return (appends ? leeway_team_append : leeway_team_write)(
      context, &team, path.c_str(), LEEWAY_F32, 3, rows, end > begin, &block, &options, report);
}

Context some_context(const char* recipe, const std::vector<u64>& chunk) {
  Context context(leeway_create(), leeway_destroy);
  leeway_set_bound(context.get(), "abs", 1e-3);
  leeway_set_recipe(context.get(), recipe);
  leeway_set_chunk(context.get(), uint32_t(chunk.size()), chunk.data());
  return context;
}

// The same with one process and the serial functions.
Bytes serial(const std::vector<float>& values, const Shape& shape, const std::vector<u64>& steps,
             const char* recipe, const std::vector<u64>& chunk) {
  CompressOptions options;
  options.bound = Bound::abs(1e-3);
  options.recipe = recipe;
  options.chunk = Shape(std::span<const u64>(chunk));
  options.growing = true;
  Bytes stream;
  u64 at = 0;
  for (const u64 rows : steps) {
    const View view = view_of(values.data() + at * shape[1] * shape[2], {rows, shape[1], shape[2]});
    if (at == 0) {
      stream = compress(view, options);
    } else {
      MemoryStore store(stream);
      append(store, view);
    }
    at += rows;
  }
  return stream;
}

TEST_F(AppendTest, SameStreamAsOneProcess) {
  const Shape shape{17, 22, 30};
  auto values = test::make_field<float>(shape, test::Texture::smooth);
  values[3000] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<u64> steps{3, 2, 1, 5, 4, 2}, chunk{4, 8, 30};
  for (const char* recipe : {"balanced", "small"})
    for (const int ranks : {1, 3, 30}) {
      const std::string file = path();
      fs::remove(file);
      ThreadTeam team(ranks, ranks > 1 ? 2 : 1);
      team.run([&](const leeway_team& table) {
        const Context context = some_context(recipe, chunk);
        leeway_write_report report;
        leeway_write_options options{};
        options.stripe = 4096;
        u64 at = 0;
        for (const u64 rows : steps) {
          EXPECT_EQ(
              put(context.get(), table, file, values, shape, at, rows, true, options, &report),
              LEEWAY_OK)
              << leeway_message(context.get());
          at += rows;
          EXPECT_EQ(report.extent, at);
          EXPECT_LE(report.max_error, 1e-3);
        }
      });
      EXPECT_EQ(contents(file), serial(values, shape, steps, recipe, chunk)) << recipe << ranks;
    }
}

TEST_F(AppendTest, ARunIsContinuedOnOtherRanks) {
  const Shape shape{40, 22, 30};
  const auto values = test::make_field<float>(shape, test::Texture::smooth);
  u64 at = 0;
  for (const int ranks : {4, 7, 1, 2}) {
    ThreadTeam team(ranks);
    team.run([&](const leeway_team& table) {
      const Context context = some_context("fast", {1, 8, 30});
      for (u64 i = 0; i < 10; ++i)
        EXPECT_EQ(put(context.get(), table, path(), values, shape, at + i, 1, true), LEEWAY_OK);
    });
    at += 10;
    // What a killed run leaves behind the end is nothing to anybody.
    std::ofstream(path(), std::ios::app | std::ios::binary) << "LWYcgarbage";
    const Array found = decompress(contents(path()));
    ASSERT_EQ(found.shape()[0], at);
    for (size_t i = 0; i < found.bytes() / 4; ++i)
      ASSERT_LE(std::abs(double(found.as<float>()[i]) - double(values[i])), 1e-3);
  }
}

TEST_F(AppendTest, FailsTogether) {
  const Shape shape{8, 22, 30};
  const auto values = test::make_field<float>(shape, test::Texture::smooth);
  ThreadTeam team(3);
  team.run([&](const leeway_team& table) {
    const Context context = some_context("fast", {1, 8, 30});
    EXPECT_EQ(put(context.get(), table, path(), values, shape, 0, 2, true), LEEWAY_OK);
    // Another shape of rows, on one rank only; then on all.
    const Shape other{8, table.rank == 1 ? u64(11) : u64(22), 30};
    EXPECT_EQ(put(context.get(), table, path(), values, other, 0, 2, true),
              LEEWAY_INVALID_ARGUMENT);
    EXPECT_EQ(put(context.get(), table, path(), values, {8, 11, 60}, 0, 2, true),
              LEEWAY_INVALID_ARGUMENT);
    EXPECT_NE(std::string(leeway_message(context.get())).find("do not go on an array"),
              std::string::npos);
  });
  const Bytes before = contents(path());
  for (const char* function : {"bcast", "allgatherv", "reduce", "isend", "wait"})
    for (int call = 0; call < 12; ++call) {
      ThreadTeam faulty(3);
      std::atomic<int> calls{0};
      faulty.fault = [&](int rank, const char* name) {
        return rank == 1 && std::string(name) == function && calls++ == call;
      };
      std::atomic<int> failed{0};
      faulty.run([&](const leeway_team& table) {
        const Context context = some_context("fast", {1, 8, 30});
        failed += put(context.get(), table, path(), values, shape, 2, 2, true) != LEEWAY_OK;
      });
      if (failed == 0) {
        EXPECT_EQ(decompress(contents(path())).shape()[0], 4u);
        std::ofstream(path(), std::ios::binary)
            .write(reinterpret_cast<const char*>(before.data()), std::streamsize(before.size()));
        continue;
      }
      EXPECT_EQ(failed, 3) << function << call;
      const u64 rows = decompress(contents(path())).shape()[0];
      EXPECT_TRUE(rows == 2 || rows == 4);
      if (rows == 4)
        std::ofstream(path(), std::ios::binary)
            .write(reinterpret_cast<const char*>(before.data()), std::streamsize(before.size()));
    }
}

TEST_F(AppendTest, StreamedHoldsTheSameFrames) {
  const Shape shape{16, 40, 30};
  const auto values = test::make_field<float>(shape, test::Texture::smooth);
  CompressOptions options;
  options.bound = Bound::abs(1e-3);
  options.chunk = {4, 5, 30};
  const Bytes whole = compress(values.data(), shape, options);
  const Array expected = decompress(whole);
  for (const int ranks : {1, 3, 8, 50})
    for (const u64 round : {1u, 2000u, 20000u}) {
      ThreadTeam team(ranks);
      team.run([&](const leeway_team& table) {
        const Context context = some_context("balanced", {4, 5, 30});
        leeway_write_options how{};
        how.streamed = round;
        EXPECT_EQ(put(context.get(), table, path(), values, shape, 0, 16, false, how), LEEWAY_OK)
            << leeway_message(context.get());
      });
      const Bytes stream = contents(path());
      const MemorySource source(stream), other(whole);
      const StreamReader streamed(source), ordered(other);
      streamed.check_statement();
      for (u64 i = 0; i < ordered.chunks(); ++i) {
        Bytes one, two;
        ASSERT_TRUE(std::ranges::equal(streamed.read_chunk(i, one).payload,
                                       ordered.read_chunk(i, two).payload));
      }
      const Array found = decompress(stream);
      ASSERT_EQ(std::memcmp(found.data(), expected.data(), size_t(found.bytes())), 0) << ranks;
      EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
    }
  ThreadTeam team(2);
  team.run([&](const leeway_team& table) {
    const Context context = some_context("balanced", {4, 5, 30});
    leeway_set_bound(context.get(), "ratio", 8);
    leeway_write_options how{};
    how.streamed = 1;
    EXPECT_EQ(put(context.get(), table, path("no.lwy"), values, shape, 0, 16, false, how),
              LEEWAY_INVALID_ARGUMENT);
  });
  EXPECT_FALSE(fs::exists(path("no.lwy")));
}

TEST_F(AppendTest, SerialFunctionOfC) {
  const auto values = test::make_field<float>({6, 30}, test::Texture::smooth);
  const Context context = some_context("fast", {2, 30});
  for (u64 at = 0; at < 6; at += 2) {
    const u64 extents[] = {2, 30};
    const leeway_array rows{const_cast<float*>(values.data()) + 30 * at, LEEWAY_F32, 2, extents,
                            nullptr};
    EXPECT_EQ(leeway_append_file(context.get(), path().c_str(), &rows), LEEWAY_OK)
        << leeway_message(context.get());
  }
  EXPECT_EQ(decompress(contents(path())).shape(), (Shape{6, 30}));
  EXPECT_EQ(leeway_append_file(context.get(), path().c_str(), nullptr), LEEWAY_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace leeway::parallel
