// SPDX-License-Identifier: BSD-3-Clause
#include "tools/wafer_report.h"

#include <algorithm>

namespace leeway::cli {
namespace {

using namespace fabric;

struct Share {
  const char* name;
  u64 Spent::*cycles;
};
constexpr Share kShares[] = {{"compute", &Spent::compute},
                             {"move", &Spent::move},
                             {"start_moves", &Spent::start},
                             {"wait_for_words", &Spent::wait_words},
                             {"wait_for_room", &Spent::wait_room}};

u64 total(const Simulation& done, u64 Spent::*cycles) {
  u64 sum = 0;
  for (const Spent& spent : done.outcome.spent) sum += spent.*cycles;
  return sum;
}
u64 all_cycles(const Simulation& done) { return done.outcome.cycles * done.outcome.spent.size(); }
u64 idle(const Simulation& done) {
  u64 busy = 0;
  for (const Spent& spent : done.outcome.spent) busy += spent.sum();
  return all_cycles(done) - busy;
}

size_t slowest_chain(const Simulation& done) {
  return size_t(std::ranges::max_element(done.outcome.ends) - done.outcome.ends.begin());
}

// If all blocks had the same width.
double closed_form_gb_s(const Simulation& done, u32 width) {
  return throughput(done.job.machine,
                    round_cycles(done.job.machine, done.job.relay, done.job.partition,
                                 done.job.costs, width),
                    done.job.length()) /
         1e9;
}

Json sums_of(const Simulation& done, bool of_columns) {
  const u32 columns = done.job.machine.columns, rows = done.job.machine.rows;
  Json result;
  for (const Share& share : kShares) {
    std::vector<u64> sums(of_columns ? columns : rows, 0);
    for (u32 row = 0; row < rows; ++row)
      for (u32 column = 0; column < columns; ++column)
        sums[of_columns ? column : row] +=
            done.outcome.spent[size_t(row) * columns + column].*share.cycles;
    result[share.name] = std::move(sums);
  }
  return result;
}

std::string verdict(const WaferReport& report) {
  const HostReport& stream = report.done.stream;
  if (report.done.job.direction() == Direction::decompress)
    return report.done.decodes ? "equal to the library's, bit for bit" : "NOT those of the library";
  return std::string(stream.equals_library ? "equal to" : "NOT equal to") +
         " those of `leeway compress --recipe ceresz`";
}

}  // namespace

Json WaferReport::json() const {
  const Job& job = done.job;
  Json result;
  result["direction"] = job.direction() == Direction::compress ? "compress" : "decompress";
  result["columns"] = job.machine.columns;
  result["rows"] = job.machine.rows;
  result["relay"] = kRelayNames[size_t(job.relay)];
  result["both_edges"] = job.feeds_both_edges();
  result["pipeline"] = job.length();
  result["planned_width"] = job.partition.planned;
  result["cuts"] = job.partition.cuts;
  result["collect"] = kCollectNames[size_t(job.collect)];
  result["deal"] = kDealNames[size_t(job.deal)];
  result["costs"] = is_estimate ? "estimated" : "fitted to the paper";
  result["clock"] = job.machine.clock;
  result["abs_bound"] = host.header().abs_bound;
  result["blocks"] = done.coded.widths.size();
  result["rounds"] = done.rounds;
  result["mean_width"] = done.mean_width();
  result["most_width"] = done.most_width();
  result["cycles"] = done.outcome.cycles;
  result["seconds"] = done.ceilings[0].seconds;
  result["field_bytes"] = done.traffic.field_bytes;
  for (const Ceiling& limit : done.ceilings)
    result["limits"].push_back(
        {{"name", limit.name}, {"seconds", limit.seconds}, {"gb_s", limit.bytes_a_second / 1e9}});
  result["held_back_by"] = lowest(done.ceilings).name;
  result["gb_s"] = lowest(done.ceilings).bytes_a_second / 1e9;
  for (const Share& share : kShares) result["spent"][share.name] = total(done, share.cycles);
  result["spent"]["idle"] = idle(done);
  for (size_t w = 0; w < done.work.size(); ++w)
    result["work"][std::string(kWorkNames[w])] = done.work[w];
  result["by_column"] = sums_of(done, true);
  result["by_row"] = sums_of(done, false);
  result["ends"] = done.outcome.ends;
  const size_t slowest = slowest_chain(done);
  Json& chain = result["slowest_chain"];
  chain["row"] = done.chains[slowest].row;
  chain["end"] = done.outcome.ends[slowest];
  chain["rounds"] = Json::array();
  for (const Holder& holder : holders_of(done, slowest))
    chain["rounds"].push_back({{"round", holder.round},
                               {"column", holder.column},
                               {"width", holder.width},
                               {"end", holder.end}});
  if (job.direction() == Direction::compress) {
    result["stream_bytes"] = done.stream.bytes;
    result["chunks"] = done.stream.chunks;
    result["chunks_of_wafer"] = done.stream.chunks_of_wafer;
    result["equals_library"] = done.stream.equals_library;
  } else {
    result["equals_library"] = done.decodes;
  }
  return result;
}

void WaferReport::print() const {
  const Job& job = done.job;
  const Machine& machine = job.machine;
  const bool compresses = job.direction() == Direction::compress;
  Report report;
  report.add("mesh",
             fmt::format("{} columns x {} rows at {:g} MHz, {}, pipelines of {}, fed from {}",
                         machine.columns, machine.rows, machine.clock / 1e6,
                         compresses ? "compressing" : "decompressing", job.length(),
                         job.feeds_both_edges() ? "both edges" : "the west"));
  report.add("blocks", fmt::format("{} in {} rounds, codes of {:.2f} bits in the mean, {} at most",
                                   done.coded.widths.size(), done.rounds, done.mean_width(),
                                   done.most_width()));
  report.add("cycles",
             fmt::format("{} ({:.4g} ms), {:.1f} a round", done.outcome.cycles,
                         done.ceilings[0].seconds * 1e3,
                         double(done.outcome.cycles) / double(std::max<u64>(done.rounds, 1))));
  for (const Ceiling& limit : done.ceilings)
    report.add(limit.name,
               fmt::format("{:.4g} GB/s{}", limit.bytes_a_second / 1e9,
                           &limit == &lowest(done.ceilings) ? "   <- holds it back" : ""));
  report.add("if all were alike",
             fmt::format("{:.4g} GB/s with {} bits, {:.4g} GB/s with {}",
                         closed_form_gb_s(done, u32(done.mean_width() + 0.5)),
                         u32(done.mean_width() + 0.5), closed_form_gb_s(done, done.most_width()),
                         done.most_width()));
  if (compresses)
    report.add("stream",
               fmt::format("{}, ratio {:.2f}; {} of {} chunks by the wafer, the others by "
                           "the host",
                           readable_bytes(done.stream.bytes),
                           double(host.field_bytes()) / double(done.stream.bytes),
                           done.stream.chunks_of_wafer, done.stream.chunks));
  report.add(compresses ? "bytes" : "values", verdict(*this));
  report.print();
  fmt::print("\nwhat the PEs did\n");
  const double all = double(std::max<u64>(all_cycles(done), 1));
  for (const Share& share : kShares) {
    std::string name = share.name;
    std::ranges::replace(name, '_', ' ');
    fmt::print("  {:<16} {:5.1f} %\n", name, 100 * double(total(done, share.cycles)) / all);
  }
  fmt::print("  {:<16} {:5.1f} %\n", "idle", 100 * double(idle(done)) / all);
  u64 computed = 0;
  for (const u64 cycles : done.work) computed += cycles;
  fmt::print("\nwhat they computed\n");
  for (size_t w = 0; w < done.work.size(); ++w)
    if (done.work[w] > 0)
      fmt::print("  {:<16} {:5.1f} %\n", kWorkNames[w],
                 100 * double(done.work[w]) / double(computed));
  const size_t slowest = slowest_chain(done);
  fmt::print("\nlast to end: row {} in cycle {}; held in its rounds by\n", done.chains[slowest].row,
             done.outcome.ends[slowest]);
  const std::vector<Holder> held = holders_of(done, slowest);
  constexpr size_t kShown = 8;
  for (size_t k = 0; k < std::min(held.size(), kShown); ++k)
    fmt::print("  round {:>4}: column {:>4}, {:>2} bits, until cycle {}\n", held[k].round,
               held[k].column, held[k].width, held[k].end);
  if (held.size() > kShown) fmt::print("  ... {} more, with --json\n", held.size() - kShown);
  fmt::print(
      "\nCycles are those of a model: {}, starts of moves fitted, queues and ramps assumed\n"
      "(docs/HARDWARE.md). Every value is checked and rounded to even, which the paper does "
      "not do.\n",
      is_estimate ? "sub-stages by an estimate for vector operations, never measured"
                  : "sub-stages as the paper measured them");
}

}  // namespace leeway::cli
