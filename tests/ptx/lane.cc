// SPDX-License-Identifier: BSD-3-Clause
#include "tests/ptx/lane.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "leeway/gpu/emulator.h"
#include "tests/ptx/arithmetic.h"

namespace leeway::gpu::ptx {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Is = Operand::Is;

Profile::Profile(const Program& program) {
  for (const Function& function : program.functions) times.emplace_back(function.code.size());
}

// A function that runs. Registers hold anything at first, and so does memory.
struct Lane::Frame {
  const Function& function;
  std::byte* memory;
  std::vector<u64> registers;
  std::vector<u64>& times;
  u32 next = 0;
  bool is_over = false;
};

namespace {

constexpr u64 kGarbage = 0xcdcdcdcdcdcdcdcd;

[[noreturn]] void fail(const Instruction& i, const char* what) {
  emulator::fault(std::string(what) + " (PTX, line " + std::to_string(i.line) + ")");
}

u64 special(Special which) {
  switch (which) {
    case Special::thread:
      return emulator::thread();
    case Special::cta:
      return emulator::cta();
    case Special::ctas:
      return emulator::ctas();
    case Special::lane:
      return emulator::thread() % 32;
  }
  return 0;
}

}  // namespace

Lane::Lane(const Program& program, Profile& profile, void* shared, std::size_t shared_bytes)
    : program_(program),
      profile_(profile),
      shared_(static_cast<std::byte*>(shared)),
      shared_bytes_(shared_bytes) {}

void Lane::run(const Function& kernel, const void* args, std::size_t bytes) {
  stack_.assign(kernel.stack_bytes + 16, std::byte(0xcd));
  const auto begin = reinterpret_cast<std::uintptr_t>(stack_.data());
  std::byte* const memory = stack_.data() + (16 - begin % 16) % 16;
  if (kernel.parameters.size() != 1 || kernel.parameters[0].bytes != bytes)
    emulator::fault("the arguments of " + kernel.name + " have another size in PTX");
  std::memcpy(memory + kernel.parameters[0].at, args, bytes);
  run(kernel, memory);
}

void Lane::run(const Function& function, std::byte* memory) {
  const auto number = std::size_t(&function - program_.functions.data());
  Frame frame{function, memory, std::vector<u64>(function.registers, kGarbage),
              profile_.times[number]};
  while (!frame.is_over) {
    const Instruction& i = function.code[frame.next++];
    ++frame.times[frame.next - 1];
    if (i.predicate >= 0 && bool(frame.registers[u32(i.predicate)] & 1) == i.is_negated) continue;
    profile_.line = i.line;
    step(frame, i);
  }
}

u64 Lane::value(const Frame& frame, const Operand& operand) const {
  switch (operand.is) {
    case Is::reg:
      return frame.registers[operand.number];
    case Is::number:
      return operand.number;
    case Is::special:
      return special(Special(operand.number));
    case Is::frame:
      return reinterpret_cast<std::uintptr_t>(frame.memory + operand.number);
    case Is::nothing:
      break;
  }
  return 0;
}

void Lane::set(Frame& frame, const Operand& operand, u64 value) {
  if (operand.is == Is::nothing) return;
  const u32 unused = operand.bytes ? 64 - 8 * operand.bytes : 63;
  frame.registers[operand.number] = value << unused >> unused;
}

// Where an access goes: generic addresses are those of the host, where shared memory and the stack
// of the lane have theirs.
u64 Lane::address(const Frame& frame, const Instruction& i, const Operand& operand,
                  Space& space) const {
  u64 at = value(frame, operand) + u64(operand.offset);
  space = i.space;
  const auto shared = reinterpret_cast<std::uintptr_t>(shared_),
             stack = reinterpret_cast<std::uintptr_t>(stack_.data());
  if (space == Space::shared) return at + shared;
  if (space == Space::generic) {
    if (at - shared < shared_bytes_)
      space = Space::shared;
    else if (at - stack < stack_.size())
      space = Space::local;
    else
      space = Space::global;
  }
  const u64 bytes = u64(i.type.bytes) * i.count;
  if ((space == Space::local || space == Space::param) &&
      (at - stack > stack_.size() - bytes || at % bytes != 0))
    fail(i, "access outside of the stack, or misaligned");
  if (space == Space::constant && !program_.is_constant(at, bytes))
    fail(i, "access outside of constants");
  return at;
}

void Lane::load(Frame& frame, const Instruction& i) const {
  Space space{};
  const u64 at = address(frame, i, i.operands.back(), space);
  const u32 bytes = i.type.bytes, all = bytes * i.count;
  alignas(16) std::array<std::byte, 16> data;
  const auto* const from = reinterpret_cast<const std::byte*>(at);
  // Bytes that are not used may be anything: the compiler found one access cheaper than two.
  u32 used = all;
  while (used > bytes && !(i.used_bytes >> (used - 1) & 1)) used -= bytes;
  if (space == Space::shared) emulator::shared_access(from, used, emulator::Access::read);
  if (space == Space::global)
    emulator::read(from, data.data(), used);
  else
    std::memcpy(data.data(), from, used);
  for (u32 k = 0; k * bytes < used; ++k) {
    u64 element = 0;
    std::memcpy(&element, data.data() + k * bytes, bytes);
    if (i.type.kind == Kind::is_signed)
      element = u64(std::int64_t(element << (64 - 8 * bytes)) >> (64 - 8 * bytes));
    set(frame, i.operands[k], element);
  }
}

void Lane::store(Frame& frame, const Instruction& i) const {
  Space space{};
  const u64 at = address(frame, i, i.operands.front(), space);
  const u32 bytes = i.type.bytes, all = bytes * i.count;
  alignas(16) std::array<std::byte, 16> data;
  for (u32 k = 0; k < i.count; ++k) {
    const u64 element = value(frame, i.operands[k + 1]);
    std::memcpy(data.data() + k * bytes, &element, bytes);
  }
  auto* const to = reinterpret_cast<std::byte*>(at);
  if (space == Space::constant) fail(i, "writes constants");
  if (space == Space::global) return emulator::write(to, data.data(), all);
  if (space == Space::shared) emulator::shared_access(to, all, emulator::Access::write);
  std::memcpy(to, data.data(), all);
}

void Lane::shuffle(Frame& frame, const Instruction& i) const {
  const auto in = [&](std::size_t k) { return u32(value(frame, i.operands[k])); };
  if (in(4) != ~u32(0)) fail(i, "a shuffle of a part of the tile");
  const u32 lane = emulator::thread() % 32, b = in(2) & 31, clamp = in(3) & 31,
            segments = in(3) >> 8 & 31, least = lane & segments, most = least | (clamp & ~segments);
  u32 from = lane;
  bool is_inside = true;
  switch (i.shuffle) {
    case Shuffle::up:
      from = lane - b;
      is_inside = std::int32_t(from) >= std::int32_t(most);
      break;
    case Shuffle::down:
      from = lane + b;
      is_inside = from <= most;
      break;
    case Shuffle::bfly:
      from = lane ^ b;
      is_inside = from <= most;
      break;
    case Shuffle::idx:
      from = least | (b & ~segments);
      is_inside = from <= most;
      break;
  }
  set(frame, i.operands[0], emulator::shuffle(in(1), is_inside ? from : lane));
}

// What touches memory or other lanes.
void Lane::exchange(Frame& frame, const Instruction& i) {
  const auto in = [&](std::size_t k) { return value(frame, i.operands[k]); };
  Space space{};
  const auto at = [&](std::size_t k) { return address(frame, i, i.operands[k], space); };
  switch (i.op) {
    case Op::ld:
      return load(frame, i);
    case Op::st:
      return store(frame, i);
    case Op::ld_relaxed:
      return set(frame, i.operands[0], emulator::load_relaxed(reinterpret_cast<const u64*>(at(1))));
    case Op::st_relaxed:
      return emulator::store_relaxed(reinterpret_cast<u64*>(at(0)), in(1));
    case Op::shfl:
      return shuffle(frame, i);
    case Op::ballot:
      if (u32(in(2)) != ~u32(0)) fail(i, "a ballot of a part of the tile");
      return set(frame, i.operands[0], emulator::ballot(in(1) & 1));
    case Op::barrier:
      if (i.operands.size() != 1 || in(0) != 0) fail(i, "another barrier than number 0");
      return emulator::barrier();
    case Op::tile_sync:
      if (u32(in(0)) != ~u32(0)) fail(i, "a barrier of a part of the tile");
      return emulator::tile_sync();
    case Op::fence:
      return emulator::fence();
    case Op::sleep:
      return emulator::spin();
    case Op::atom_add: {
      if (in(2) != 1) fail(i, "adds something else than 1");
      auto* const counter = reinterpret_cast<u32*>(at(1));
      return set(frame, i.operands[0], emulator::take_ticket(counter));
    }
    case Op::atom_max: {
      auto* const number = reinterpret_cast<u64*>(at(1));
      set(frame, i.operands[0], emulator::load_relaxed(number));
      return emulator::global_max(number, in(2));
    }
    default: {
      auto* const word = reinterpret_cast<std::byte*>(shared_ + in(1) + i.operands[1].offset);
      emulator::shared_access(word, 4, emulator::Access::atomic);
      u32 now;
      std::memcpy(&now, word, sizeof now);
      set(frame, i.operands[0], now);
      now |= u32(in(2));
      std::memcpy(word, &now, sizeof now);
    }
  }
}

void Lane::call(Frame& frame, const Instruction& i) {
  const Function& function = program_.functions[i.callee];
  std::byte* const memory = frame.memory + frame.function.frame_bytes;
  std::memset(memory, 0xcd, function.frame_bytes);
  if (i.arguments.size() != function.parameters.size() ||
      i.results.size() != function.results.size())
    fail(i, "a call with other arguments than the function has");
  for (std::size_t k = 0; k < i.arguments.size(); ++k)
    std::memcpy(memory + function.parameters[k].at, frame.memory + i.arguments[k].at,
                std::min(i.arguments[k].bytes, function.parameters[k].bytes));
  run(function, memory);
  for (std::size_t k = 0; k < i.results.size(); ++k)
    std::memcpy(frame.memory + i.results[k].at, memory + function.results[k].at,
                std::min(i.results[k].bytes, function.results[k].bytes));
}

void Lane::step(Frame& frame, const Instruction& i) {
  switch (i.op) {
    case Op::branch:
      frame.next = i.target;
      return;
    case Op::ret:
      frame.is_over = true;
      return;
    case Op::call:
      return call(frame, i);
    case Op::mov:
      return set(frame, i.operands[0], value(frame, i.operands[1]));
    case Op::cvta: {
      const u64 base = i.space == Space::shared ? reinterpret_cast<std::uintptr_t>(shared_) : 0,
                at = value(frame, i.operands[1]);
      return set(frame, i.operands[0], i.to_space ? at - base : at + base);
    }
    case Op::unpack: {
      const u64 whole = value(frame, i.operands.back());
      const u32 bits = 8 * i.type.bytes / i.count;
      for (u32 k = 0; k < i.count; ++k) set(frame, i.operands[k], whole >> bits * k);
      return;
    }
    case Op::pack: {
      u64 whole = 0;
      const u32 bits = 8 * i.type.bytes / i.count;
      for (u32 k = 0; k < i.count; ++k)
        whole |= (value(frame, i.operands[k + 1]) & ((u64(1) << bits) - 1)) << bits * k;
      return set(frame, i.operands[0], whole);
    }
    case Op::ld:
    case Op::st:
    case Op::ld_relaxed:
    case Op::st_relaxed:
    case Op::shfl:
    case Op::ballot:
    case Op::barrier:
    case Op::tile_sync:
    case Op::fence:
    case Op::sleep:
    case Op::atom_add:
    case Op::atom_max:
    case Op::atom_or:
      return exchange(frame, i);
    default: {
      std::array<u64, 5> in{};
      for (std::size_t k = 1; k < i.operands.size(); ++k) in[k - 1] = value(frame, i.operands[k]);
      set(frame, i.operands[0], compute(i, in));
    }
  }
}

}  // namespace leeway::gpu::ptx
