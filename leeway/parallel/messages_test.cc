// SPDX-License-Identifier: BSD-3-Clause
#include <map>
#include <memory>

#include "leeway/parallel/collectives.h"
#include "leeway/parallel/threads.h"
#include "tests/support.h"

namespace leeway::parallel {
namespace {

using Context = std::unique_ptr<leeway_context, void (*)(leeway_context*)>;

Context context_with(const char* kind, double bound, const char* recipe = "balanced") {
  Context context(leeway_create(), leeway_destroy);
  EXPECT_EQ(leeway_set_bound(context.get(), kind, bound), LEEWAY_OK);
  EXPECT_EQ(leeway_set_recipe(context.get(), recipe), LEEWAY_OK);
  return context;
}

// A contiguous array of floats as the C interface takes it.
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

void expect_within(const std::vector<float>& a, const std::vector<float>& b, double e) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_LE(std::abs(double(a[i]) - double(b[i])), e) << i;
}

TEST(Messages, SendAndReceive) {
  const Shape shapes[] = {{}, {0}, {1}, {256}, {5000}, {3, 40, 50}, {9, 400, 300}};
  ThreadTeam team(3);
  team.run([&](const leeway_team& table) {
    for (const Shape& shape : shapes)
      for (const char* recipe : {"fast", "small"}) {
        const Context context = context_with("rel", 1e-4, recipe);
        Floats mine(shape, unsigned(table.rank) + 1), other(shape);
        const leeway_array out = mine.array(), in = other.array();
        const int next = (table.rank + 1) % 3, before = (table.rank + 2) % 3;
        leeway_transfer *send = nullptr, *receive = nullptr;
        EXPECT_EQ(leeway_team_ireceive(context.get(), &table, &in, before, &receive), LEEWAY_OK);
        EXPECT_EQ(leeway_team_isend(context.get(), &table, &out, next, &send), LEEWAY_OK);
        const std::vector<float> sent = mine.values;
        std::ranges::fill(mine.values, 77.0f);  // free to be changed
        for (int done = 0; !done;)
          EXPECT_EQ(leeway_transfer_test(context.get(), &receive, &done), LEEWAY_OK);
        EXPECT_EQ(leeway_transfer_wait(context.get(), &send), LEEWAY_OK);
        EXPECT_EQ(receive, nullptr);
        const Floats expected(shape, unsigned(before) + 1);
        const auto [low, high] = std::ranges::minmax_element(expected.values);
        const double range = expected.values.empty() ? 0 : double(*high) - double(*low);
        expect_within(other.values, expected.values, 1e-4 * range);
      }
  });
}

TEST(Messages, FailuresArrive) {
  ThreadTeam team(2);
  team.run([&](const leeway_team& table) {
    Floats field(Shape{5000}, 1), wrong(Shape{4999});
    const Context good = context_with("abs", 1e-3), none(leeway_create(), leeway_destroy);
    const leeway_array array = field.array(), other = wrong.array();
    if (table.rank == 0) {
      EXPECT_EQ(leeway_team_send(none.get(), &table, &array, 1), LEEWAY_INVALID_ARGUMENT);
      EXPECT_EQ(leeway_team_send(good.get(), &table, &array, 1), LEEWAY_OK);
      EXPECT_EQ(leeway_team_send(good.get(), &table, &array, 2), LEEWAY_INVALID_ARGUMENT);
    } else {
      EXPECT_EQ(leeway_team_receive(good.get(), &table, &array, 0), LEEWAY_IO);
      EXPECT_NE(std::string(leeway_message(good.get())).find("a bound is needed"),
                std::string::npos);
      EXPECT_EQ(leeway_team_receive(good.get(), &table, &other, 0), LEEWAY_INVALID_ARGUMENT);
    }
    // One rank without a bound: the collective fails on both.
    const leeway_array mine = field.array();
    const auto status =
        leeway_team_bcast(table.rank == 0 ? none.get() : good.get(), &table, &mine, 0);
    EXPECT_EQ(status, LEEWAY_INVALID_ARGUMENT);
  });
}

// Arrays of another size than the receiver's, in one piece or several: an error, and nothing of
// them is left for the next receive.
TEST(Messages, OtherSizesAreRefused) {
  constexpr u64 kPiece = 1 << 18;  // values
  ThreadTeam team(2);
  team.run([&](const leeway_team& table) {
    const Context context = context_with("abs", 1e-3, "fast");
    for (const u64 sent : {u64(100), kPiece, kPiece + 1, 3 * kPiece})
      for (const u64 wanted : {u64(100), kPiece, kPiece + 1, 3 * kPiece}) {
        Floats field(Shape{table.rank == 0 ? sent : wanted}, 1), more(Shape{60}, 2);
        const leeway_array array = field.array(), next = more.array();
        if (table.rank == 0) {
          EXPECT_EQ(leeway_team_send(context.get(), &table, &array, 1), LEEWAY_OK);
          EXPECT_EQ(leeway_team_send(context.get(), &table, &next, 1), LEEWAY_OK);
        } else {
          EXPECT_EQ(leeway_team_receive(context.get(), &table, &array, 0),
                    sent == wanted ? LEEWAY_OK : LEEWAY_INVALID_ARGUMENT)
              << sent << " " << wanted;
          std::ranges::fill(more.values, 0.0f);
          EXPECT_EQ(leeway_team_receive(context.get(), &table, &next, 0), LEEWAY_OK);
          expect_within(more.values, Floats(Shape{60}, 2).values, 1e-3);
        }
      }
  });
}

TEST(Messages, Collectives) {
  constexpr int kRanks = 4;
  constexpr double kBound = 1e-3;
  const auto shape_of = [](int rank) { return Shape{u64(rank) * 700, 3}; };  // rank 0 has nothing
  std::vector<std::vector<float>> after(kRanks);
  ThreadTeam team(kRanks);
  team.run([&](const leeway_team& table) {
    const Context context = context_with("abs", kBound);
    const auto rank = unsigned(table.rank);
    Floats mine(shape_of(table.rank), rank + 1);
    std::vector<Floats> parts;
    std::vector<leeway_array> arrays;
    for (int i = 0; i < kRanks; ++i) parts.emplace_back(shape_of(i));
    for (Floats& part : parts) arrays.push_back(part.array());
    const auto check = [&](bool exact_own) {
      for (int i = 0; i < kRanks; ++i)
        expect_within(parts[size_t(i)].values, Floats(shape_of(i), unsigned(i) + 1).values,
                      exact_own && i == table.rank ? 0 : kBound);
    };
    const leeway_array own = mine.array();
    EXPECT_EQ(
        leeway_team_gather(context.get(), &table, &own, rank == 1 ? arrays.data() : nullptr, 1),
        LEEWAY_OK);
    if (rank == 1) check(true);
    std::array<leeway_buffer*, kRanks> streams{};
    EXPECT_EQ(leeway_team_gather_streams(context.get(), &table, &own, streams.data(), 2),
              LEEWAY_OK);
    for (int i = 0; i < kRanks; ++i) {
      EXPECT_EQ(streams[size_t(i)] != nullptr, rank == 2);
      if (!streams[size_t(i)]) continue;
      EXPECT_EQ(leeway_decompress(context.get(), leeway_buffer_data(streams[size_t(i)]),
                                  leeway_buffer_size(streams[size_t(i)]), &arrays[size_t(i)]),
                LEEWAY_OK);
      leeway_buffer_free(streams[size_t(i)]);
    }
    if (rank == 2) check(false);
    EXPECT_EQ(leeway_team_allgather(context.get(), &table, &own, arrays.data()), LEEWAY_OK);
    check(false);
    for (const Floats& part : parts)
      after[rank].insert(after[rank].end(), part.values.begin(), part.values.end());
    Floats back(shape_of(table.rank));
    const leeway_array into = back.array();
    EXPECT_EQ(
        leeway_team_scatter(context.get(), &table, rank == 1 ? arrays.data() : nullptr, &into, 1),
        LEEWAY_OK);
    expect_within(back.values, mine.values, 2 * kBound);
    Floats all(Shape{100, 30}, rank + 1);
    const leeway_array everywhere = all.array();
    EXPECT_EQ(leeway_team_bcast(context.get(), &table, &everywhere, 3), LEEWAY_OK);
    expect_within(all.values, Floats(Shape{100, 30}, 4).values, kBound);
    after[rank].insert(after[rank].end(), all.values.begin(), all.values.end());
  });
  for (const auto& one : after) EXPECT_EQ(one, after[0]);  // the same bits everywhere
}

// ---- reductions ----

// What P ranks contribute, of one kind.
template <class T>
std::vector<std::vector<T>> contributions(std::mt19937_64& random, int ranks, size_t count) {
  std::vector<std::vector<T>> all;
  const auto kind = random() % 6;
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<T> values(count);
    for (T& value : values) {
      const double x = std::uniform_real_distribution(-1.0, 1.0)(random);
      value = T(kind == 0   ? 1e6 * x
                : kind == 1 ? 1e-6 * x
                : kind == 2 ? std::ldexp(x, int(random() % 120) - 60)
                            : x);
      if (kind == 3 && random() % 9 == 0)
        value = std::numeric_limits<T>::infinity() * (random() % 2 ? 1 : -1);
      if (kind == 3 && random() % 9 == 0) value = std::numeric_limits<T>::quiet_NaN();
      if (kind == 4 && random() % 5 == 0) value = T(1e30 * x);
      if (kind == 5) value = test::from_bits<T>(random());
    }
    all.push_back(values);
  }
  return all;
}

