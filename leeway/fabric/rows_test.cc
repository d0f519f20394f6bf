// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/rows.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>

#include "tests/support.h"

namespace leeway::fabric {
namespace {

// A job and its blocks, made of a seed.
struct Trial {
  Job job;
  LinearGrid<float> grid{0.01};
  std::vector<Words> blocks, results;
  std::vector<u8> widths;
  std::vector<Chain> chains;

  explicit Trial(u32 seed) : random(seed) {
    Machine& machine = job.machine;
    machine.columns = 1 + random() % 12;
    machine.rows = 1 + random() % 6;
    machine.queue = random() % 2 ? 8 : 1 + random() % 12;
    machine.ramp = random() % 4;
    machine.start = random() % 40;
    job.relay = Relay(random() % 4);
    job.both_edges = random() % 2;
    job.collect = Collect(random() % 2);
    job.deal = Deal(random() % 3);
    if (job.feeds_both_edges()) machine.columns = std::max(machine.columns, 2u);
    const u32 most = job.feeds_both_edges() ? machine.columns / 2 : machine.columns;
    const u32 length = job.relay == Relay::router ? 1 : std::min(most, u32(1 + random() % 6));
    // Computing may be shorter than relaying.
    if (random() % 3 == 0)
      job.costs = {some(100), some(50), some(50), some(50), some(50), some(50), some(60), 0};
    job.partition = make_partition(Direction(random() % 2), PartitionRule(random() % 2), job.costs,
                                   length, 1 + some(12));
    const u32 count = some(3 * machine.columns * machine.rows + 1);
    const u32 amplitude = random() % 3 == 0 ? 1 : 1u << random() % 14;
    for (u32 k = 0; k < count; ++k) add_block(random() % 4 == 0 ? 0 : 1 + some(amplitude));
    chains = chains_of(job);
    deal(job, count, chains);
  }

  u32 some(u32 count) { return u32(random() % count); }

  void add_block(u32 amplitude) {
    std::array<float, kBlock> values;
    for (float& v : values)
      v = grid.short_step * (float(some(2 * amplitude + 1)) - float(amplitude));
    std::array<u32, kMostCoded> words;
    const u32 count = encode_block(grid, values, words);
    const Words coded(words.begin(), words.begin() + count);
    widths.push_back(u8(width_of(words[0])));
    Words raw, decoded;
    for (const float v : values) raw.push_back(std::bit_cast<u32>(v));
    decode_block(grid, coded, values);
    for (const float v : values) decoded.push_back(std::bit_cast<u32>(v));
    const bool compresses = job.direction() == Direction::compress;
    blocks.push_back(compresses ? raw : coded);
    results.push_back(compresses ? coded : decoded);
  }

