// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/mesh.h"

#include <algorithm>
#include <deque>
#include <queue>
#include <tuple>
#include <utility>

#include "leeway/base/error.h"

namespace leeway::fabric {
namespace {

constexpr Side kLinks[] = {Side::west, Side::east, Side::north, Side::south};

Side opposite(Side side) {
  constexpr Side kOpposite[] = {Side::east, Side::west, Side::south, Side::north, Side::ramp};
  return kOpposite[u8(side)];
}
bool has(u8 set, Side side) { return (set & in_set(side)) != 0; }

}  // namespace

// Words of one color at one router, and its route.
struct Mesh::Queue {
  struct Waiting {
    Word word;
    Side from;
    u64 arrived;
  };
  Route route;
  u8 position = 0;
  bool is_switching = false;  // by a control word from the core, which waits for it
  std::deque<Waiting> words;
  u32 taken = 0;          // room that is used, words on their way included
  std::vector<Word> fed;  // at an edge
  size_t next_fed = 0;
  std::vector<Word> left;
  u64 last = ~u64(0);  // cycle in which the last word was taken out

  bool is_fed() const { return next_fed < fed.size(); }
  const Position* now() const {
    return route.positions.empty() ? nullptr : &route.positions[position];
  }
};

// In order of cycle, phase and place. What happens in one phase never depends on that order.
struct Mesh::Event {
  enum class Phase : u8 { change, task_end, dispatch, attempt };
  u64 cycle;
  Phase phase;
  u32 place;  // number of the core
  std::function<void()> change;

  bool operator>(const Event& other) const {
    return std::tie(cycle, phase, place) > std::tie(other.cycle, other.phase, other.place);
  }
};
struct Mesh::Events {
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue;
  std::vector<u64> attempted;  // by core: its last cycle
  using Phase = Event::Phase;

