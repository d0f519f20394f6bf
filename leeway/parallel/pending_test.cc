// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/pending.h"

#include <array>
#include <cstring>
#include <memory>

#include "leeway/parallel/threads.h"
#include "tests/support.h"

namespace leeway::parallel {
namespace {

using Context = std::unique_ptr<leeway_context, void (*)(leeway_context*)>;

Context bounded() {
  Context context(leeway_create(), leeway_destroy);
  leeway_set_bound(context.get(), "abs", 1e-3);
  return context;
}

struct Floats {
  std::vector<uint64_t> shape;
  std::vector<float> values;
  explicit Floats(const Shape& extents, unsigned seed = 0)
      : shape(extents.extents().begin(), extents.extents().end()),
        values(seed ? test::make_field<float>(extents, test::Texture::smooth, seed)
                    : std::vector<float>(size_t(extents.size()))) {}
  leeway_array array() {
    return {values.data(), LEEWAY_F32, int(shape.size()), shape.data(), nullptr};
  }
};

void expect_within(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_LE(std::abs(double(a[i]) - double(b[i])), 1e-3) << i;
}

// Works at something else until the transfer is done.
void finish(leeway_context* context, leeway_transfer*& transfer, bool by_test) {
  for (int done = 0; by_test && !done;)
    EXPECT_EQ(leeway_transfer_test(context, &transfer, &done), LEEWAY_OK);
  EXPECT_EQ(leeway_transfer_wait(context, &transfer), LEEWAY_OK) << leeway_message(context);
  EXPECT_EQ(transfer, nullptr);
}

TEST(Pending, SameAsThoseThatWait) {
  constexpr int kRanks = 5;
  const auto shape_of = [](int rank) { return Shape{u64(rank) * 300, 7}; };  // rank 0 has nothing
  std::vector<std::vector<float>> everywhere(kRanks), gathered(kRanks);
  ThreadTeam team(kRanks);
  team.run([&](const leeway_team& table) {
    for (const bool by_test : {false, true})
      for (const int root : {0, 3}) {
        const Context context = bounded();
        leeway_transfer* transfer = nullptr;
        Floats mine(shape_of(table.rank), unsigned(table.rank) + 1);
        std::vector<Floats> parts;
        std::vector<leeway_array> arrays;
        for (int rank = 0; rank < kRanks; ++rank) parts.emplace_back(shape_of(rank));
        for (Floats& part : parts) arrays.push_back(part.array());
        const leeway_array own = mine.array();
        EXPECT_EQ(leeway_team_igather(context.get(), &table, &own, arrays.data(), root, &transfer),
                  LEEWAY_OK);
        finish(context.get(), transfer, by_test);
        if (table.rank == root)
          for (int rank = 0; rank < kRanks; ++rank)
            expect_within(parts[size_t(rank)].values,
                          Floats(shape_of(rank), unsigned(rank) + 1).values);

        EXPECT_EQ(leeway_team_iallgather(context.get(), &table, &own, arrays.data(), &transfer),
                  LEEWAY_OK);
        finish(context.get(), transfer, by_test);
        auto& all = gathered[size_t(table.rank)];
        all.clear();
        for (const Floats& part : parts)
          all.insert(all.end(), part.values.begin(), part.values.end());

        for (int rank = 0; rank < kRanks; ++rank)
          if (table.rank == root) parts[size_t(rank)] = Floats(shape_of(rank), unsigned(rank) + 9);
        arrays.clear();
        for (Floats& part : parts) arrays.push_back(part.array());
        EXPECT_EQ(leeway_team_iscatter(context.get(), &table, arrays.data(), &own, root, &transfer),
                  LEEWAY_OK);
        finish(context.get(), transfer, by_test);
        expect_within(mine.values, Floats(shape_of(table.rank), unsigned(table.rank) + 9).values);

        Floats field(Shape{90, 80}, table.rank == root ? 4 : 0);
        const leeway_array array = field.array();
        EXPECT_EQ(leeway_team_ibcast(context.get(), &table, &array, root, &transfer), LEEWAY_OK);
        finish(context.get(), transfer, by_test);
        expect_within(field.values, Floats(Shape{90, 80}, 4).values);
        everywhere[size_t(table.rank)] = field.values;
      }
  });
  for (int rank = 1; rank < kRanks; ++rank) {
    EXPECT_EQ(everywhere[size_t(rank)], everywhere[0]);
    EXPECT_EQ(gathered[size_t(rank)], gathered[0]);
  }
}

TEST(Pending, StreamsOfAll) {
  constexpr int kRanks = 4;
  ThreadTeam team(kRanks);
  team.run([&](const leeway_team& table) {
    const Context context = bounded();
    const Shape shape{30, 40};
    Floats mine(shape, unsigned(table.rank) + 1), decoded(shape);
    const leeway_array own = mine.array(), into = decoded.array();
    std::array<leeway_buffer*, kRanks> streams{};
    leeway_transfer* transfer = nullptr;
    EXPECT_EQ(
        leeway_team_igather_streams(context.get(), &table, &own, streams.data(), 2, &transfer),
        LEEWAY_OK);
    finish(context.get(), transfer, true);
    for (int rank = 0; rank < kRanks; ++rank) {
      leeway_buffer* stream = streams[size_t(rank)];
      ASSERT_EQ(stream != nullptr, table.rank == 2);
      if (!stream) continue;
      EXPECT_EQ(leeway_decompress(context.get(), leeway_buffer_data(stream),
                                  leeway_buffer_size(stream), &into),
                LEEWAY_OK);
      leeway_buffer_free(stream);
      expect_within(decoded.values, Floats(shape, unsigned(rank) + 1).values);
    }
  });
}

// Those that do not wait give the bits of those that do.
TEST(Pending, Reductions) {
  for (const int ranks : {1, 2, 3, 6}) {
    ThreadTeam team(ranks);
    team.run([&](const leeway_team& table) {
      const Context context = bounded();
      const Shape shape{50, 21};
      Floats mine(shape, unsigned(table.rank) + 1), waited(shape), result(shape);
      if (table.rank == 0) mine.values[7] = std::numeric_limits<float>::quiet_NaN();
      const leeway_array own = mine.array(), expected = waited.array(), got = result.array();
      leeway_transfer* transfer = nullptr;
      const auto is_same = [&] {
        return std::memcmp(waited.values.data(), result.values.data(), 4 * shape.size()) == 0;
      };
      for (const leeway_operation operation : {LEEWAY_OPERATION_SUM, LEEWAY_OPERATION_MAX}) {
        EXPECT_EQ(leeway_team_allreduce(context.get(), &table, &own, &expected, operation, 0),
                  LEEWAY_OK);
        for (const int route : {0, 1, 2, 3}) {
          std::ranges::fill(result.values, 0.0f);
          EXPECT_EQ(leeway_team_iallreduce(context.get(), &table, &own, &got, operation, route,
                                           &transfer),
                    LEEWAY_OK);
          finish(context.get(), transfer, route % 2);
          EXPECT_TRUE(is_same()) << ranks << " " << route;
        }
        const int root = ranks - 1;
        std::ranges::fill(result.values, 0.0f);
        EXPECT_EQ(
            leeway_team_ireduce(context.get(), &table, &own, table.rank == root ? &got : nullptr,
                                operation, root, &transfer),
            LEEWAY_OK);
        finish(context.get(), transfer, true);
        EXPECT_EQ(is_same(), table.rank == root);
      }
    });
  }
}

// A rank that cannot contribute still takes its steps: all are told, and the next call works.
TEST(Pending, ReductionsFailTogether) {
  ThreadTeam team(3);
  team.run([&](const leeway_team& table) {
    const Context context = bounded(), none(leeway_create(), leeway_destroy);
    Floats mine(Shape{100}, 1), result(Shape{100});
    const leeway_array own = mine.array(), got = result.array();
    for (const int route : {1, 2, 3, 1}) {
      leeway_context* used = table.rank == 1 ? none.get() : context.get();
      leeway_transfer* transfer = nullptr;
      leeway_status status =
          leeway_team_iallreduce(used, &table, &own, &got, LEEWAY_OPERATION_SUM, route, &transfer);
      if (status == LEEWAY_OK) status = leeway_transfer_wait(used, &transfer);
      EXPECT_EQ(status, table.rank == 1 ? LEEWAY_INVALID_ARGUMENT : LEEWAY_IO) << route;
      EXPECT_NE(std::string(leeway_message(used)).find("a bound is needed"), std::string::npos);
    }
    leeway_transfer* transfer = nullptr;
    EXPECT_EQ(leeway_team_iallreduce(context.get(), &table, &own, &got, LEEWAY_OPERATION_MEAN, 0,
                                     &transfer),
              LEEWAY_OK);
    EXPECT_EQ(leeway_transfer_wait(context.get(), &transfer), LEEWAY_OK);
    expect_within(result.values, mine.values);
    leeway_set_bound(context.get(), "rel", 1e-3);
    leeway_status status = leeway_team_iallreduce(context.get(), &table, &own, &got,
                                                  LEEWAY_OPERATION_SUM, 0, &transfer);
    if (status == LEEWAY_OK) status = leeway_transfer_wait(context.get(), &transfer);
    EXPECT_NE(status, LEEWAY_OK);
    EXPECT_NE(std::string(leeway_message(context.get())).find("abs or lossless"),
              std::string::npos);
  });
}

TEST(Pending, FailuresArrive) {
  ThreadTeam team(3);
  team.run([&](const leeway_team& table) {
    const Context good = bounded(), none(leeway_create(), leeway_destroy);
    Floats field(Shape{5000}, 1);
    const leeway_array array = field.array();
    leeway_transfer* transfer = nullptr;
    const leeway_status begun =
        leeway_team_ibcast(table.rank == 1 ? none.get() : good.get(), &table, &array, 1, &transfer);
    EXPECT_EQ(begun, table.rank == 1 ? LEEWAY_INVALID_ARGUMENT : LEEWAY_OK);
    if (table.rank != 1) EXPECT_EQ(leeway_transfer_wait(good.get(), &transfer), LEEWAY_IO);
    EXPECT_EQ(leeway_team_ibcast(good.get(), &table, &array, 3, &transfer),
              LEEWAY_INVALID_ARGUMENT);
    EXPECT_EQ(leeway_team_igather(good.get(), &table, &array, nullptr, table.rank, &transfer),
              LEEWAY_INVALID_ARGUMENT);
  });
}

}  // namespace
}  // namespace leeway::parallel
