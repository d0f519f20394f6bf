// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "leeway/parallel/plan.h"
#include "leeway/parallel/threads.h"
#include "tests/support.h"

namespace leeway::parallel {
namespace {

namespace fs = std::filesystem;
using Context = std::unique_ptr<leeway_context, void (*)(leeway_context*)>;

// A folder of its own for each test.
class ParallelTest : public ::testing::Test {
 protected:
  ParallelTest() {
    std::string name = fs::temp_directory_path() / "leeway-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~ParallelTest() override { fs::remove_all(folder_); }
  std::string path() const { return folder_ / "field.lwy"; }
  size_t files() const {
    return size_t(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  fs::path folder_;
};

Bytes contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A rank's block with ghost zones of 2 values, which are NaN, around its values.
struct Ghosted {
  Index first{};
  std::array<u64, kMaxRank> shape{};
  std::array<std::int64_t, kMaxRank> strides{};
  std::vector<float> memory;
  leeway_block block{};

  Ghosted(const std::vector<float>& whole, const Shape& array, const Box& box, bool filled) {
    first = box.first;
    const size_t rank = array.rank();
    u64 size = 1, offset = 0;
    for (size_t axis = rank; axis-- > 0;) {
      shape[axis] = box.shape[axis];
      strides[axis] = std::int64_t(size * sizeof(float));
      offset += 2 * size;
      size *= shape[axis] + 4;
    }
    memory.assign(size, std::numeric_limits<float>::quiet_NaN());
    block = {first.data(),
             {memory.data() + offset, LEEWAY_F32, int(rank), shape.data(), strides.data()}};
    if (!filled) return;
    const MutableView view(static_cast<std::byte*>(block.array.data), DType::f32, box.shape,
                           steps());
    copy(view_of(whole.data(), array).part(box), view);
  }
  Strides steps() const {
    Strides result{};
    std::ranges::copy(strides, result.begin());
    return result;
  }
};

// Cuts an array into boxes at random.
std::vector<Box> cut(const Shape& shape, unsigned seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<Box> boxes{{{}, shape}};
  for (size_t tries = 0; tries < 20 * count && boxes.size() < count && shape.rank() > 0; ++tries) {
    Box& box = boxes[random() % boxes.size()];
    const size_t axis = random() % shape.rank();
    if (box.shape[axis] < 2) continue;
    const u64 at = 1 + random() % (box.shape[axis] - 1);
    std::array<u64, kMaxRank> low{}, high{};
    std::ranges::copy(box.shape.extents(), low.begin());
    high = low;
    low[axis] = at;
    high[axis] -= at;
    Box upper{box.first, Shape(std::span<const u64>(high).first(shape.rank()))};
    upper.first[axis] += at;
    box.shape = Shape(std::span<const u64>(low).first(shape.rank()));
    boxes.push_back(upper);
  }
  return boxes;
}

// Settings of a test, for the serial and the parallel way.
struct Settings {
  std::vector<std::pair<std::string, double>> bounds{{"abs", 1e-3}};
  std::string recipe = "balanced";
  std::vector<u64> chunk{};
  bool has_region = false;
  leeway_write_options options{};
  int nodes = 1;

  Context context() const {
    Context made(leeway_create(), leeway_destroy);
    for (const auto& [kind, value] : bounds) leeway_set_bound(made.get(), kind.c_str(), value);
    EXPECT_EQ(leeway_set_recipe(made.get(), recipe.c_str()), LEEWAY_OK);
    leeway_set_chunk(made.get(), uint32_t(chunk.size()), chunk.data());
    leeway_add_fill(made.get(), -999);
    const u64 first[] = {3, 1, 2}, extents[] = {5, 4, 9};
    if (has_region) leeway_add_region_bound(made.get(), 3, first, extents, 1e-5);
    return made;
  }
};

Bytes serial(const std::vector<float>& values, const Shape& shape, const Settings& settings) {
  const Context context = settings.context();
  leeway_array array = {const_cast<float*>(values.data()), LEEWAY_F32, int(shape.rank()),
                        shape.extents().data(), nullptr};
  leeway_buffer* buffer = nullptr;
  EXPECT_EQ(leeway_compress(context.get(), &array, &buffer), LEEWAY_OK)
      << leeway_message(context.get());
  const auto* data = static_cast<const u8*>(leeway_buffer_data(buffer));
  Bytes stream(data, data + leeway_buffer_size(buffer));
  leeway_buffer_free(buffer);
  return stream;
}

// Writes with boxes dealt to the ranks; box i goes to rank of[i % of.size()]. Returns the report.
leeway_write_report write_in_parallel(const std::string& path, const std::vector<float>& values,
                                      const Shape& shape, const std::vector<Box>& boxes,
                                      const std::vector<int>& of, int ranks,
                                      const Settings& settings) {
  ThreadTeam team(ranks, settings.nodes);
  std::vector<leeway_write_report> reports(static_cast<size_t>(ranks));
  team.run([&](const leeway_team& table) {
    std::vector<std::unique_ptr<Ghosted>> own;
    std::vector<leeway_block> blocks;
    for (size_t i = 0; i < boxes.size(); ++i)
      if (of[i % of.size()] == table.rank) {
        own.push_back(std::make_unique<Ghosted>(values, shape, boxes[i], true));
        blocks.push_back(own.back()->block);
      }
    const Context context = settings.context();
    EXPECT_EQ(leeway_team_write(context.get(), &table, path.c_str(), LEEWAY_F32, int(shape.rank()),
                                shape.extents().data(), blocks.size(), blocks.data(),
                                &settings.options, &reports[size_t(table.rank)]),
              LEEWAY_OK)
        << leeway_message(context.get());
  });
  return reports[0];
}

std::vector<int> all_of(int ranks) {
  std::vector<int> list(static_cast<size_t>(ranks));
  for (int i = 0; i < ranks; ++i) list[size_t(i)] = i;
  return list;
}

std::vector<float> some_field(const Shape& shape) {
  return test::make_field<float>(shape, test::Texture::smooth);
}

TEST_F(ParallelTest, SameStreamForAnyBlocks) {
  const Shape shape{23, 31, 40};
  const std::vector<float> values = some_field(shape);
  unsigned seed = 1;
  for (const char* recipe : {"fast", "balanced", "ceaz", "small"})
    for (const int ranks : {1, 3, 8}) {
      Settings settings{.recipe = recipe, .chunk = {8, 16, 16}};
      const std::vector<Box> boxes = cut(shape, ++seed, size_t(ranks) * 3);
      settings.nodes = 1 + ranks % 2 * 2;  // 3 machines: ranges of writers
      settings.options.stripe = 4096;
      write_in_parallel(path(), values, shape, boxes, all_of(ranks), ranks, settings);
      EXPECT_EQ(contents(path()), serial(values, shape, settings)) << recipe << " " << ranks;
      EXPECT_EQ(files(), 1u);
    }
}

TEST_F(ParallelTest, SameStreamForEveryBound) {
  const Shape shape{23, 31, 40};
  std::vector<float> values = some_field(shape);
  values[777] = std::numeric_limits<float>::quiet_NaN();
  for (size_t i = 5000; i < 5100; ++i) values[i] = -999;
  for (size_t i = 9000; i < 9010; ++i) values[i] = 1e20f;
  const std::vector<std::vector<std::pair<std::string, double>>> bounds = {
      {{"rel", 1e-4}},       {{"psnr", 60}},    {{"l2", 0.5}},
      {{"pointwise", 1e-3}}, {{"lossless", 0}}, {{"abs", 1e-3}, {"psnr", 50}}};
  for (const auto& bound : bounds) {
    Settings settings{.bounds = bound, .chunk = {8, 16, 16}};
    settings.options.check = 1;
    write_in_parallel(path(), values, shape, cut(shape, 7, 9), all_of(4), 4, settings);
    EXPECT_EQ(contents(path()), serial(values, shape, settings)) << bound[0].first;
  }
  Settings settings{.chunk = {8, 16, 16}, .has_region = true};
  write_in_parallel(path(), values, shape, cut(shape, 8, 9), all_of(4), 4, settings);
  EXPECT_EQ(contents(path()), serial(values, shape, settings)) << "regions";
}

// Recipes that are chosen by a look at the values: by those that one process would look at.
TEST_F(ParallelTest, SameChoiceOnAnyRanks) {
  struct Case {
    Shape shape;
    const char *recipe, *bound;
    double value;
  };
  const Case cases[] = {{{20, 25, 30}, "auto", "rel", 1e-2},
                        {{20, 25, 30}, "sz3-aps", "rel", 1e-3},
                        {{65, 66, 67}, "balanced", "psnr", 50}};  // more than a choice looks at
  std::vector<std::string> chosen;
  for (const test::Texture texture : {test::Texture::smooth, test::Texture::noise})
    for (const Case& one : cases) {
      const std::vector<float> values = test::make_field<float>(one.shape, texture);
      const Settings settings{
          .bounds = {{one.bound, one.value}}, .recipe = one.recipe, .chunk = {40, 40, 40}};
      const Bytes whole = serial(values, one.shape, settings);
      chosen.push_back(inspect(whole).header.recipe);
      write_in_parallel(path(), values, one.shape, cut(one.shape, 9, 7), all_of(5), 5, settings);
      EXPECT_EQ(contents(path()), whole) << one.recipe;
    }
  std::ranges::sort(chosen);
  EXPECT_GT(std::unique(chosen.begin(), chosen.end()) - chosen.begin(), 2);
}

TEST_F(ParallelTest, RanksWithNothingOrSpecialValuesOnly) {
  const Shape shape{24, 16, 16};
  std::vector<float> values = some_field(shape);
  for (size_t i = 0; i < 8 * 256; ++i) values[i] = std::numeric_limits<float>::quiet_NaN();
  for (size_t i = 8 * 256; i < 16 * 256; ++i) values[i] = -999;
  const std::vector<Box> slabs = {slab(shape, 0, 8), slab(shape, 8, 8), slab(shape, 16, 8)};
  const Settings settings{.bounds = {{"rel", 1e-4}}, .chunk = {5, 16, 16}};
  for (const std::vector<int>& of : {std::vector{0, 2, 4}, {5, 5, 5}, {0, 1, 2}}) {
    write_in_parallel(path(), values, shape, slabs, of, 6, settings);
    EXPECT_EQ(contents(path()), serial(values, shape, settings));
  }
  const std::vector<float> nothing(values.size(), std::numeric_limits<float>::quiet_NaN());
  write_in_parallel(path(), nothing, shape, slabs, {0, 1, 2}, 3, settings);
  EXPECT_EQ(contents(path()), serial(nothing, shape, settings));
  for (const Shape& odd : {Shape{}, Shape{0}, Shape{1, 1}}) {
    const Settings plain;
    write_in_parallel(path(), {1.5f}, odd, {{{}, odd}}, {1}, 3, plain);
    EXPECT_EQ(contents(path()), serial({1.5f}, odd, plain)) << to_string(odd);
  }
}

TEST_F(ParallelTest, ChunksFollowTheBlocks) {
  const Shape shape{64, 64, 64};
  const std::vector<float> values = some_field(shape);
  std::vector<Box> blocks;
  for (u64 i = 0; i < 4; ++i) blocks.push_back({{i / 2 * 32, i % 2 * 32, 0}, Shape{32, 32, 64}});
  Settings settings{.recipe = "fast"};
  const auto report = write_in_parallel(path(), values, shape, blocks, all_of(4), 4, settings);
  EXPECT_EQ(report.sent_raw, 0u);
  EXPECT_EQ(report.input_bytes, values.size() * 4);
  EXPECT_EQ(report.output_bytes, contents(path()).size());
  EXPECT_LE(report.max_error, 1e-3);
  EXPECT_GT(report.max_error, 1e-4);
  EXPECT_EQ(report.chunk[0], 32u);
  settings.chunk = {report.chunk[0], report.chunk[1], report.chunk[2]};
  EXPECT_EQ(contents(path()), serial(values, shape, settings));
}

TEST_F(ParallelTest, SizeOverAllRanks) {
  const Shape shape{64, 64, 64};
  const std::vector<float> values = test::make_field<float>(shape, test::Texture::noise);
  Bytes first;
  for (const int ranks : {1, 3, 8}) {
    Settings settings{.bounds = {{"ratio", 5}}, .recipe = "fast", .chunk = {16, 8, 8}};
    const auto report =
        write_in_parallel(path(), values, shape, cut(shape, 3, 11), all_of(ranks), ranks, settings);
    EXPECT_NEAR(double(report.output_bytes), double(report.asked_bytes),
                0.03 * double(report.asked_bytes));
    EXPECT_EQ(double(report.asked_bytes), std::floor(double(values.size()) * 4 / 5));
    if (first.empty()) first = contents(path());
    EXPECT_EQ(contents(path()), first) << ranks;
  }
}

TEST_F(ParallelTest, ReadAnywhere) {
  const Shape shape{23, 31, 40};
  const std::vector<float> values = some_field(shape);
  const Settings settings{.chunk = {8, 16, 16}};
  write_in_parallel(path(), values, shape, cut(shape, 5, 6), all_of(3), 3, settings);
  const Bytes stream = contents(path());
  const Array whole = decompress(stream);
  for (const int ranks : {1, 2, 5}) {
    ThreadTeam team(ranks);
    team.run([&](const leeway_team& table) {
      const Context context = settings.context();
      std::mt19937_64 random(u64(10 * ranks + table.rank));
      std::vector<std::unique_ptr<Ghosted>> own;
      std::vector<leeway_block> blocks;
      for (int i = 0; i < table.rank; ++i) {  // rank 0 reads nothing; boxes overlap
        Box box = cut(shape, unsigned(random()), 5)[random() % 5];
        own.push_back(std::make_unique<Ghosted>(values, shape, box, false));
        blocks.push_back(own.back()->block);
      }
      EXPECT_EQ(
          leeway_team_read(context.get(), &table, path().c_str(), blocks.size(), blocks.data()),
          LEEWAY_OK)
          << leeway_message(context.get());
      for (const auto& block : own) {
        const Box box{block->first, Shape(std::span<const u64>(block->shape).first(3))};
        std::vector<float> expected(size_t(box.shape.size())), found(expected.size());
        gather(view_of(whole.as<float>().data(), shape).part(box), expected.data());
        gather(View(static_cast<std::byte*>(block->block.array.data), DType::f32, box.shape,
                    block->steps()),
               found.data());
        EXPECT_EQ(expected, found);
      }
    });
  }
}

// Everybody gets the same status and a message that says whose fault it was.
TEST_F(ParallelTest, FaultsOfOneRankAreFaultsOfAll) {
  const Shape shape{24, 16, 16};
  const std::vector<float> values = some_field(shape);
  const auto attempt = [&](const std::string& target, auto&& change) {
    ThreadTeam team(3);
    std::vector<std::string> messages(3);
    team.run([&](const leeway_team& table) {
      Settings settings{.chunk = {8, 16, 16}};
      Box box = slab(shape, u64(table.rank) * 8, 8);
      change(table.rank, settings, box);
      Ghosted own(values, shape, box, contains(shape, box));
      const Context context = settings.context();
      const auto status =
          leeway_team_write(context.get(), &table, target.c_str(), LEEWAY_F32, 3,
                            shape.extents().data(), 1, &own.block, &settings.options, nullptr);
      messages[size_t(table.rank)] =
          leeway_status_name(status) + std::string(": ") + leeway_message(context.get());
    });
    EXPECT_EQ(messages[0], messages[1]);
    EXPECT_EQ(messages[0], messages[2]);
    return messages[0];
  };
  const auto has = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(attempt(path(),
              [](int r, Settings& s, Box&) {
                if (r == 1) s.bounds = {{"abs", 2e-3}};
              }),
      "disagree on the bound");
  has(attempt(path(),
              [](int r, Settings& s, Box&) {
                if (r == 2) s.recipe = "fast";
              }),
      "disagree on the recipe");
  has(attempt(path(),
              [](int r, Settings& s, Box&) {
                if (r == 2) s.chunk = {8, 8, 8};
              }),
      "disagree on the chunk");
  has(attempt(path(), [](int, Settings& s, Box&) { s.bounds = {}; }), "bound is needed");
  has(attempt(path(), [](int, Settings& s, Box&) { s.recipe = "cpsz"; }), "lies in parts here");
  has(attempt(path(),
              [](int r, Settings&, Box& b) {
                if (r == 1) b.first[0] = 4;
              }),
      "4:8,0:16,0:16 are given twice, by rank 0 and rank 1");
  has(attempt(path(),
              [&](int r, Settings&, Box& b) {
                if (r == 1) b = slab(shape, 8, 7);
              }),
      "nobody has all values of 8:16,0:16,0:16: 256 are missing");
  has(attempt(path(),
              [](int r, Settings&, Box& b) {
                if (r == 2) b.first[0] = 17;
              }),
      "outside the array");
  has(attempt(folder_ / "no/field.lwy", [](int, Settings&, Box&) {}), "cannot create");
  has(attempt(folder_, [](int, Settings&, Box&) {}), "not a regular file");
  EXPECT_EQ(files(), 0u);
  has(attempt(path(), [](int, Settings&, Box&) {}), "ok");
  const Bytes old = contents(path());
  has(attempt(path(),
              [](int, Settings& s, Box&) {
                s.options.exclusive = 1;
                s.recipe = "fast";
              }),
      "exists already");
  EXPECT_EQ(contents(path()), old);
  EXPECT_EQ(files(), 1u);
}

// Every function of the team fails once, on every rank: all return, and no file is half there.
TEST_F(ParallelTest, FailingTeam) {
  const Shape shape{24, 16, 16};
  const std::vector<float> values = some_field(shape);
  Settings settings{.chunk = {7, 16, 16}, .nodes = 2};
  settings.options.writers = 2;
  settings.options.stripe = 512;
  const Bytes whole = serial(values, shape, settings);
  for (int rank = 0; rank < 3; ++rank)
    for (int turn = 0; turn < 60; ++turn) {
      ThreadTeam team(3);
      std::vector<int> calls(3);
      bool has_failed = false;
      team.fault = [&](int who, const char*) {
        if (calls[size_t(who)]++ != turn || who != rank) return 0;
        has_failed = true;
        return 1;
      };
      std::vector<leeway_status> statuses(3);
      team.run([&](const leeway_team& table) {
        Ghosted own(values, shape, slab(shape, u64(table.rank) * 8, 8), true);
        const Context context = settings.context();
        statuses[size_t(table.rank)] =
            leeway_team_write(context.get(), &table, path().c_str(), LEEWAY_F32, 3,
                              shape.extents().data(), 1, &own.block, &settings.options, nullptr);
      });
      if (!has_failed) {
        EXPECT_GT(turn, 20);  // all calls were tried
        break;
      }
      if (fs::exists(path())) {
        EXPECT_EQ(contents(path()), whole);
        fs::remove(path());
      } else {
        EXPECT_EQ(statuses, std::vector(3, LEEWAY_IO)) << rank << " " << turn;
      }
      EXPECT_EQ(files(), 0u) << rank << " " << turn;
    }
}

TEST(Plan, OwnersAndBalance) {
  Header header;
  header.shape = Shape{64, 64, 64};
  header.chunk = Shape{16, 16, 16};
  for (unsigned seed = 1; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    const int ranks = 1 + int(random() % 16);
    std::vector<Held> held;
    for (const Box& box : cut(header.shape, seed, 1 + random() % 40))
      held.push_back({int(random() % u64(ranks)), u32(held.size()), box});
    const Plan plan = make_plan(header, held, ranks, true);
    std::vector<u64> load(static_cast<size_t>(ranks));
    for (size_t i = 0; i < plan.owner.size(); ++i) {
      u64 values = 0;
      for (const Piece& piece : plan.pieces_of(i)) values += piece.values;
      EXPECT_EQ(values, 4096u);
      load[size_t(plan.owner[i])] += values;
    }
    EXPECT_LE(std::ranges::max(load), 2 * (64 * 64 * 64 / u64(ranks)) + 4096);
    const Plan unmoved = make_plan(header, held, ranks, false);
    for (size_t i = 0; i < unmoved.owner.size(); ++i) {
      std::vector<u64> values(static_cast<size_t>(ranks));
      for (const Piece& piece : unmoved.pieces_of(i))
        values[size_t(held[piece.held].rank)] += piece.values;
      EXPECT_GE(2 * values[size_t(unmoved.owner[i])], std::ranges::max(values));
    }
  }
}

TEST(Plan, ManyBlocksInAChunk) {
  Header header;
  header.shape = header.chunk = Shape{20, 20};
  std::vector<Held> held;
  for (u64 i = 0; i < 20; ++i)
    for (u64 k = 0; k < 20; ++k) held.push_back({0, u32(held.size()), {{i, k}, Shape{1, 1}}});
  EXPECT_EQ(make_plan(header, held, 1, true).pieces.size(), 400u);
  held[7].box.first = held[8].box.first;
  EXPECT_THROW(make_plan(header, held, 1, true), Error);
}

TEST(Plan, ChunksOfBlocks) {
  const auto chunk = [](const Shape& shape, std::vector<Box> boxes, u64 values) {
    std::vector<Held> held;
    for (const Box& box : boxes) held.push_back({0, 0, box});
    return chunk_of_blocks(shape, held, values);
  };
  EXPECT_EQ(chunk({12, 8}, {{{}, {6, 8}}, {{6}, {6, 8}}}, 48), (Shape{6, 8}));
  EXPECT_EQ(chunk({12, 8}, {{{}, {6, 8}}, {{6}, {6, 8}}}, 24), (Shape{6, 4}));
  EXPECT_EQ(chunk({13, 8}, {{{}, {6, 8}}, {{6}, {7, 8}}}, 48), (Shape{6, 8}));
  EXPECT_EQ(chunk({13, 8}, {{{}, {7, 8}}, {{7}, {6, 8}}}, 48), (Shape{7, 4}));
  EXPECT_EQ(chunk({1000, 1000}, {{{}, {1, 1000}}, {{1}, {999, 1000}}}, 1 << 20), Shape());
}

}  // namespace
}  // namespace leeway::parallel
