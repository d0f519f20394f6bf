// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/simulate.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace leeway::fabric {
namespace {

// Where the words of every block begin, as parts of those of its chunk.
std::vector<Words> words_of_blocks(const CodedBlocks& coded) {
  std::vector<Words> blocks;
  blocks.reserve(coded.widths.size());
  for (const Words& chunk : coded.chunks)
    for (size_t at = 0; at < chunk.size();) {
      const size_t count = coded_words(width_of(chunk[at]));
      blocks.emplace_back(chunk.begin() + std::ptrdiff_t(at),
                          chunk.begin() + std::ptrdiff_t(at + count));
      at += count;
    }
  return blocks;
}

WorkCycles work_of(const Job& job, std::span<const u8> widths) {
  std::array<u64, kMostWidth + 1> count{};
  for (const u8 width : widths) ++count[width];
  WorkCycles work{};
  for (u32 width = 0; width <= kMostWidth; ++width)
    for (const SubStage& stage : sub_stages(job.direction(), width))
      work[size_t(stage.work)] += count[width] * job.costs.of(job.direction(), stage, width);
  return work;
}

Traffic traffic_of(const Job& job, std::span<const Chain> chains, std::span<const u8> widths) {
  const bool compresses = job.direction() == Direction::compress;
  Traffic traffic;
  for (const Chain& chain : chains) {
    u64 coded = 0;
    for (const u32 block : chain.blocks) coded += coded_words(widths[block]);
    const u64 raw = u64(chain.blocks.size()) * kBlock;
    traffic.words_in.push_back(compresses ? raw : coded);
    traffic.words_out.push_back(compresses ? coded : raw);
  }
  return traffic;
}

// Decompressed values, block by block, are those of the library.
bool check_values(const Host& host, const Simulation& done, std::span<const Words> blocks,
                  std::span<const Words> from_mesh) {
  return host.decodes(done.coded, [&](u64 block, std::span<float, kBlock> values) {
    if (from_mesh.empty())
      decode_block(host.grid(), blocks[size_t(block)], values);
    else
      std::memcpy(values.data(), from_mesh[size_t(block)].data(), values.size_bytes());
  });
}

}  // namespace

double Simulation::mean_width() const {
  const u64 sum = std::accumulate(coded.widths.begin(), coded.widths.end(), u64(0));
  return coded.widths.empty() ? 0 : double(sum) / double(coded.widths.size());
}
u32 Simulation::most_width() const {
  return coded.widths.empty() ? 0 : *std::ranges::max_element(coded.widths);
}

u32 sampled_width(std::span<const u8> widths) {
  constexpr size_t kEvery = 20;
  u32 widest = 0;
  for (size_t block = 0; block < widths.size(); block += kEvery)
    widest = std::max<u32>(widest, widths[block]);
  return widest;
}

Simulation simulate(const Host& host, Job job, const Plan& plan, const RowOptions& options,
                    const Sink& sink) {
  job.check(plan.length);
  const bool compresses = plan.direction == Direction::compress;
  Simulation done;
  done.coded = compresses ? host.encode() : host.coded();
  const std::span<const u8> widths = done.coded.widths;
  job.partition = make_partition(plan.direction, plan.partition, job.costs, plan.length,
                                 plan.planned > 0 ? plan.planned : sampled_width(widths));
  done.job = job;
  done.chains = chains_of(job);
  deal(job, widths.size(), done.chains);
  // The mesh needs to know beforehand which chain will be free first.
  std::vector<Words> results, blocks;
  if (plan.engine == Engine::rows || job.deal == Deal::free)
    done.outcome = run_rows(job, done.chains, widths, options);
  if (plan.engine == Engine::mesh) {
    blocks = compresses ? host.raw_blocks() : words_of_blocks(done.coded);
    CereszProgram program(done.job, host.grid(), done.chains, blocks);
    done.outcome = program.run();
    done.work = program.work();
    results = program.results();
    if (compresses) done.coded = host.take(results);
  } else {
    done.work = work_of(job, widths);
    if (!compresses) blocks = words_of_blocks(done.coded);
  }
  if (compresses)
    done.stream = host.write(done.coded, sink);
  else
    done.decodes = check_values(host, done, blocks, results);
  done.traffic = traffic_of(job, done.chains, done.coded.widths);
  done.traffic.cycles = done.outcome.cycles;
  done.traffic.field_bytes = u64(done.coded.widths.size()) * kBlock * sizeof(float);
  if (compresses) done.traffic.field_bytes = host.field_bytes();
  done.ceilings = ceilings_of(job, done.chains, done.traffic, plan.origin);
  for (const Chain& chain : done.chains)
    done.rounds = std::max<u64>(done.rounds, chain.rounds(job.length()));
  return done;
}

RowOutcome again(const Simulation& done, size_t chain) {
  Job job = done.job;
  if (job.deal == Deal::free) job.deal = Deal::runs;  // the chain has its blocks
  std::vector<Chain> chains{done.chains[chain]};
  RowOptions options;
  options.keep_intervals = true;
  return run_rows(job, chains, done.coded.widths, options);
}

std::vector<Holder> holders_of(const Simulation& done, size_t number) {
  const Chain& chain = done.chains[number];
  const u32 length = done.job.length();
  const RowOutcome outcome = again(done, number);
  std::vector<Holder> result(chain.rounds(length));
  for (u32 pe = 0; pe < chain.pipelines(length) * length; ++pe) {
    const u32 column = chain.column(pe);
    const auto& computed = outcome.computed[size_t(chain.row) * done.job.machine.columns + column];
    for (u32 round = 0; round < computed.size(); ++round)
      if (computed[round].end >= result[round].end)
        result[round] = {round, column,
                         done.coded.widths[chain.block(done.job, round, pe / length)],
                         computed[round].end};
  }
  return result;
}

}  // namespace leeway::fabric