// The result is within E of the exact one, in long double, but for the rounding of the type: that
// of the result, and that of what the lattice does not reach.
template <class T>
void expect_reduced(const std::vector<std::vector<T>>& all, const std::vector<T>& result,
                    Operation operation, double e) {
  for (size_t i = 0; i < result.size(); ++i) {
    long double sum = 0, sizes = 0, low = INFINITY, high = -INFINITY;
    bool is_special = false;
    for (const auto& one : all) {
      is_special |= !std::isfinite(one[i]);
      sum += one[i];
      sizes += std::abs(static_cast<long double>(one[i]));
      low = std::min<long double>(low, one[i]);
      high = std::max<long double>(high, one[i]);
    }
    const auto exact = operation == Operation::sum   ? sum
                       : operation == Operation::min ? low
                       : operation == Operation::max ? high
                                                     : sum / static_cast<long double>(all.size());
    if (is_special && operation <= Operation::sum) {
      if (std::isnan(double(exact))) {
        ASSERT_TRUE(std::isnan(result[i]));
      } else {
        ASSERT_EQ(result[i], T(exact));
      }
      continue;
    }
    if (is_special || sizes > static_cast<long double>(std::numeric_limits<T>::max())) continue;
    const auto slack = sizes * static_cast<long double>(std::numeric_limits<T>::epsilon());
    ASSERT_LE(std::abs(static_cast<long double>(result[i]) - exact),
              static_cast<long double>(e) + slack);
  }
}

