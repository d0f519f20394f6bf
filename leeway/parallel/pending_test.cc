// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/pending.h"

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