  std::mt19937 random;
};

u64 words_of(std::span<const Words> blocks) {
  u64 sum = 0;
  for (const Words& words : blocks) sum += words.size();
  return sum;
}

// The same cycle for the start and end of every computation, the same waits, the same words; no
// word is lost, and every cycle of a PE is accounted for.
TEST(WaferRows, EqualTheMeshOnRandomPrograms) {
  for (u32 seed = 0; seed < 500; ++seed) {
    Trial trial(seed);
    CereszProgram program(trial.job, trial.grid, trial.chains, trial.blocks);
    check_rows_are_independent(program.mesh());
    const Outcome mesh = program.run();
    RowOptions options;
    options.keep_intervals = true;
    const RowOutcome rows = run_rows(trial.job, trial.chains, trial.widths, options);
    ASSERT_EQ(mesh.cycles, rows.cycles) << seed;
    ASSERT_EQ(mesh.ends, rows.ends) << seed;
    ASSERT_EQ(mesh.spent, rows.spent) << seed;
    ASSERT_EQ(program.computed(), rows.computed) << seed;
    ASSERT_EQ(program.results(), trial.results) << seed;
    const Mesh::Count& count = program.mesh().count();
    ASSERT_EQ(count.fed, words_of(trial.blocks));
    ASSERT_EQ(count.fed + count.sent, count.left + count.taken) << seed;
    if (trial.job.collect == Collect::back) ASSERT_EQ(count.left, words_of(trial.results)) << seed;
    for (const Spent& spent : mesh.spent) ASSERT_LE(spent.sum(), mesh.cycles) << seed;
  }
}

TEST(WaferRows, VectorsEqualSingleChains) {
  for (u32 seed = 0; seed < 300; ++seed) {
    Trial trial(seed);
    RowOptions one_by_one;
    one_by_one.keep_intervals = true;
    const RowOutcome a = run_rows(trial.job, trial.chains, trial.widths, one_by_one),
                     b = run_rows(trial.job, trial.chains, trial.widths);
    ASSERT_EQ(a.spent, b.spent) << seed;
    ASSERT_EQ(a.ends, b.ends) << seed;
  }
}

Job wide_job(Relay relay, u32 columns, u32 rows) {
  Job job;
  job.machine.columns = columns;
  job.machine.rows = rows;
  job.relay = relay;
  job.partition = make_partition(Direction::compress, PartitionRule::greedy, job.costs, 1, 12);
  return job;
}
RowOutcome run(const Job& job, std::span<const u8> widths, unsigned threads = 1) {
  std::vector<Chain> chains = chains_of(job);
  deal(job, widths.size(), chains);
  return run_rows(job, chains, widths, {threads, {}, false});
}

// With all widths the same, rounds follow each other as (2) + (3) say, to the cycle; the first one
// has to fill the row.
TEST(WaferRows, ConstantWidthsTakeWhatTheClosedFormSays) {
  for (const Relay relay : {Relay::paper, Relay::bulk, Relay::both, Relay::router})
    for (const u8 width : {u8(0), u8(10)}) {
      const Job job = wide_job(relay, 128, 1);
      const auto cycles = [&](size_t rounds) {
        return run(job, std::vector<u8>(128 * rounds, width)).cycles;
      };
      EXPECT_EQ(cycles(6) - cycles(5),
                round_cycles(job.machine, relay, job.partition, job.costs, width))
          << kRelayNames[size_t(relay)] << ", " << int(width);
    }
}

std::vector<u8> some_widths(size_t count, u32 seed) {
  std::mt19937 random(seed);
  std::vector<u8> widths(count);
  for (u8& width : widths) width = u8(random() % 13);
  return widths;
}

TEST(WaferRows, AnyNumberOfThreadsGivesTheSame) {
  for (const Relay relay : {Relay::paper, Relay::router})
    for (const Deal way : {Deal::runs, Deal::free}) {
      Job job = wide_job(relay, 24, 40);
      job.deal = way;
      const auto widths = some_widths(24 * 40 * 5 + 7, 1);
      const RowOutcome one = run(job, widths, 1), seven = run(job, widths, 7);
      EXPECT_EQ(one.cycles, seven.cycles);
      EXPECT_EQ(one.spent, seven.spent);
      EXPECT_EQ(one.ends, seven.ends);
    }
}

TEST(WaferRows, RowsKnowNothingOfEachOther) {
  Job job = wide_job(Relay::paper, 10, 3);
  job.deal = Deal::parts;
  const auto widths = some_widths(60, 2);
  std::vector<u8> turned(widths.begin() + 20, widths.end());
  turned.insert(turned.end(), widths.begin(), widths.begin() + 20);
  const RowOutcome a = run(job, widths), b = run(job, turned);
  EXPECT_EQ(a.ends[0], b.ends[2]);
  EXPECT_EQ(a.ends[1], b.ends[0]);
  EXPECT_EQ(a.ends[2], b.ends[1]);
}

TEST(WaferRows, FreeRowsGetMoreBlocksWhereSomeAreQuiet) {
  // Every second run is quiet: dealt in turn, the same rows would get them all.
  Job job = wide_job(Relay::paper, 8, 4);
  std::vector<u8> widths;
  for (size_t run = 0; run < 64; ++run) widths.insert(widths.end(), 8, run % 2 ? 0 : 12);
  const u64 in_turn = run(job, widths).cycles;
  job.deal = Deal::free;
  EXPECT_LT(run(job, widths).cycles, in_turn * 85 / 100);
}

TEST(WaferRows, EveryWayOfDealingGivesEveryBlockOnce) {
  for (const Deal way : {Deal::parts, Deal::blocks, Deal::runs, Deal::free})
    for (const u32 count : {0u, 1u, 100u, 333u}) {
      Job job = wide_job(Relay::both, 7, 5);
      job.deal = way;
      std::vector<Chain> chains = chains_of(job);
      deal(job, count, chains);
      run_rows(job, chains, some_widths(count, 3));
      std::vector<u32> all, wanted(count);
      std::iota(wanted.begin(), wanted.end(), 0);
      for (const Chain& chain : chains)
        all.insert(all.end(), chain.blocks.begin(), chain.blocks.end());
      std::ranges::sort(all);
      EXPECT_EQ(all, wanted);
    }
}

TEST(WaferRows, RefuseAProgramWithAVerticalRoute) {
  Machine machine;
  machine.columns = machine.rows = 2;
  Mesh good(machine, 2, 2), bad(machine, 2, 2);
  good.set_route(1, 1, 0, {{{in_set(Side::west), in_set(Side::ramp)}}});
  bad.set_route(1, 1, 0, {{{in_set(Side::west), in_set(Side::south)}}});
  check_rows_are_independent(good);
  EXPECT_THROW(check_rows_are_independent(bad), Error);
}

TEST(WaferRows, RefuseJobsThatMakeNoSense) {
  Job job = wide_job(Relay::router, 8, 2);
  job.partition = make_partition(Direction::compress, PartitionRule::greedy, job.costs, 2, 12);
  EXPECT_THROW(job.check(), Error);
  job.relay = Relay::both;
  job.partition = make_partition(Direction::compress, PartitionRule::greedy, job.costs, 5, 12);
  EXPECT_THROW(job.check(), Error);
}

}  // namespace
}  // namespace leeway::fabric