// 10^4 random cases: the error, and the same bits for any order and any way of partial sums.
TEST(Lattice, RandomReductions) {
  std::mt19937_64 random(11);
  const auto one_case = [&]<class T>(T) {
    const int ranks = 2 + int(random() % 7);
    const size_t count = 1 + random() % 9;
    const auto all = contributions<T>(random, ranks, count);
    const auto operation = Operation(random() % 4);
    const double e = std::ldexp(1.0, int(random() % 30) - 25);
    const Lattice lattice(operation, operation == Operation::sum ? e / ranks : e, ranks);
    std::vector<Lattice::Partial> parts;
    for (const auto& one : all) parts.push_back(lattice.quantized(view_of(one.data(), {count})));
    std::vector<T> first;
    for (int way = 0; way < 3; ++way) {
      std::vector<Lattice::Partial> left = parts;
      std::shuffle(left.begin(), left.end(), random);
      while (left.size() > 1) {  // any two at a time; now and then through bytes
        const size_t taken = way == 0 ? 1 : 1 + random() % (left.size() - 1);
        if (random() % 16 == 0)
          left[taken] = Lattice::unpack(Lattice::pack(left[taken], {}), count, {});
        lattice.merge(left[0], left[taken]);
        left.erase(left.begin() + std::ptrdiff_t(taken));
        std::swap(left[0], left[random() % left.size()]);
      }
      std::vector<T> result(count);
      lattice.finish(left[0], mutable_view_of(result.data(), {count}));
      if (way == 0) first = result;
      ASSERT_EQ(std::memcmp(first.data(), result.data(), count * sizeof(T)), 0);
    }
    expect_reduced(all, first, operation, e);
  };
  for (int i = 0; i < 5000 && !::testing::Test::HasFatalFailure(); ++i) {
    one_case(float());
    one_case(double());
  }
}

