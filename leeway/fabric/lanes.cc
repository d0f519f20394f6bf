// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/lanes.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/fabric/lanes.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_FABRIC_LANES_STATE
#define LEEWAY_FABRIC_LANES_STATE
namespace leeway::fabric_lanes {

inline constexpr size_t kLanes = fabric::LaneTimes::kLanes, kQueue = fabric::LaneTimes::kQueue;

// Of all PEs of 16 chains; see LaneTimes.
struct State {
  const i32* free;
  i32 *behind, *room, *wait_words, *wait_room;
};

}  // namespace leeway::fabric_lanes
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::fabric_lanes::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A block of 32 words comes to PE `target`. Words of a queue's length are done for all PEs before
// the next ones: the room that those need is what these have left.
void relay_block(const State& state, size_t target, i32 hop) {
  const hn::CappedTag<i32, kLanes> d;
  using V = hn::Vec<decltype(d)>;
  const V one = hn::Set(d, 1), to_next = hn::Set(d, hop - 1);
  for (size_t lane = 0; lane < kLanes; lane += hn::Lanes(d))
    for (size_t word = 0; word < fabric::kBlock; word += kQueue) {
      V there[kQueue];
      for (V& time : there) time = hn::Zero(d);
      for (size_t pe = 0; pe <= target; ++pe) {
        const size_t at = pe * kLanes + lane;
        i32* const own = state.room + pe * kQueue * kLanes + lane;
        const i32* const next = own + kQueue * kLanes;
        V base = hn::LoadU(d, (word == 0 ? state.free : state.behind) + at);
        V words = hn::LoadU(d, state.wait_words + at), room = hn::LoadU(d, state.wait_room + at);
        for (size_t k = 0; k < kQueue; ++k) {
          const V could = hn::Max(base, there[k]);
          const V time = pe < target ? hn::Max(could, hn::LoadU(d, next + k * kLanes)) : could;
          words = hn::Add(words, hn::Sub(could, base));
          room = hn::Add(room, hn::Sub(time, could));
          base = hn::Add(time, one);
          hn::StoreU(base, d, own + k * kLanes);
          there[k] = hn::Add(base, to_next);
        }
        hn::StoreU(base, d, state.behind + at);
        hn::StoreU(words, d, state.wait_words + at);
        hn::StoreU(room, d, state.wait_room + at);
      }
    }
}

}  // namespace leeway::fabric_lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::fabric_lanes {
HWY_EXPORT(relay_block);
}  // namespace leeway::fabric_lanes

namespace leeway::fabric {

bool LaneTimes::can_do(const Job& job) {
  return job.direction() == Direction::compress && job.length() == 1 &&
         job.relay != Relay::router && job.collect == Collect::none && job.machine.queue == kQueue;
}

LaneTimes::LaneTimes(const Job& job, const PipelineCosts& costs, u32 count)
    : job_(job),
      costs_(costs),
      count_(count),
      free_(size_t(count) * kLanes, 0),
      behind_(size_t(count) * kLanes, 0),
      room_((size_t(count) + 1) * kQueue * kLanes, 0),
      wait_words_(size_t(count) * kLanes, 0),
      wait_room_(size_t(count) * kLanes, 0),
      moved_(count, 0),
      started_(count, 0),
      spent_(size_t(count) * kLanes) {}

void LaneTimes::relay(u32 target) {
  const fabric_lanes::State state{free_.data(), behind_.data(), room_.data(), wait_words_.data(),
                                  wait_room_.data()};
  using namespace fabric_lanes;
  HWY_DYNAMIC_DISPATCH(relay_block)(state, target, i32(job_.machine.hop()));
  for (u32 pe = 0; pe <= target; ++pe) {
    const bool goes_on = job_.relay == Relay::bulk && pe < target;
    const i32 start = goes_on ? 0 : i32(job_.machine.start);
    for (size_t lane = 0; lane < kLanes; ++lane)
      free_[pe * kLanes + lane] = behind_[pe * kLanes + lane] + start;
    moved_[pe] += kBlock;
    started_[pe] += u64(start);
  }
}

void LaneTimes::round(std::span<const u8> widths) {
  const size_t blocks = widths.size() / kLanes;
  for (size_t k = 0; k < blocks; ++k) {
    const size_t target = blocks - 1 - k;
    relay(u32(target));
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const u32 cycles = costs_.cycles[0][widths[k * kLanes + lane]];
      free_[target * kLanes + lane] += i32(cycles);
      spent_[target * kLanes + lane].compute += cycles;
    }
  }
  rebase();
}

void LaneTimes::rebase() {
  const i32 least = *std::ranges::min_element(free_), most = *std::ranges::max_element(free_);
  if (most < (1 << 29)) return;
  base_ += least;
  for (Lanes* times : {&free_, &behind_, &room_})
    for (i32& time : *times) time = std::max(time - least, 0);
  for (size_t at = 0; at < spent_.size(); ++at) {
    spent_[at].wait_words += u64(std::exchange(wait_words_[at], 0));
    spent_[at].wait_room += u64(std::exchange(wait_room_[at], 0));
  }
}

i64 LaneTimes::end(u32 lane) const {
  i32 last = 0;
  for (u32 pe = 0; pe < count_; ++pe) last = std::max(last, free_[pe * kLanes + lane]);
  return base_ + last;
}

Spent LaneTimes::spent(u32 pe, u32 lane) const {
  const size_t at = size_t(pe) * kLanes + lane;
  Spent spent = spent_[at];
  spent.move = moved_[pe];
  spent.start = started_[pe];
  spent.wait_words += u64(wait_words_[at]);
  spent.wait_room += u64(wait_room_[at]);
  return spent;
}

}  // namespace leeway::fabric
#endif
