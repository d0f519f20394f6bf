// SPDX-License-Identifier: BSD-3-Clause
// Mesh: processing elements, routers and links, event by event. This is the definition of what a
// program does and when; the fast engine (rows.h) must equal it.
//
// A core runs tasks to their end, of those that are ready the one with the lowest number. Words
// move by asynchronous moves of a core (from a color or memory to a color or memory) and by
// routers, at most one a cycle over each link and each way between core and router. A word waits in
// the queue of the router that it has come to, one queue for every color, until the router passes
// it on or the core takes it; whoever sends a word needs room there.
//
//   from core to router, or back: `ramp` cycles        from router to router: 1 cycle
//   room that a word leaves can be used in the next cycle
//
// Routes say, for every color, from which sides a router takes words and where it sends them. A
// route may have two positions; control words switch between them, without the core.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "leeway/fabric/machine.h"

namespace leeway::fabric {

enum class Side : u8 { west, east, north, south, ramp };
inline constexpr std::string_view kSideNames[] = {"west", "east", "north", "south", "ramp"};
constexpr u8 in_set(Side side) { return u8(1u << u8(side)); }

using Color = u8;
inline constexpr Color kNoColor = 255;

// What a word does to the routers on its way. Advance: the first one in its first position takes
// the second, and the word ends there. Reset: every router takes its first position as it passes.
enum class Control : u8 { none, advance, reset };

struct Word {
  u32 value = 0;
  Control control = Control::none;
};

struct Position {
  u8 receive = 0, transmit = 0;  // sets of sides
};
struct Route {
  std::vector<Position> positions;  // one or two; words sent nowhere vanish
};

// How many words a block has, given its first one.
using BlockSize = std::function<u32(u32 first)>;

inline constexpr u8 kNoTask = 255;

// An asynchronous move of a core. Moves from one color follow each other without a gap.
struct Move {
  Color from = kNoColor;  // none: from memory
  Color to = kNoColor;    // none: to memory
  std::vector<u32>* memory = nullptr;
  u32 blocks = 1;
  BlockSize size = {};           // of a block that comes from a color
  Control ends = Control::none;  // a control word that is sent behind the words of memory
  u8 then = kNoTask;             // the task that its end activates
};

// A task begins with what it takes (cycles) and ends with what it has done.
struct Task {
  std::string name;
  std::function<u64()> begin;
  std::function<void()> end;
};

// Cycles of a PE by what it did. The rest is idle: before the first and behind the last work.
struct Spent {
  u64 compute = 0, start = 0, move = 0, wait_words = 0, wait_room = 0;
  u64 sum() const { return compute + start + move + wait_words + wait_room; }
  bool operator==(const Spent&) const = default;
};

class Mesh;

// A PE as its program sees it.
class Core {
 public:
  // Counts against the memory of the PE.
  void allocate(const std::string& what, u32 bytes);
  void bind(u8 task, Task what);
  void activate(u8 task);
  void start(Move move);
  // A program that ends its work says so; others that wait at the end are in a deadlock.
  void finish() { is_finished_ = true; }

  u32 column() const { return column_; }
  u32 row() const { return row_; }
  u64 now() const;
  u32 memory_used() const { return memory_used_; }
  // Of its last task, and of the last word on its way out of the mesh.
  u64 end() const { return end_; }
  const Spent& spent() const { return spent_; }
  Spent& spent() { return spent_; }
  std::string name() const;

 private:
  friend class Mesh;
  struct Moving {
    Move move;
    u64 base;      // when its next word could move, if it had one and room
    u32 left = 0;  // words of the block
    u32 done = 0;  // words read from memory
  };

  Mesh* mesh_ = nullptr;
  u32 column_ = 0, row_ = 0, memory_used_ = 0;
  bool is_finished_ = true;  // without a program
  std::vector<Task> tasks_;
  std::vector<u8> ready_;  // may hold a task several times
  int running_ = -1;
  std::vector<Moving> moving_;
  u64 end_ = 0;
  u64 last_in_ = ~u64(0), last_out_ = ~u64(0);  // cycles in which a word crossed the ramp
  Spent spent_;
};

class Mesh {
 public:
  Mesh(const Machine& machine, u32 columns, u32 rows);
  ~Mesh();

  Core& at(u32 column, u32 row);
  const Core& at(u32 column, u32 row) const { return const_cast<Mesh*>(this)->at(column, row); }
  void set_route(u32 column, u32 row, Color color, Route route);
  const Route* route(u32 column, u32 row, Color color) const;
  // Words that wait at an edge of the mesh, as many as the queue wants at any time.
  void feed(u32 column, u32 row, Color color, std::vector<Word> words);
  // What has left the mesh there, in order.
  const std::vector<Word>& left(u32 column, u32 row, Color color) const;

  // Until nothing moves; says how many cycles that took. Throws if programs wait forever, or if
  // the routes of a color lead in a circle.
  u64 run();
  u64 now() const { return now_; }
  const Machine& machine() const { return machine_; }
  // Words that were fed, that left, and that cores have taken to memory or sent from it.
  struct Count {
    u64 fed = 0, left = 0, taken = 0, sent = 0, control = 0;
  };
  const Count& count() const { return count_; }

 private:
  friend class Core;
  struct Queue;
  struct Event;
  struct Events;

  Queue* queue(const Core& core, Color color) const;
  Core* neighbour(const Core& core, Side side);
  void check_color(const Core& core, Color color) const;
  void check_circles() const;
  void wake(const Core& core, u64 cycle);
  void dispatch(Core& core);
  void end_task(Core& core);
  void attempt(Core& core);
  bool attempt_move(Core& core, Core::Moving& moving);
  bool attempt_route(Core& core, Color color);
  bool has_room(Core& core, Color color, u8 sides);
  bool links_are_free(const Core& core, u8 sides, u64 cycle);
  void transmit(Core& core, Color color, u8 sides, const Word& word, u64 leaves);
  void remove_front(Core& core, Queue& queue);
  void switch_route(Core& core, Queue& queue, u8 position, u64 from);
  [[noreturn]] void report_deadlock() const;

  Machine machine_;
  u32 columns_, rows_;
  u64 now_ = 0;
  std::vector<Core> cores_;
  std::vector<std::unique_ptr<Queue>> queues_;             // a PE's colors side by side
  std::vector<std::array<std::vector<u64>, 4>> reserved_;  // cycles in which links are used
  std::unique_ptr<Events> events_;
  Count count_;
};

}  // namespace leeway::fabric
