// SPDX-License-Identifier: BSD-3-Clause
// ChainTimes: when every PE of one chain does what, round by round, word by word (rows.h).
#pragma once

#include "leeway/fabric/ceresz.h"

namespace leeway::fabric {

// Words and cycles of a pipeline's PEs, for every width.
struct PipelineCosts {
  static constexpr u32 kWidths = kMostWidth + 1;
  std::vector<std::array<u32, kWidths>> words;   // in front of PE p, and behind the last
  std::vector<std::array<u32, kWidths>> cycles;  // of PE p

  explicit PipelineCosts(const Job& job);
};

class ChainTimes {
 public:
  // PEs of this chain stand side by side, the first one first.
  ChainTimes(const Job& job, const PipelineCosts& costs, u32 count, bool keeps_intervals);

  // All pipelines up to the number of widths take a block, in the order of Chain::blocks.
  void round(std::span<const u8> widths, bool is_last);
  // Behind the last one: what is still in the pipelines comes out.
  void finish();
  // When the first PE could take the next block.
  i64 first_free() const { return free_[0]; }
  i64 end() const;
  const Spent& spent(u32 pe) const { return spent_[pe]; }
  const std::vector<Interval>& computed(u32 pe) const { return computed_[pe]; }
  const std::vector<Activity>& activities(u32 pe) const { return activities_[pe]; }

 private:
  // The words that wait at one PE: when each of the last Q has gone.
  class Queues {
   public:
    Queues(u32 count, u32 depth) : depth_(depth), gone_(size_t(count) * depth, -1), at_(count) {}
    // The next word that comes to this PE has room from then on.
    i64 room(u32 pe) const { return gone_[size_t(pe) * depth_ + at_[pe].in] + 1; }
    void arrive(u32 pe) { at_[pe].in = at_[pe].in + 1 == depth_ ? 0 : at_[pe].in + 1; }
    void leave(u32 pe, i64 time) {
      gone_[size_t(pe) * depth_ + at_[pe].out] = time;
      at_[pe].out = at_[pe].out + 1 == depth_ ? 0 : at_[pe].out + 1;
    }

   private:
    struct Place {
      u32 in = 0, out = 0;
    };
    u32 depth_;
    std::vector<i64> gone_;
    std::vector<Place> at_;
  };

  void relay(u32 block, u32 pipeline, u32 width, u32 blocks);
  void route(u32 pipeline, u32 width);
  void route_control(u32 routers);
  void hand_on();
  void compute();
  void hand_on(u32 pe, u32 words);
  void collect(std::span<const u8> widths);
  u8 width_of_pipeline(std::span<const u8> widths, u32 pipeline) const;
  void end_move(u32 pe, i64 last);
  void note(u32 pe, i64 begin, i64 end, Doing doing);
  // A core moves a word that is there at `available`, and has room at `room`.
  i64 move(u32 pe, i64 base, i64 available, i64 room);

  const Job& job_;
  const PipelineCosts& costs_;
  u32 length_;
  i64 hop_, ramp_, start_;
  bool keeps_intervals_;
  std::vector<i64> free_;                 // when a PE may begin its next move or task
  std::vector<i64> last_;                 // its last word
  std::vector<i64> passed_, sent_;        // a router's last word, raw and output
  std::vector<i64> may_send_, may_pass_;  // by the position of the output route
  std::vector<std::vector<u8>> rounds_;   // widths: what the PEs at each place of a pipeline have
  i64 left_ = 0;                          // the last word on its way out
  Queues raw_, intermediate_, output_;
  std::vector<Spent> spent_;
  std::vector<std::vector<Interval>> computed_;
  std::vector<std::vector<Activity>> activities_;
};

}  // namespace leeway::fabric
