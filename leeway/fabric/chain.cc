// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/chain.h"

#include <algorithm>

namespace leeway::fabric {

PipelineCosts::PipelineCosts(const Job& job) {
  const u32 length = job.length();
  words.resize(length + 1);
  cycles.resize(length);
  for (u32 width = 0; width < kWidths; ++width) {
    for (u32 pe = 0; pe <= length; ++pe) words[pe][width] = job.partition.words_before(pe, width);
    for (u32 pe = 0; pe < length; ++pe)
      cycles[pe][width] = job.partition.cost(job.costs, pe, width);
  }
}

ChainTimes::ChainTimes(const Job& job, const PipelineCosts& costs, u32 count, bool keeps_intervals)
    : job_(job),
      costs_(costs),
      length_(job.length()),
      hop_(job.machine.hop()),
      ramp_(job.machine.ramp),
      start_(job.machine.start),
      keeps_intervals_(keeps_intervals),
      free_(count, 0),
      last_(count, -1),
      passed_(count, -1),
      sent_(count, -1),
      may_send_(count, 0),
      may_pass_(count, 0),
      rounds_(length_),
      raw_(count, job.machine.queue),
      intermediate_(length_ > 1 ? count : 0, job.machine.queue),
      output_(job.collect == Collect::back ? count : 0, job.machine.queue),
      spent_(count),
      computed_(count),
      activities_(count) {}

void ChainTimes::round(std::span<const u8> widths, bool is_last) {
  hand_on();
  std::rotate(rounds_.begin(), rounds_.end() - 1, rounds_.end());
  rounds_[0].assign(widths.begin(), widths.end());
  const auto blocks = u32(widths.size());
  for (u32 k = 0; k < blocks; ++k) {
    if (job_.relay == Relay::router)
      route(k, widths[k]);
    else
      relay(k, blocks - 1 - k, widths[k], blocks);
  }
  if (job_.relay == Relay::router && !is_last) route_control(blocks);
  compute();
}

void ChainTimes::finish() {
  for (u32 place = 1; place < length_; ++place) round({}, true);
}

i64 ChainTimes::move(u32 pe, i64 base, i64 available, i64 room) {
  const i64 there = std::max(base, available), time = std::max(there, room);
  spent_[pe].wait_words += u64(there - base);
  spent_[pe].wait_room += u64(time - there);
  ++spent_[pe].move;
  return time;
}

void ChainTimes::note(u32 pe, i64 begin, i64 end, Doing doing) {
  if (keeps_intervals_) activities_[pe].push_back({u64(begin), u64(end), doing});
}

void ChainTimes::end_move(u32 pe, i64 last) {
  free_[pe] = last + 1 + start_;
  spent_[pe].start += u64(start_);
}

// A block comes to the first PE of its pipeline; all cores before it move every word.
void ChainTimes::relay(u32 block, u32 pipeline, u32 width, u32 blocks) {
  const u32 target = pipeline * length_, words = costs_.words[0][width];
  for (u32 w = 0; w < words; ++w) {
    i64 before = 0;
    for (u32 pe = 0; pe <= target; ++pe) {
      const i64 base = w > 0 ? last_[pe] + 1 : free_[pe];
      const i64 time = move(pe, base, before, pe < target ? raw_.room(pe + 1) : 0);
      if (pe > 0) raw_.leave(pe, time);
      if (pe < target) raw_.arrive(pe + 1);
      last_[pe] = time;
      before = time + hop_;
    }
  }
  for (u32 pe = 0; pe <= target; ++pe) {
    // In bulk, one move has all blocks for PEs further on, and a pipeline's own follows.
    const u32 own = pe / length_ + (pe % length_ == 0 ? 0 : 1);
    note(pe, free_[pe], last_[pe] + 1, pe < target ? Doing::relay : Doing::receive);
    const bool goes_on = job_.relay == Relay::bulk && pe < target && blocks - 2 - block >= own;
    if (goes_on)
      free_[pe] = last_[pe] + 1;
    else
      end_move(pe, last_[pe]);
  }
}

// The same where routers pass the words; the last PE takes them, and its router the control word.
void ChainTimes::route(u32 pipeline, u32 width) {
  const u32 words = costs_.words[0][width];
  for (u32 w = 0; w <= words; ++w) {
    i64 before = 0;
    for (u32 pe = 0; pe < pipeline; ++pe) {
      const i64 time = std::max({passed_[pe] + 1, before, raw_.room(pe + 1)});
      if (pe > 0) raw_.leave(pe, time);
      raw_.arrive(pe + 1);
      passed_[pe] = time;
      before = time + 1;
    }
    i64 time = std::max(passed_[pipeline] + 1, before);
    if (w < words) {
      const i64 base = w > 0 ? last_[pipeline] + 1 : free_[pipeline];
      time = move(pipeline, base, pipeline > 0 ? before + ramp_ : 0, passed_[pipeline] + 1);
      last_[pipeline] = time;
    }
    if (pipeline > 0) raw_.leave(pipeline, time);
    passed_[pipeline] = time;
  }
  note(pipeline, free_[pipeline], last_[pipeline] + 1, Doing::receive);
  end_move(pipeline, last_[pipeline]);
}

// A control word that passes all routers and ends at the last.
void ChainTimes::route_control(u32 routers) {
  i64 before = 0;
  for (u32 pe = 0; pe < routers; ++pe) {
    const i64 room = pe + 1 < routers ? raw_.room(pe + 1) : 0;
    const i64 time = std::max({passed_[pe] + 1, before, room});
    if (pe > 0) raw_.leave(pe, time);
    if (pe + 1 < routers) raw_.arrive(pe + 1);
    passed_[pe] = time;
    before = time + 1;
  }
}

// Every PE computes the block that it has; the last of a pipeline may send what has come of it.
void ChainTimes::compute() {
  for (u32 place = 0; place < length_; ++place)
    for (u32 pipeline = 0; pipeline < rounds_[place].size(); ++pipeline) {
      const u32 pe = pipeline * length_ + place;
      const u32 cycles = costs_.cycles[place][width_of_pipeline(rounds_[place], pipeline)];
      if (keeps_intervals_) computed_[pe].push_back({u64(free_[pe]), u64(free_[pe]) + cycles});
      note(pe, free_[pe], free_[pe] + cycles, Doing::compute);
      free_[pe] += cycles;
      spent_[pe].compute += cycles;
    }
  if (job_.collect == Collect::back) collect(rounds_.back());
}

// What the PEs made in the last round; a PE sends before it receives.
void ChainTimes::hand_on() {
  for (u32 place = length_ - 1; place-- > 0;)
    for (u32 pipeline = 0; pipeline < rounds_[place].size(); ++pipeline)
      hand_on(pipeline * length_ + place,
              costs_.words[place + 1][width_of_pipeline(rounds_[place], pipeline)]);
}

// From core to core of the next PE.
void ChainTimes::hand_on(u32 pe, u32 words) {
  for (u32 w = 0; w < words; ++w) {
    const i64 sent = move(pe, w > 0 ? last_[pe] + 1 : free_[pe], 0, intermediate_.room(pe + 1));
    intermediate_.arrive(pe + 1);
    last_[pe] = sent;
    const i64 taken = move(pe + 1, w > 0 ? last_[pe + 1] + 1 : free_[pe + 1], sent + hop_, 0);
    intermediate_.leave(pe + 1, taken);
    last_[pe + 1] = taken;
  }
  note(pe, free_[pe], last_[pe] + 1, Doing::send);
  note(pe + 1, free_[pe + 1], last_[pe + 1] + 1, Doing::receive);
  end_move(pe, last_[pe]);
  end_move(pe + 1, last_[pe + 1]);
}

u8 ChainTimes::width_of_pipeline(std::span<const u8> widths, u32 pipeline) const {
  return widths[job_.nearest_first() ? pipeline : widths.size() - 1 - pipeline];
}

// Outputs go back past the PEs nearer to the edge, which have sent theirs before. Behind its own a
// core turns its router to let those of others pass; behind the last of a round a control word
// turns all routers back.
void ChainTimes::collect(std::span<const u8> widths) {
  const auto blocks = u32(widths.size());
  for (u32 pipeline = 0; pipeline < blocks; ++pipeline) {
    const u32 source = pipeline * length_ + length_ - 1;
    const u32 words = costs_.words[length_][width_of_pipeline(widths, pipeline)];
    const bool is_farthest = pipeline + 1 == blocks;
    for (u32 w = 0; w <= words; ++w) {
      const i64 base = w > 0 ? last_[source] + 1 : free_[source];
      const bool stays = w == words && !is_farthest;  // the control word turns this router only
      i64 room = w == 0 ? may_send_[source] : 0;
      if (!stays && source > 0) room = std::max(room, output_.room(source - 1));
      const i64 time = move(source, base, 0, room);
      last_[source] = time;
      if (stays) {
        may_pass_[source] = time + ramp_ + 1;
        break;
      }
      i64 before = time + ramp_ + 1;
      if (source > 0) output_.arrive(source - 1);
      for (u32 pe = source; pe-- > 0;) {
        i64 passes = std::max({before, sent_[pe] + 1, may_pass_[pe]});
        if (pe > 0) passes = std::max(passes, output_.room(pe - 1));
        output_.leave(pe, passes);
        if (pe > 0) output_.arrive(pe - 1);
        sent_[pe] = passes;
        if (w == words && pe % length_ + 1 == length_) may_send_[pe] = passes + 1;
        before = passes + 1;
      }
      left_ = std::max(left_, before);
    }
    note(source, free_[source], last_[source] + 1, Doing::send);
    end_move(source, last_[source]);
  }
}

i64 ChainTimes::end() const { return std::max(left_, *std::ranges::max_element(free_)); }

}  // namespace leeway::fabric
