// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/gpu/emulator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <utility>

#include "leeway/base/error.h"
#include "leeway/gpu/fiber.h"
#include "leeway/gpu/store_buffer.h"
#include "leeway/gpu/watched.h"

namespace leeway::gpu::emulator {
namespace {

constexpr unsigned kTile = 32;
// So many turns of waves in which none wrote anything, came through a barrier or ended are too
// many.
constexpr std::uint64_t kPatience = 1u << 16;

enum class Operation : std::uint8_t { none, tile_sync, shuffle, ballot, barrier };

// What lanes wait for together: `generation` changes when the last has arrived.
struct Meeting {
  unsigned arrived = 0;
  std::uint32_t generation = 0;
  Operation operation = Operation::none;
};

struct Tile {
  Meeting meeting;
  std::array<std::array<std::uint64_t, kTile>, 2> values{};
  std::uint32_t epoch = 0;  // tile_sync() so far
  Transactions transactions;
};

struct Cta;
struct Lane {
  Fiber fiber;
  Cta* cta = nullptr;
  unsigned number = 0;
  bool is_done = false;
  const Meeting* waits_for = nullptr;
  std::uint32_t generation = 0;

  bool can_go_on() const { return !is_done && (!waits_for || waits_for->generation != generation); }
};

struct Cta {
  unsigned number = 0;
  std::uint64_t age = 0;
  unsigned alive = 0;
  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<Tile> tiles;
  Meeting barrier;
  std::uint32_t epoch = 0;    // barriers so far
  std::uint32_t tickets = 0;  // of a mutant
  WatchedShared shared;
  StoreBuffer stores;
};

// The stacks of so many lanes are kept from run to run.
std::vector<std::unique_ptr<Cta>>& spare_ctas() {
  thread_local std::vector<std::unique_ptr<Cta>> spare;
  return spare;
}

class Machine {
 public:
  Machine(const Launch& launch, const Options& options, const std::function<void(void*)>& body)
      : launch_(launch),
        options_(options),
        body_(body),
        memory_(launch.regions, options.watches),
        random_(options.seed) {}

  Counts run() {
    std::vector<unsigned> waiting(launch_.ctas);
    std::iota(waiting.begin(), waiting.end(), 0u);
    std::uint64_t idle = 0;
    while (!waiting.empty() || !running_.empty()) {
      while (!waiting.empty() && running_.size() < std::max(1u, options_.resident)) {
        std::swap(waiting[random_() % waiting.size()], waiting.back());
        start(waiting.back());
        waiting.pop_back();
      }
      Cta& cta = *running_[choose_cta()];
      has_worked_ = false;
      run_wave(cta, unsigned(random_() % waves()));
      idle = has_worked_ ? 0 : idle + 1;
      if (!reason_.empty()) throw Error(Errc::internal, reason_);
      if (idle > kPatience) throw Error(Errc::internal, stuck());
      if (options_.late_stores) drain_some(cta);
      if (cta.alive == 0) finish(cta);
    }
    for (StoreBuffer& stores : left_) stores.drain_all(memory_);
    return counts_;
  }

  Lane& lane() { return *lane_; }
  Cta& cta() { return *lane_->cta; }
  Tile& tile() { return cta().tiles[lane_->number / kTile]; }
  const Launch& launch() const { return launch_; }
  Counts& counts() { return counts_; }
  WatchedGlobal& memory() { return memory_; }
  bool watches() const { return options_.watches; }
  bool has_late_stores() const { return options_.late_stores; }
  bool is(Mutant mutant) const { return options_.mutant == mutant; }

  // Waits until `count` lanes have come here.
  void meet(Meeting& meeting, Operation operation, unsigned count) {
    if (meeting.arrived > 0 && meeting.operation != operation)
      fail("lanes of a tile, or threads of a CTA, are at different operations");
    meeting.operation = operation;
    if (++meeting.arrived == count) {
      meeting.arrived = 0;
      ++meeting.generation;
      if (operation == Operation::barrier) note_work();
      return;
    }
    lane_->waits_for = &meeting;
    lane_->generation = meeting.generation;
    pause();
  }
  void note_work() { has_worked_ = true; }
  void pause() {
    Lane& own = *lane_;
    own.fiber.pause();
    own.waits_for = nullptr;
  }
  [[noreturn]] void fail(const std::string& reason) {
    reason_ = "the emulated GPU: CTA " + std::to_string(cta().number) + ", thread " +
              std::to_string(lane_->number) + ": " + reason;
    for (;;) lane_->fiber.pause();
  }
  static void enter(void* machine);

 private:
  unsigned waves() const { return (launch_.threads + options_.wave - 1) / options_.wave; }

