// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/ceresz.h"

#include <algorithm>
#include <utility>

#include "leeway/base/error.h"

namespace leeway::fabric {
namespace {

Color raw_into(const Job& job, u32 pe) {
  return job.relay == Relay::router ? kRaw : Color(kRaw + (pe + 1) % 2);
}
Color raw_out_of(u32 pe) { return Color(kRaw + pe % 2); }
Color intermediate_into(u32 pe) { return Color(kIntermediate + (pe + 1) % 2); }
Color intermediate_out_of(u32 pe) { return Color(kIntermediate + pe % 2); }

// Of a block in front of PE `pe` of a pipeline.
BlockSize size_before(const Partition& partition, u32 pe) {
  if (!size_is_in_head(partition.direction, partition.cuts[pe]))
    return [&partition, pe](u32) { return partition.words_before(pe, 1); };
  return [&partition, pe](u32 head) { return partition.words_before(pe, width_of(head)); };
}

}  // namespace

std::vector<Allocation> memory_of(const Machine& machine, u32 values) {
  const u32 planes = (kMostWidth + 1) * values / 8;
  return {{"code", machine.code},
          {"words in", 8 + 4 * values + planes},
          {"words out", 8 + 4 * values + planes},
          {"descriptors of moves", 3 * 16},
          {"counters", 8 * 4}};
}

// The program of one PE.
class CereszProgram::Pe {
 public:
  Pe(CereszProgram& program, const Chain& chain, u32 number)
      : program_(program),
        job_(program.job_),
        chain_(chain),
        core_(program.mesh_.at(chain.column(number), chain.row)),
        number_(number),
        pipeline_(number / job_.length()),
        place_(number % job_.length()) {
    for (const Allocation& a : memory_of(job_.machine, kBlock)) core_.allocate(a.what, a.bytes);
    core_.bind(kStep, {std::string(kTaskNames[kStep]),
                       [this] {
                         core_.spent().start += job_.machine.start;
                         return u64(job_.machine.start);
                       },
                       [this] { next(); }});
    core_.bind(kCompute, {std::string(kTaskNames[kCompute]), [this] { return compute(); },
                          [this] {
                            log().back().end = core_.now();
                            finish_block();
                          }});
  }
  void begin() {
    begin_step();
    next();
  }

 private:
  bool is_last() const { return place_ + 1 == job_.length(); }
  std::vector<Interval>& log() {
    return program_.computed_[size_t(core_.row()) * job_.machine.columns + core_.column()];
  }
  // The round of the block that the PE has in this step; PEs further down a pipeline are behind.
  u32 round() const { return step_ - place_; }
  u32 blocks_in(u32 round) const {
    return round < chain_.rounds(job_.length()) ? chain_.in_round(job_.length(), round) : 0;
  }

  void begin_step() {
    const u32 relayed = blocks_in(step_), blocks = step_ >= place_ ? blocks_in(round()) : 0;
    to_relay_ =
        job_.relay != Relay::router && relayed > pipeline_ + 1 ? relayed - 1 - pipeline_ : 0;
    has_block_ = pipeline_ < blocks;
    is_farthest_ = pipeline_ + 1 == blocks;
    to_receive_ = to_compute_ = has_block_;
  }

  // What the end of a move leads to. A PE takes what the one before has made in its last step,
  // relays, computes, and hands on.
  void next() {
    for (;;) {
      if (to_receive_ && place_ > 0) return receive();
      if (to_relay_ > 0) {
        relay();
        // In bulk, the PE's own block follows on the same color, and its move is started, too.
        if (job_.relay != Relay::bulk || !to_receive_) return;
      }
      if (to_receive_) return receive();
      if (std::exchange(to_compute_, false)) return core_.activate(kCompute);
      if (++step_ >= chain_.rounds(job_.length()) + place_) return core_.finish();
      begin_step();
    }
  }

  void relay() {
    const bool is_bulk = job_.relay == Relay::bulk;
    const u32 blocks = is_bulk ? to_relay_ : 1;
    to_relay_ -= blocks;
    core_.start({.from = raw_into(job_, number_),
                 .to = raw_out_of(number_),
                 .blocks = blocks,
                 .size = size_before(job_.partition, 0),
                 .then = is_bulk && to_receive_ ? kNoTask : kStep});
  }
  void receive() {
    to_receive_ = false;
    words_.clear();
    core_.start({.from = place_ > 0 ? intermediate_into(number_) : raw_into(job_, number_),
                 .memory = &words_,
                 .size = size_before(job_.partition, place_),
                 .then = kStep});
  }

  u64 compute() {
    const u64 cycles =
        run_stages(job_.partition, place_, job_.costs, program_.grid_, words_, program_.work_);
    core_.spent().compute += cycles;
    log().push_back({core_.now(), 0});
    return cycles;
  }

  void finish_block() {
    if (!is_last())
      return core_.start({.to = intermediate_out_of(number_), .memory = &words_, .then = kStep});
    if (job_.collect == Collect::back)
      return core_.start({.to = kOutput,
                          .memory = &words_,
                          .ends = is_farthest_ ? Control::reset : Control::advance,
                          .then = kStep});
    program_.results_[chain_.block(job_, round(), pipeline_)] = words_;
    next();
  }