  void add(u64 cycle, Phase phase, u32 place, std::function<void()> change = {}) {
    queue.push({cycle, phase, place, std::move(change)});
  }
};

Mesh::Mesh(const Machine& machine, u32 columns, u32 rows)
    : machine_(machine),
      columns_(columns),
      rows_(rows),
      cores_(size_t(columns) * rows),
      queues_(size_t(columns) * rows * machine.colors),
      reserved_(size_t(columns) * rows),
      events_(std::make_unique<Events>()) {
  if (columns == 0 || rows == 0) fail_argument("a mesh has at least one PE");
  if (machine.queue == 0) fail_argument("a queue has room for at least one word");
  events_->attempted.assign(cores_.size(), ~u64(0));
  for (u32 place = 0; place < cores_.size(); ++place) {
    cores_[place].mesh_ = this;
    cores_[place].column_ = place % columns;
    cores_[place].row_ = place / columns;
  }
}
Mesh::~Mesh() = default;

std::string Core::name() const {
  return "PE (column " + std::to_string(column_) + ", row " + std::to_string(row_) + ")";
}
u64 Core::now() const { return mesh_->now(); }

void Core::allocate(const std::string& what, u32 bytes) {
  const u32 memory = mesh_->machine().memory;
  if (bytes > memory - std::min(memory, memory_used_))
    fail_argument(name() + " has " + std::to_string(memory) + " bytes of memory; " + what +
                  " would make it " + std::to_string(u64(memory_used_) + bytes));
  memory_used_ += bytes;
}

void Core::bind(u8 task, Task what) {
  if (tasks_.size() <= task) tasks_.resize(size_t(task) + 1);
  tasks_[task] = std::move(what);
  is_finished_ = false;
}

// From within a task or an event; takes place at once.
void Core::activate(u8 task) {
  if (task >= tasks_.size() || !tasks_[task].begin)
    fail_argument(name() + " activates a task that it does not have");
  ready_.push_back(task);
  mesh_->events_->add(mesh_->now_, Mesh::Events::Phase::dispatch, row_ * mesh_->columns_ + column_);
}

void Core::start(Move move) {
  if (moving_.size() >= mesh_->machine().moves)
    fail_argument(name() + " starts more than " + std::to_string(mesh_->machine().moves) +
                  " moves at once");
  for (const Color color : {move.from, move.to})
    if (color != kNoColor) mesh_->check_color(*this, color);
  moving_.push_back({std::move(move), mesh_->now_});
  mesh_->wake(*this, mesh_->now_);
}

Core& Mesh::at(u32 column, u32 row) { return cores_.at(size_t(row) * columns_ + column); }

Mesh::Queue* Mesh::queue(const Core& core, Color color) const {
  const size_t place = size_t(core.row_) * columns_ + core.column_;
  return queues_[place * machine_.colors + color].get();
}

void Mesh::check_color(const Core& core, Color color) const {
  if (color >= machine_.colors)
    fail_argument(core.name() + " uses color " + std::to_string(color) + "; there are " +
                  std::to_string(machine_.colors));
  if (!queue(core, color))
    fail_argument(core.name() + " uses color " + std::to_string(color) + ", which has no route");
}

void Mesh::set_route(u32 column, u32 row, Color color, Route route) {
  const Core& core = at(column, row);
  if (color >= machine_.colors) check_color(core, color);
  if (route.positions.empty() || route.positions.size() > 2)
    fail_argument(core.name() + ": a route has one or two positions");
  auto& queue = queues_[(size_t(row) * columns_ + column) * machine_.colors + color];
  queue = std::make_unique<Queue>();
  queue->route = std::move(route);
}

const Route* Mesh::route(u32 column, u32 row, Color color) const {
  const Queue* const q = queue(at(column, row), color);
  return q ? &q->route : nullptr;
}

void Mesh::feed(u32 column, u32 row, Color color, std::vector<Word> words) {
  check_color(at(column, row), color);
  for (const Word& word : words) ++(word.control == Control::none ? count_.fed : count_.control);
  queue(at(column, row), color)->fed = std::move(words);
}

const std::vector<Word>& Mesh::left(u32 column, u32 row, Color color) const {
  check_color(at(column, row), color);
  return queue(at(column, row), color)->left;
}

Core* Mesh::neighbour(const Core& core, Side side) {
  const i64 column = i64(core.column_) + (side == Side::east) - (side == Side::west);
  const i64 row = i64(core.row_) + (side == Side::south) - (side == Side::north);
  const bool is_inside = column >= 0 && column < i64(columns_) && row >= 0 && row < i64(rows_);
  return is_inside ? &at(u32(column), u32(row)) : nullptr;
}

void Mesh::wake(const Core& core, u64 cycle) {
  events_->add(cycle, Events::Phase::attempt, core.row_ * columns_ + core.column_);
}

u64 Mesh::run() {
  check_circles();
  for (Core& core : cores_) wake(core, 0);
  while (!events_->queue.empty()) {
    Event event = std::move(const_cast<Event&>(events_->queue.top()));
    events_->queue.pop();
    now_ = event.cycle;
    Core& core = cores_[event.place];
    switch (event.phase) {
      case Event::Phase::change:
        event.change();
        break;
      case Event::Phase::task_end:
        end_task(core);
        core.end_ = std::max(core.end_, now_);
        break;
      case Event::Phase::dispatch:
        dispatch(core);
        break;
      case Event::Phase::attempt:
        if (std::exchange(events_->attempted[event.place], now_) != now_) attempt(core);
        break;
    }
  }
  for (const Core& core : cores_)
    if (!core.is_finished_ || !core.moving_.empty()) report_deadlock();
  u64 end = 0;
  for (const Core& core : cores_) end = std::max(end, core.end_);
  return end;
}

void Mesh::dispatch(Core& core) {
  if (core.running_ >= 0 || core.ready_.empty()) return;
  const auto lowest = std::ranges::min_element(core.ready_);
  core.running_ = *lowest;
  core.ready_.erase(lowest);
  const u64 cycles = core.tasks_[size_t(core.running_)].begin();
  events_->add(now_ + cycles, Events::Phase::task_end, core.row_ * columns_ + core.column_);
}

void Mesh::end_task(Core& core) {
  const auto task = size_t(std::exchange(core.running_, -1));
  core.tasks_[task].end();
  dispatch(core);
}

// Everything that a PE can do in this cycle.
void Mesh::attempt(Core& core) {
  bool moved = false;
  for (size_t k = 0; k < core.moving_.size();) {
    const size_t before = core.moving_.size();
    moved |= attempt_move(core, core.moving_[k]);
    if (core.moving_.size() == before) ++k;
  }
  for (Color color = 0; color < machine_.colors; ++color)
    if (queue(core, color)) moved |= attempt_route(core, color);
  if (moved) wake(core, now_ + 1);
}

bool Mesh::has_room(Core& core, Color color, u8 sides) {
  for (const Side side : kLinks) {
    Core* const next = has(sides, side) ? neighbour(core, side) : nullptr;
    if (!next) continue;
    check_color(*next, color);
    if (queue(*next, color)->taken >= machine_.queue) return false;
  }
  return true;
}

bool Mesh::links_are_free(const Core& core, u8 sides, u64 cycle) {
  for (const Side side : kLinks) {
    if (!has(sides, side)) continue;
    auto& used = reserved_[size_t(core.row_) * columns_ + core.column_][u8(side)];
    std::erase_if(used, [&](u64 c) { return c < now_; });
    if (std::ranges::find(used, cycle) != used.end()) {
      wake(core, now_ + 1);
      return false;
    }
  }
  return true;
}

// The word is on the links in cycle `leaves`.
void Mesh::transmit(Core& core, Color color, u8 sides, const Word& word, u64 leaves) {
  for (const Side side : kLinks) {
    if (!has(sides, side)) continue;
    reserved_[size_t(core.row_) * columns_ + core.column_][u8(side)].push_back(leaves);
    Core* const next = neighbour(core, side);
    if (!next) {
      queue(core, color)->left.push_back(word);
      if (word.control == Control::none) ++count_.left;
      core.end_ = std::max(core.end_, leaves + 1);
      continue;
    }
    Queue* const to = queue(*next, color);
    ++to->taken;
    const u64 arrives = leaves + 1;
    events_->add(arrives, Events::Phase::change, next->row_ * columns_ + next->column_,
                 [this, to, next, word, side, arrives] {
                   to->words.push_back({word, opposite(side), arrives});
                   wake(*next, arrives);
                   wake(*next, arrives + machine_.ramp);
                 });
  }
}

// Its room can be used from the next cycle on, by whoever sends there.
void Mesh::remove_front(Core& core, Queue& queue) {
  queue.last = now_;
  if (queue.words.empty()) {
    ++queue.next_fed;
    return;
  }
  const Side from = queue.words.front().from;
  queue.words.pop_front();
  Core* const sender = neighbour(core, from);
  events_->add(now_ + 1, Events::Phase::change, core.row_ * columns_ + core.column_,
               [this, &queue, sender, cycle = now_ + 1] {
                 --queue.taken;
                 if (sender) wake(*sender, cycle);
               });
}

void Mesh::switch_route(Core& core, Queue& queue, u8 position, u64 from) {
  if (queue.route.positions.size() < 2) return;
  events_->add(from, Events::Phase::change, core.row_ * columns_ + core.column_,
               [this, &core, &queue, position, from] {
                 queue.position = position;
                 queue.is_switching = false;
                 wake(core, from);
               });
}

// One word of a move, if there is one, and room for it.
bool Mesh::attempt_move(Core& core, Core::Moving& moving) {
  Move& move = moving.move;
  Word word;
  u64 available = 0;
  Queue* from = nullptr;
  const bool is_control = move.from == kNoColor && moving.done == move.memory->size();
  const auto is_same = [&](const Core::Moving& m) {
    return &m == &moving || (move.from != kNoColor && m.move.from == move.from);
  };
  if (moving.base > now_ || &*std::ranges::find_if(core.moving_, is_same) != &moving) return false;
  if (move.from != kNoColor) {
    from = queue(core, move.from);
    const Position* const at = from->now();
    if (!has(at->transmit, Side::ramp) || core.last_in_ == now_ || from->last == now_) return false;
    if (!from->words.empty()) {
      const Queue::Waiting& first = from->words.front();
      available = first.arrived + machine_.ramp;
      if (available > now_ || !has(at->receive, first.from)) return false;
      word = first.word;
    } else if (from->is_fed()) {
      word = from->fed[from->next_fed];
    } else {
      return false;
    }
    if (word.control != Control::none) return false;  // for the router
  } else {
    word = is_control ? Word{0, move.ends} : Word{(*move.memory)[moving.done]};
  }
  if (move.to != kNoColor) {
    Queue* const to = queue(core, move.to);
    if (core.last_out_ == now_) return false;
    const Position* const at = to->now();
    if (!has(at->receive, Side::ramp) || to->is_switching) return false;
    const bool stays = word.control == Control::advance && to->position == 0;
    const u8 sides = stays ? 0 : at->transmit;
    if (!has_room(core, move.to, sides)) return false;
    if (!links_are_free(core, sides, now_ + machine_.ramp)) return false;
    transmit(core, move.to, sides, word, now_ + machine_.ramp);
    if (word.control != Control::none) {
      ++count_.control;
      to->is_switching = stays;
      if (stays) switch_route(core, *to, 1, now_ + machine_.ramp + 1);
    }
    core.last_out_ = now_;
    if (move.from == kNoColor && word.control == Control::none) ++count_.sent;
  } else {
    move.memory->push_back(word.value);
    ++count_.taken;
  }
  if (from) {
    core.last_in_ = now_;
    if (moving.left == 0) moving.left = move.size(word.value);
    remove_front(core, *from);
  }
  core.spent_.wait_words += std::max(moving.base, available) - moving.base;
  core.spent_.wait_room += now_ - std::max(moving.base, available);
  ++core.spent_.move;
  moving.base = now_ + 1;
  bool ended;
  if (from) {
    if (--moving.left == 0) --move.blocks;
    ended = moving.left == 0 && move.blocks == 0;
  } else {
    ++moving.done;
    ended = moving.done == move.memory->size() + (move.ends == Control::none ? 0 : 1);
  }
  if (ended) {
    const u8 then = move.then;
    const Color color = move.from;
    std::erase_if(core.moving_, [&](const Core::Moving& m) { return &m == &moving; });
    for (Core::Moving& next : core.moving_)
      if (color != kNoColor && next.move.from == color) next.base = now_ + 1;
    if (then != kNoTask)
      events_->add(now_ + 1, Events::Phase::change, core.row_ * columns_ + core.column_,
                   [&core, then] { core.activate(then); });
  }
  return true;
}

// One word that a router passes on, without the core.
bool Mesh::attempt_route(Core& core, Color color) {
  Queue& q = *queue(core, color);
  if (q.last == now_ || (q.words.empty() && !q.is_fed())) return false;
  const bool is_fed = q.words.empty();
  const Word word = is_fed ? q.fed[q.next_fed] : q.words.front().word;
  const Position& at = *q.now();
  if (!is_fed && !has(at.receive, q.words.front().from)) return false;
  const bool stays = word.control == Control::advance && q.position == 0;
  if (!stays && word.control == Control::none && has(at.transmit, Side::ramp)) return false;
  const u8 sides = stays ? u8(0) : u8(at.transmit & ~in_set(Side::ramp));
  if (!has_room(core, color, sides) || !links_are_free(core, sides, now_)) return false;
  transmit(core, color, sides, word, now_);
  if (stays || word.control == Control::reset) switch_route(core, q, stays ? 1 : 0, now_ + 1);
  remove_front(core, q);
  return true;
}

// Words of a color that come in at a side go out at others; a way that leads back is an error.
void Mesh::check_circles() const {
  const size_t places = cores_.size() * 4;
  for (Color color = 0; color < machine_.colors; ++color) {
    std::vector<u8> state(places, 0);  // 1: on the way, 2: done
    std::vector<size_t> way;
    const std::function<void(size_t)> visit = [&](size_t place) {
      if (state[place] == 2) return;
      const Core& core = cores_[place / 4];
      if (state[place] == 1)
        fail_argument("color " + std::to_string(color) + " goes in a circle of " +
                      std::to_string(way.end() - std::ranges::find(way, place)) +
                      " routers through " + core.name());
      state[place] = 1;
      way.push_back(place);
      const Queue* const q = queue(core, color);
      for (const Position& at : q ? q->route.positions : std::vector<Position>()) {
        if (!has(at.receive, Side(place % 4))) continue;
        for (const Side side : kLinks) {
          const Core* const next =
              has(at.transmit, side) ? const_cast<Mesh*>(this)->neighbour(core, side) : nullptr;
          if (next) visit((size_t(next->row_) * columns_ + next->column_) * 4 + u8(opposite(side)));
        }
      }
      way.pop_back();
      state[place] = 2;
    };
    for (size_t place = 0; place < places; ++place)
      if (queue(cores_[place / 4], color)) visit(place);
  }
}

void Mesh::report_deadlock() const {
  size_t waiting = 0;
  std::string first;
  for (const Core& core : cores_) {
    if (core.is_finished_ && core.moving_.empty()) continue;
    if (waiting++ > 0) continue;
    first = core.name() + " waits for ";
    if (core.moving_.empty()) {
      first += "a task";
    } else {
      const Move& move = core.moving_.front().move;
      const bool has_words = move.from == kNoColor || !queue(core, move.from)->words.empty();
      first += has_words ? "room on color " + std::to_string(move.to)
                         : "words of color " + std::to_string(move.from);
    }
  }
  throw Error(Errc::invalid_argument, "deadlock in cycle " + std::to_string(now_) + ": " + first +
                                          ", and " + std::to_string(waiting - 1) +
                                          " others wait, too");
}

}  // namespace leeway::fabric
