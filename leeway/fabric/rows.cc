// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/rows.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <queue>

#include "leeway/base/error.h"
#include "leeway/base/parallel.h"
#include "leeway/fabric/chain.h"

namespace leeway::fabric {
namespace {

bool is_last_round(const Chain& chain, u32 length, u32 round) {
  return round + 1 == chain.rounds(length);
}

class Rows {
 public:
  Rows(const Job& job, std::vector<Chain>& chains, std::span<const u8> widths,
       const RowOptions& options)
      : job_(job), chains_(chains), widths_(widths), options_(options), costs_(job) {
    const size_t pes = size_t(job.machine.columns) * job.machine.rows;
    outcome_.spent.resize(pes);
    if (options.keep_intervals) outcome_.computed.resize(pes);
    outcome_.ends.resize(chains.size());
  }

  RowOutcome run() {
    job_.deal == Deal::free ? run_free() : run_dealt();
    for (const u64 end : outcome_.ends) outcome_.cycles = std::max(outcome_.cycles, end);
    return std::move(outcome_);
  }

 private:
  void run_dealt() {
    std::atomic<u64> done = 0;
    std::mutex mutex;
    for_each_index(chains_.size(), options_.threads, {}, [&](u64 c) {
      const Chain& chain = chains_[size_t(c)];
      ChainTimes times(job_, costs_, chain.count, options_.keep_intervals);
      std::vector<u8> widths;
      for (u32 round = 0; round < chain.rounds(job_.length()); ++round) {
        widths.clear();
        const size_t first = size_t(round) * chain.pipelines(job_.length());
        for (u32 k = 0; k < chain.in_round(job_.length(), round); ++k)
          widths.push_back(widths_[chain.blocks[first + k]]);
        times.round(widths, is_last_round(chain, job_.length(), round));
      }
      keep(size_t(c), times);
      const std::lock_guard lock(mutex);
      report(double(++done) / double(chains_.size()));
    });
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
      const size_t count =
          std::min<size_t>(chain.pipelines(job_.length()), widths_.size() - next);
      for (size_t k = 0; k < count; ++k) chain.blocks.push_back(u32(next + k));
      times[c].round(widths_.subspan(next, count), false);
      next += count;
      turns.push({times[c].first_free(), c});
      report(double(next) / double(widths_.size()));
    }
    for (size_t c = 0; c < chains_.size(); ++c) keep(c, times[c]);
  }

  void report(double done) const {
    if (options_.progress && !options_.progress(done))
      throw Error(Errc::canceled, "canceled by the progress callback");
  }

  void keep(size_t c, const ChainTimes& times) {
    const Chain& chain = chains_[c];
    for (u32 pe = 0; pe < chain.count; ++pe) {
      const size_t place = size_t(chain.row) * job_.machine.columns + chain.column(pe);
      outcome_.spent[place] = times.spent(pe);
      if (options_.keep_intervals) outcome_.computed[place] = times.computed(pe);
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