  CereszProgram& program_;
  const Job& job_;
  const Chain& chain_;
  Core& core_;
  u32 number_, pipeline_, place_;
  u32 step_ = 0, to_relay_ = 0;
  bool has_block_ = false, is_farthest_ = false, to_receive_ = false, to_compute_ = false;
  Words words_;
};

CereszProgram::CereszProgram(const Job& job, const LinearGrid<float>& grid,
                             const std::vector<Chain>& chains, const std::vector<Words>& blocks)
    : job_(job),
      grid_(grid),
      chains_(chains),
      blocks_(blocks),
      mesh_(job.machine, job.machine.columns, job.machine.rows),
      results_(blocks.size()),
      computed_(size_t(job.machine.columns) * job.machine.rows) {
  job.check();
  for (const Chain& chain : chains) {
    set_routes(chain);
    for (u32 pe = 0; pe < chain.pipelines(job.length()) * job.length(); ++pe)
      pes_.push_back(std::make_unique<Pe>(*this, chain, pe));
    mesh_.feed(chain.column(0), chain.row, raw_into(job, 0), feed_of(chain));
  }
}
CereszProgram::~CereszProgram() = default;

void CereszProgram::set_routes(const Chain& chain) {
  const u8 behind = in_set(chain.goes_west ? Side::east : Side::west),
           ahead = in_set(chain.goes_west ? Side::west : Side::east), ramp = in_set(Side::ramp);
  const u32 length = job_.length(), pipelines = chain.pipelines(length);
  const u32 last_first = (pipelines - 1) * length;  // the first PE of the last pipeline
  for (u32 pe = 0; pe < pipelines * length; ++pe) {
    const auto set = [&](Color color, Route route) {
      mesh_.set_route(chain.column(pe), chain.row, color, std::move(route));
    };
    const bool is_first = pe % length == 0, is_last = pe % length + 1 == length;
    if (job_.relay == Relay::router) {
      const u8 onwards = pe < last_first ? ahead : u8(0);
      set(kRaw, {{{behind, ramp}, {behind, onwards}}});
    } else {
      if (pe <= last_first) set(raw_into(job_, pe), {{{behind, ramp}}});
      if (pe < last_first) set(raw_out_of(pe), {{{ramp, ahead}}});
    }
    if (!is_first) set(intermediate_into(pe), {{{behind, ramp}}});
    if (!is_last) set(intermediate_out_of(pe), {{{ramp, ahead}}});
    if (job_.collect == Collect::back)
      set(kOutput, is_last ? Route{{{ramp, behind}, {ahead, behind}}} : Route{{{ahead, behind}}});
  }
}

// The words of a chain's blocks, as its first PE gets them.
std::vector<Word> CereszProgram::feed_of(const Chain& chain) const {
  std::vector<Word> feed;
  const u32 length = job_.length(), rounds = chain.rounds(length);
  for (u32 round = 0; round < rounds; ++round) {
    for (u32 k = 0; k < chain.in_round(length, round); ++k) {
      const u32 block = chain.blocks[size_t(round) * chain.pipelines(length) + k];
      for (const u32 word : blocks_[block]) feed.push_back({word});
      if (job_.relay == Relay::router) feed.push_back({0, Control::advance});
    }
    if (job_.relay == Relay::router && round + 1 < rounds) feed.push_back({0, Control::reset});
  }
  return feed;
}

// The nearest pipeline's words leave first.
void CereszProgram::take_collected(const Chain& chain) {
  const std::vector<Word>& left = mesh_.left(chain.column(0), chain.row, kOutput);
  const u32 length = job_.length();
  const BlockSize size = [&](u32 head) {
    return words_behind(job_.direction(), job_.partition.cuts.back(), job_.partition.planned,
                        width_of(head));
  };
  size_t at = 0;
  const auto next = [&] {
    while (at < left.size() && left[at].control != Control::none) ++at;
    if (at == left.size()) throw Error(Errc::internal, "a chain has lost words");
    return left[at++].value;
  };
  for (u32 round = 0; round < chain.rounds(length); ++round)
    for (u32 k = 0; k < chain.in_round(length, round); ++k) {
      Words& words = results_[chain.block(job_, round, k)];
      words = {next()};
      for (u32 more = size(words[0]) - 1; more > 0; --more) words.push_back(next());
    }
}

Outcome CereszProgram::run() {
  for (const auto& pe : pes_) pe->begin();
  Outcome outcome;
  outcome.cycles = mesh_.run();
  for (u32 row = 0; row < job_.machine.rows; ++row)
    for (u32 column = 0; column < job_.machine.columns; ++column)
      outcome.spent.push_back(mesh_.at(column, row).spent());
  for (const Chain& chain : chains_) {
    u64& end = outcome.ends.emplace_back(0);
    for (u32 pe = 0; pe < chain.count; ++pe)
      end = std::max(end, mesh_.at(chain.column(pe), chain.row).end());
    if (job_.collect == Collect::back) take_collected(chain);
  }
  return outcome;
}

}  // namespace leeway::fabric