TEST(Messages, ReductionsOnEveryRoute) {
  for (const int ranks : {2, 3, 5, 8}) {
    std::mt19937_64 random{unsigned(ranks)};
    const auto all = contributions<float>(random, ranks, 6000);
    std::vector<std::vector<float>> results;
    std::mutex mutex;
    ThreadTeam team(ranks);
    team.run([&](const leeway_team& table) {
      const Context context = context_with("abs", 1e-2);
      const auto other = size_t((table.rank + 1) % ranks);
      for (const bool is_turned : {false, true})  // the same contributions from other ranks
        for (const int route : {0, 1, 2, 3}) {
          std::vector<float> values = all[is_turned ? other : size_t(table.rank)],
                             result(values.size());
          const uint64_t shape[] = {60, 100};
          const leeway_array mine = {values.data(), LEEWAY_F32, 2, shape, nullptr},
                             out = {result.data(), LEEWAY_F32, 2, shape, nullptr};
          EXPECT_EQ(leeway_team_allreduce(context.get(), &table, &mine, &out, LEEWAY_OPERATION_SUM,
                                          route),
                    LEEWAY_OK)
              << leeway_message(context.get());
          std::vector<float> at_root(values.size());
          const leeway_array rooted = {at_root.data(), LEEWAY_F32, 2, shape, nullptr};
          EXPECT_EQ(leeway_team_reduce(context.get(), &table, &mine,
                                       table.rank == ranks - 1 ? &rooted : nullptr,
                                       LEEWAY_OPERATION_SUM, ranks - 1),
                    LEEWAY_OK);
          const std::lock_guard lock(mutex);
          results.push_back(result);
          if (table.rank == ranks - 1) results.push_back(at_root);
        }
    });
    expect_reduced(all, results[0], Operation::sum, 1e-2);
    for (const auto& result : results)
      EXPECT_EQ(std::memcmp(result.data(), results[0].data(), result.size() * 4), 0) << ranks;
  }
}

// A bound relative to the range of what all contribute.
TEST(Messages, RelativeReduction) {
  ThreadTeam team(3);
  team.run([&](const leeway_team& table) {
    const Context context = context_with("rel", 1e-3);
    std::vector<double> values(500, table.rank * 10.0), result(500);
    for (size_t i = 0; i < 500; ++i) values[i] += 0.001 * double(i);
    const uint64_t shape[] = {500};
    const leeway_array mine = {values.data(), LEEWAY_F64, 1, shape, nullptr},
                       out = {result.data(), LEEWAY_F64, 1, shape, nullptr};
    EXPECT_EQ(leeway_team_allreduce(context.get(), &table, &mine, &out, LEEWAY_OPERATION_MEAN, 0),
              LEEWAY_OK);
    double largest = 0;
    for (size_t i = 0; i < 500; ++i)
      largest = std::max(largest, std::abs(result[i] - (10 + 0.001 * double(i))));
    EXPECT_LE(largest, 1e-3 * 20.499 * 1.0000001);
    EXPECT_GT(largest, 1e-4);
    EXPECT_EQ(leeway_team_allreduce(context.get(), &table, &mine, &out, LEEWAY_OPERATION_SUM, 9),
              LEEWAY_INVALID_ARGUMENT);
  });
}

}  // namespace
}  // namespace leeway::parallel
