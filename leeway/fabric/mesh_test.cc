// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/fabric/mesh.h"

#include "leeway/fabric/ceresz.h"
#include "tests/support.h"

namespace leeway::fabric {
namespace {

constexpr u8 kWest = in_set(Side::west), kEast = in_set(Side::east), kNorth = in_set(Side::north),
             kSouth = in_set(Side::south), kRamp = in_set(Side::ramp);
const BlockSize kFour = [](u32) { return 4u; };

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing thrown";
}
#define EXPECT_SAYS(expression, words)                                      \
  EXPECT_NE(message_of([&] { expression; }).find(words), std::string::npos) \
      << message_of([&] { expression; })

// A program that starts a move and is done when that ends.
void move_once(Core& core, Move move) {
  core.bind(0, {"done", [] { return u64(0); }, [&core] { core.finish(); }});
  move.then = 0;
  core.start(std::move(move));
}

// From core to core: two ramps and a link a PE, a word a cycle.
TEST(WaferMesh, WordsTakeAsLongAsRampsAndLinks) {
  Machine machine;
  machine.ramp = 3;
  Mesh mesh(machine, 3, 1);
  mesh.set_route(0, 0, 5, {{{kRamp, kEast}}});
  mesh.set_route(1, 0, 5, {{{kWest, kEast}}});
  mesh.set_route(2, 0, 5, {{{kWest, kRamp}}});
  std::vector<u32> sent{1, 2, 3, 4}, received;
  move_once(mesh.at(0, 0), {.to = 5, .memory = &sent});
  move_once(mesh.at(2, 0), {.from = 5, .memory = &received, .size = kFour});
  EXPECT_EQ(mesh.run(), 3 + 1 + 1 + 3 + 4);
  EXPECT_EQ(received, sent);
  EXPECT_EQ(mesh.at(2, 0).spent(), (Spent{.move = 4, .wait_words = 8}));
}

// A receiver that never comes stops the sender when the queues on the way are full.
TEST(WaferMesh, SendersWaitForRoomAndADeadlockIsReportedWithItsCycle) {
  Machine machine;
  machine.queue = 3;
  Mesh mesh(machine, 2, 1);
  mesh.set_route(0, 0, 1, {{{kRamp, kEast}}});
  mesh.set_route(1, 0, 1, {{{kWest, kRamp}}});
  std::vector<u32> sent(10);
  move_once(mesh.at(0, 0), {.to = 1, .memory = &sent});
  const std::string message = message_of([&] { mesh.run(); });
  EXPECT_NE(message.find("deadlock in cycle "), std::string::npos) << message;
  EXPECT_NE(message.find("PE (column 0, row 0) waits for room on color 1"), std::string::npos);
  EXPECT_EQ(mesh.at(0, 0).spent().move, 3u);
}

TEST(WaferMesh, ReportsWhoWaitsForWordsThatNeverCome) {
  Mesh mesh(Machine(), 2, 2);
  mesh.set_route(1, 1, 2, {{{kWest, kRamp}}});
  std::vector<u32> received;
  move_once(mesh.at(1, 1), {.from = 2, .memory = &received, .size = kFour});
  EXPECT_SAYS(mesh.run(), "PE (column 1, row 1) waits for words of color 2");
}

TEST(WaferMesh, ReportsRoutesThatLeadInACircle) {
  Mesh mesh(Machine(), 2, 2);
  mesh.set_route(0, 0, 3, {{{u8(kSouth | kRamp), kEast}}});
  mesh.set_route(1, 0, 3, {{{kWest, kSouth}}});
  mesh.set_route(1, 1, 3, {{{kNorth, kWest}}});
  mesh.set_route(0, 1, 3, {{{kEast, kNorth}}});
  EXPECT_SAYS(mesh.run(), "color 3 goes in a circle of 4 routers");
}

TEST(WaferMesh, LimitsAreErrorsThatNameThePeAndWhatItNeeds) {
  Machine machine;
  machine.moves = 2;
  Mesh mesh(machine, 2, 1);
  Core& core = mesh.at(1, 0);
  core.allocate("half", 24 * 1024);
  EXPECT_SAYS(core.allocate("more", 24 * 1024 + 1),
              "PE (column 1, row 0) has 49152 bytes of memory; more would make it 49153");
  EXPECT_SAYS(mesh.set_route(1, 0, 24, {{{kWest, kRamp}}}), "uses color 24; there are 24");
  EXPECT_SAYS(core.start({.from = 4}), "color 4, which has no route");
  EXPECT_SAYS(core.activate(3), "a task that it does not have");
  mesh.set_route(1, 0, 4, {{{kWest, kRamp}}});
  core.start({.from = 4});
  core.start({.from = 4});
  EXPECT_SAYS(core.start({.from = 4}), "more than 2 moves at once");
}

// Blocks of 4096 values do not fit the memory of a PE, those of 32 take little of it.
TEST(WaferMesh, MemoryOfTheProgramDependsOnTheBlocks) {
  Mesh mesh(Machine(), 1, 1);
  const auto allocate_all = [&](u32 values) {
    for (const Allocation& a : memory_of(Machine(), values))
      mesh.at(0, 0).allocate(a.what, a.bytes);
  };
  allocate_all(32);
  EXPECT_LT(mesh.at(0, 0).memory_used(), 8u * 1024);
  EXPECT_SAYS(allocate_all(4096), "bytes of memory");
}

// Two colors share a link: each word of one delays the other by a cycle.
TEST(WaferMesh, ColorsShareTheLinks) {
  const auto cycles = [](bool both) {
    Mesh mesh(Machine(), 3, 1);
    std::vector<Word> words(20);
    for (const Color color : {Color(0), Color(1)}) {
      for (u32 column = 0; column < 3; ++column)
        mesh.set_route(column, 0, color, {{{kWest, kEast}}});
      if (color == 0 || both) mesh.feed(0, 0, color, words);
    }
    const u64 end = mesh.run();
    EXPECT_EQ(mesh.left(2, 0, 0).size(), 20u);
    EXPECT_EQ(mesh.count().left, mesh.count().fed);
    return end;
  };
  EXPECT_EQ(cycles(false), 22u);
  EXPECT_EQ(cycles(true), 42u);
}

TEST(WaferMesh, OfReadyTasksTheLowestRunsFirst) {
  Mesh mesh(Machine(), 1, 1);
  Core& core = mesh.at(0, 0);
  std::vector<std::pair<int, u64>> ran;
  for (const u8 task : {u8(0), u8(1), u8(2)})
    core.bind(task, {"task", [] { return u64(10); },
                     [&, task] {
                       ran.emplace_back(task, mesh.now());
                       core.finish();
                     }});
  core.activate(2);
  core.activate(0);
  core.activate(1);
  EXPECT_EQ(mesh.run(), 30u);
  EXPECT_EQ(ran, (std::vector<std::pair<int, u64>>{{0, 10}, {1, 20}, {2, 30}}));
}

}  // namespace
}  // namespace leeway::fabric