  void start(unsigned number) {
    std::unique_ptr<Cta> cta;
    if (spare_.empty()) {
      cta = std::make_unique<Cta>();
    } else {
      // Shared memory holds what the CTA before has left.
      cta = std::move(spare_.back());
      spare_.pop_back();
    }
    while (cta->lanes.size() < launch_.threads) cta->lanes.push_back(std::make_unique<Lane>());
    cta->number = number;
    cta->age = ++age_;
    cta->alive = launch_.threads;
    cta->tiles.assign((launch_.threads + kTile - 1) / kTile, Tile());
    cta->barrier = Meeting();
    cta->epoch = cta->tickets = 0;
    cta->shared.reset(launch_.shared_bytes);
    for (unsigned i = 0; i < launch_.threads; ++i) {
      Lane& lane = *cta->lanes[i];
      lane.cta = cta.get();
      lane.number = i;
      lane.is_done = false;
      lane.waits_for = nullptr;
      lane.fiber.start(&Machine::enter, this);
    }
    running_.push_back(std::move(cta));
  }
  void finish(Cta& cta) {
    left_.push_back(std::exchange(cta.stores, {}));
    for (Tile& tile : cta.tiles) tile.transactions.flush(counts_);
    const auto at = std::ranges::find_if(running_, [&](const auto& p) { return p.get() == &cta; });
    spare_.push_back(std::move(*at));
    running_.erase(at);
  }

  void drain_some(Cta& cta) {
    if (random_() % 8 == 0) cta.stores.drain_one(random_(), memory_);
    if (left_.empty() || random_() % 64 != 0) return;
    std::swap(left_[random_() % left_.size()], left_.back());
    left_.back().drain_all(memory_);
    left_.pop_back();
  }

  std::size_t choose_cta() {
    const auto by_age = [](const auto& a, const auto& b) { return a->age < b->age; };
    const auto oldest = std::ranges::min_element(running_, by_age),
               newest = std::ranges::max_element(running_, by_age);
    const bool gives_in = random_() % 64 == 0;  // or nothing would ever end
    switch (options_.adversary) {
      case Adversary::random:
        break;
      case Adversary::starve_oldest: {
        const std::size_t index = random_() % running_.size();
        if (running_[index] != *oldest || gives_in || running_.size() == 1) return index;
        return (index + 1) % running_.size();
      }
      case Adversary::newest_first:
        if (!gives_in) return std::size_t(newest - running_.begin());
        break;
      case Adversary::one_by_one:
        if (!gives_in) return std::size_t(oldest - running_.begin());
        break;
    }
    return random_() % running_.size();
  }

  // Lanes of a wave in any order, some turns long.
  void run_wave(Cta& cta, unsigned wave) {
    const unsigned first = wave * options_.wave,
                   count = std::min(options_.wave, launch_.threads - first);
    std::array<unsigned, 64> order;
    std::iota(order.begin(), order.begin() + count, first);
    std::shuffle(order.begin(), order.begin() + count, random_);
    for (unsigned turns = 1 + unsigned(random_() % 64); turns > 0; --turns) {
      bool any = false;
      for (unsigned i = 0; i < count && reason_.empty(); ++i) {
        Lane& lane = *cta.lanes[order[i]];
        if (!lane.can_go_on()) continue;
        any = true;
        lane_ = &lane;
        lane.fiber.resume();
        if (lane.is_done) {
          --cta.alive;
          has_worked_ = true;
        }
      }
      if (!any || !reason_.empty()) return;
    }
  }

  std::string stuck() const {
    std::string text = "the emulated GPU: nothing goes on; waiting are";
    for (const auto& cta : running_)
      text += " CTA " + std::to_string(cta->number) + " with " + std::to_string(cta->alive) +
              " threads (" + std::to_string(cta->barrier.arrived) + " at a barrier)";
    return text;
  }

