// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/rows.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <queue>

#include "leeway/base/error.h"
#include "leeway/base/parallel.h"
#include "leeway/fabric/lanes.h"

namespace leeway::fabric {
namespace {

class Rows {
 public:
  Rows(const Job& job, std::vector<Chain>& chains, std::span<const u8> widths,
       const RowOptions& options)
      : job_(job), chains_(chains), widths_(widths), options_(options), costs_(job) {
    const size_t pes = size_t(job.machine.columns) * job.machine.rows;
    outcome_.spent.resize(pes);
    if (options.keep_intervals) {
      outcome_.computed.resize(pes);
      outcome_.activities.resize(pes);
    }
    outcome_.ends.resize(chains.size());
  }

  RowOutcome run() {
    job_.deal == Deal::free ? run_free() : run_dealt();
    for (const u64 end : outcome_.ends) outcome_.cycles = std::max(outcome_.cycles, end);
    return std::move(outcome_);
  }

 private:
  // Chains that do the same at different times, as many as a vector has lanes; or single ones.
  std::vector<std::vector<size_t>> groups() const {
    const bool has_lanes = LaneTimes::can_do(job_) && !options_.keep_intervals;
    std::map<std::pair<u32, size_t>, std::vector<size_t>> alike;
    for (size_t c = 0; c < chains_.size(); ++c)
      alike[{chains_[c].count, chains_[c].blocks.size()}].push_back(c);
    std::vector<std::vector<size_t>> groups;
    const size_t most = has_lanes ? LaneTimes::kLanes : 1;
    for (const auto& [key, chains] : alike)
      for (size_t first = 0; first < chains.size(); first += most)
        groups.emplace_back(chains.begin() + std::ptrdiff_t(first),
                            chains.begin() + std::ptrdiff_t(std::min(first + most, chains.size())));
    return groups;
  }

  void run_dealt() {
    const std::vector<std::vector<size_t>> all = groups();
    u64 done = 0;
    std::mutex mutex;
    for_each_index(all.size(), options_.threads, {}, [&](u64 g) {
      const std::vector<size_t>& group = all[size_t(g)];
      LaneTimes::can_do(job_) && !options_.keep_intervals ? run_lanes(group) : run_one(group[0]);
      const std::lock_guard lock(mutex);
      report(double(++done) / double(all.size()));
    });
  }

  // What a chain's k-th block of a round is.
  u8 width(const Chain& chain, u32 round, u32 k) const {
    return widths_[chain.blocks[size_t(round) * chain.pipelines(job_.length()) + k]];
  }

  void run_one(size_t c) {
    const Chain& chain = chains_[c];
    const u32 length = job_.length(), rounds = chain.rounds(length);
    ChainTimes times(job_, costs_, chain.count, options_.keep_intervals);
    std::vector<u8> widths;
    for (u32 round = 0; round < rounds; ++round) {
      widths.clear();
      for (u32 k = 0; k < chain.in_round(length, round); ++k)
        widths.push_back(width(chain, round, k));
      times.round(widths, round + 1 == rounds);
    }
    times.finish();
    keep(c, times);
  }

  // Lanes without a chain do what the last one does.
  void run_lanes(const std::vector<size_t>& group) {
    constexpr u32 kLanes = LaneTimes::kLanes;
    const auto chain = [&](u32 lane) -> const Chain& {
      return chains_[group[std::min<size_t>(lane, group.size() - 1)]];
    };
    LaneTimes times(job_, costs_, chain(0).count);
    std::vector<u8> widths;
    for (u32 round = 0; round < chain(0).rounds(1); ++round) {
      widths.clear();
      for (u32 k = 0; k < chain(0).in_round(1, round); ++k)
        for (u32 lane = 0; lane < kLanes; ++lane) widths.push_back(width(chain(lane), round, k));
      times.round(widths);
    }
    for (u32 lane = 0; lane < group.size(); ++lane) {
      for (u32 pe = 0; pe < chain(lane).count; ++pe)
        outcome_.spent[place(chain(lane), pe)] = times.spent(pe, lane);
      outcome_.ends[group[lane]] = u64(times.end(lane));
    }
  }

  // The next run of blocks goes to the chain whose first PE is free first; of several, to the
  // first.
  void run_free() {
    std::vector<ChainTimes> times;
    using Turn = std::pair<i64, size_t>;
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
    for (size_t c = 0; c < chains_.size(); ++c) {
      chains_[c].blocks.clear();
      times.emplace_back(job_, costs_, chains_[c].count, options_.keep_intervals);
      turns.push({0, c});
    }
    for (size_t next = 0; next < widths_.size();) {
      const size_t c = turns.top().second;
      turns.pop();
      Chain& chain = chains_[c];
      const size_t count = std::min<size_t>(chain.pipelines(job_.length()), widths_.size() - next);
      for (size_t k = 0; k < count; ++k) chain.blocks.push_back(u32(next + k));
      times[c].round(widths_.subspan(next, count), false);
      next += count;
      turns.push({times[c].first_free(), c});
      report(double(next) / double(widths_.size()));
    }
    for (size_t c = 0; c < chains_.size(); ++c) {
      times[c].finish();
      keep(c, times[c]);
    }
  }

  void report(double done) const {
    if (options_.progress && !options_.progress(done))
      throw Error(Errc::canceled, "canceled by the progress callback");
  }

  size_t place(const Chain& chain, u32 pe) const {
    return size_t(chain.row) * job_.machine.columns + chain.column(pe);
  }

  void keep(size_t c, const ChainTimes& times) {
    const Chain& chain = chains_[c];
    for (u32 pe = 0; pe < chain.count; ++pe) {
      outcome_.spent[place(chain, pe)] = times.spent(pe);
      if (!options_.keep_intervals) continue;
      outcome_.computed[place(chain, pe)] = times.computed(pe);
      outcome_.activities[place(chain, pe)] = times.activities(pe);
    }
    outcome_.ends[c] = u64(times.end());
  }

  const Job& job_;
  std::vector<Chain>& chains_;
  std::span<const u8> widths_;
  const RowOptions& options_;
  PipelineCosts costs_;
  RowOutcome outcome_;
};

}  // namespace

void check_rows_are_independent(const Mesh& mesh) {
  constexpr u8 kVertical = in_set(Side::north) | in_set(Side::south);
  for (u32 row = 0; row < mesh.machine().rows; ++row)
    for (u32 column = 0; column < mesh.machine().columns; ++column)
      for (u32 color = 0; color < mesh.machine().colors; ++color)
        if (const Route* const route = mesh.route(column, row, Color(color)))
          for (const Position& at : route->positions)
            if ((at.receive | at.transmit) & kVertical)
              fail_argument("rows are not independent: color " + std::to_string(color) + " of " +
                            mesh.at(column, row).name() + " goes north or south");
}

RowOutcome run_rows(const Job& job, std::vector<Chain>& chains, std::span<const u8> widths,
                    const RowOptions& options) {
  job.check();
  return Rows(job, chains, widths, options).run();
}

}  // namespace leeway::fabric
