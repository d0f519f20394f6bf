// SPDX-License-Identifier: BSD-3-Clause
// Lane: one thread that follows a program, on the scheduler and in the watched memory of the
// emulator (leeway/gpu/emulator.h), which calls it as it calls a kernel that was compiled for it.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/ptx/program.h"

namespace leeway::gpu::ptx {

// How often every instruction of every function has been executed, by all lanes.
struct Profile {
  explicit Profile(const Program& program);
  std::vector<std::vector<std::uint64_t>> times;
  std::uint32_t line = 0;  // of the text, where a lane was last
};

class Lane {
 public:
  Lane(const Program& program, Profile& profile, void* shared, std::size_t shared_bytes);
  void run(const Function& kernel, const void* args, std::size_t bytes);

 private:
  struct Frame;

  void run(const Function& function, std::byte* memory);
  void step(Frame& frame, const Instruction& i);
  bool arithmetic(Frame& frame, const Instruction& i);
  void move(Frame& frame, const Instruction& i);
  void call(Frame& frame, const Instruction& i);

  std::uint64_t value(const Frame& frame, const Operand& operand) const;
  static void set(Frame& frame, const Operand& operand, std::uint64_t value);
  std::uint64_t address(const Frame& frame, const Instruction& i, const Operand& operand,
                        Space& space) const;
  void load(Frame& frame, const Instruction& i) const;
  void store(Frame& frame, const Instruction& i) const;
  void shuffle(Frame& frame, const Instruction& i) const;
  void exchange(Frame& frame, const Instruction& i);

  const Program& program_;
  Profile& profile_;
  std::byte* const shared_;
  const std::size_t shared_bytes_;
  std::vector<std::byte> stack_;
};

}  // namespace leeway::gpu::ptx