  const Launch& launch_;
  const Options& options_;
  const std::function<void(void*)>& body_;
  WatchedGlobal memory_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Cta>> running_;
  std::vector<std::unique_ptr<Cta>>& spare_ = spare_ctas();
  std::vector<StoreBuffer> left_;  // of CTAs that have ended
  Lane* lane_ = nullptr;
  std::uint64_t age_ = 0;
  bool has_worked_ = false;
  std::string reason_;
  Counts counts_;
};

thread_local Machine* machine = nullptr;

void Machine::enter(void* self) {
  Machine& m = *static_cast<Machine*>(self);
  m.body_(m.cta().shared.data());
  m.lane_->is_done = true;
  m.lane_->fiber.pause();
}

// Where a lane accesses global memory.
void check_global(const void* at, std::size_t bytes, bool writes) {
  if (const char* wrong = machine->memory().check(at, bytes, writes)) fault(wrong);
  machine->tile().transactions.add(machine->lane().number % kTile, at, bytes, machine->counts());
}

}  // namespace

Counts run(const Launch& launch, const Options& options, const std::function<void(void*)>& body) {
  Machine own(launch, options, body);
  Machine* const before = machine;
  machine = &own;
  try {
    const Counts counts = own.run();
    machine = before;
    return counts;
  } catch (...) {
    machine = before;
    throw;
  }
}

std::uint32_t thread() { return machine->lane().number; }
std::uint32_t cta() { return machine->cta().number; }
std::uint32_t ctas() { return machine->launch().ctas; }
void* shared_memory() { return machine->cta().shared.data(); }

void barrier() {
  if (machine->is(Mutant::no_barrier)) return tile_sync();
  Cta& cta = machine->cta();
  const std::uint32_t before = cta.epoch;
  machine->tile().transactions.flush(machine->counts());
  machine->meet(cta.barrier, Operation::barrier, machine->launch().threads);
  if (cta.epoch == before) {
    ++cta.epoch;
    ++machine->counts().barriers;
  }
}

void tile_sync() {
  Tile& tile = machine->tile();
  const std::uint32_t before = tile.epoch;
  tile.transactions.flush(machine->counts());
  machine->meet(tile.meeting, Operation::tile_sync, kTile);
  if (tile.epoch == before) {
    ++tile.epoch;
    ++machine->counts().tile_operations;
  }
}

namespace {

// All lanes give a value; valid until the next but one operation of the tile.
const std::array<std::uint64_t, kTile>& exchange(Operation operation, std::uint64_t value) {
  Tile& tile = machine->tile();
  auto& values = tile.values[tile.meeting.generation & 1];
  values[machine->lane().number % kTile] = value;
  if (machine->lane().number % kTile == 0) ++machine->counts().tile_operations;
  machine->meet(tile.meeting, operation, kTile);
  return values;
}

}  // namespace

std::uint64_t shuffle(std::uint64_t value, std::uint32_t from) {
  return exchange(Operation::shuffle, value)[from];
}

std::uint32_t ballot(bool vote) {
  const auto& votes = exchange(Operation::ballot, vote);
  std::uint32_t all = 0;
  for (unsigned i = 0; i < kTile; ++i) all |= std::uint32_t(votes[i]) << i;
  return all;
}

void shared_access(const void* at, std::size_t bytes, Access access) {
  Cta& cta = machine->cta();
  const Toucher who{machine->lane().number, cta.epoch, machine->tile().epoch};
  if (const char* wrong = cta.shared.access(at, bytes, access, who, machine->watches()))
    fault(wrong);
}

void read(const void* from, void* to, std::size_t bytes) {
  check_global(from, bytes, false);
  machine->counts().global_reads += bytes;
  std::memcpy(to, from, bytes);
  const bool is_written =
      machine->cta().stores.overlay(from, to, bytes, machine->memory(), machine->watches());
  if (!is_written) fault("reads global memory that nobody has written");
}

void write(void* to, const void* from, std::size_t bytes) {
  check_global(to, bytes, true);
  machine->counts().global_writes += bytes;
  machine->note_work();
  if (machine->has_late_stores()) return machine->cta().stores.put(to, from, bytes);
  std::memcpy(to, from, bytes);
  machine->memory().note_written(to, bytes);
}

std::uint32_t take_ticket(std::uint32_t* counter) {
  if (const char* wrong = machine->memory().check(counter, sizeof *counter, true)) fault(wrong);
  ++machine->counts().atomics;
  // The first of two counters side by side is that of tickets.
  if (machine->is(Mutant::cta_order) && reinterpret_cast<std::uintptr_t>(counter) % 8 == 0)
    return cta() + ctas() * machine->cta().tickets++;
  return (*counter)++;
}
void global_max(std::uint64_t* number, std::uint64_t value) {
  if (const char* wrong = machine->memory().check(number, sizeof *number, true)) fault(wrong);
  ++machine->counts().atomics;
  *number = std::max(*number, value);
}
std::uint64_t load_relaxed(const std::uint64_t* from) {
  if (const char* wrong = machine->memory().check(from, sizeof *from, false)) fault(wrong);
  ++machine->counts().atomics;
  return *from;
}
void store_relaxed(std::uint64_t* to, std::uint64_t value) {
  if (const char* wrong = machine->memory().check(to, sizeof *to, true)) fault(wrong);
  ++machine->counts().atomics;
  machine->note_work();
  if (machine->is(Mutant::split_state)) {
    *to = (*to & 0xffffffffu) | value >> 32 << 32;
    spin();
  }
  *to = value;
  machine->memory().note_written(to, sizeof value);
}
void fence() {
  if (!machine->is(Mutant::no_fence)) machine->cta().stores.drain_all(machine->memory());
}
void spin() {
  ++machine->counts().spins;
  machine->pause();
}
void fault(const std::string& reason) { machine->fail(reason); }

}  // namespace leeway::gpu::emulator
