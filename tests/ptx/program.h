// SPDX-License-Identifier: BSD-3-Clause
// Program: PTX, the code that nvcc makes of kernels before ptxas makes machine code of it, read
// into instructions that lane.h can follow. It has the part of PTX that leeway's kernels need;
// anything else is an error that names it. So is floating-point arithmetic that may be contracted:
// add, sub and mul without a rounding mode, and fma.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace leeway::gpu::ptx {

enum class Op : std::uint8_t {
  abs,
  add,
  and_,
  atom_add,
  atom_max,
  atom_or,
  ballot,
  barrier,
  bfe,
  bfi,
  branch,
  brev,
  call,
  clz,
  convert,
  cvta,
  div,
  fence,
  ld,
  ld_relaxed,
  lop3,
  mad,
  max,
  min,
  mov,
  mul_hi,
  mul_lo,
  mul_wide,
  neg,
  not_,
  or_,
  pack,
  popc,
  prmt,
  rcp,
  rem,
  ret,
  selp,
  setp,
  shf_left,
  shf_right,
  shfl,
  shl,
  shr,
  sleep,
  st,
  st_relaxed,
  sub,
  tile_sync,
  unpack,
  xor_
};

enum class Kind : std::uint8_t { bits, is_unsigned, is_signed, is_float, predicate };
struct Type {
  Kind kind = Kind::bits;
  std::uint8_t bytes = 0;  // 0 of a predicate
};

enum class Space : std::uint8_t { generic, global, shared, local, param, constant };
enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge };
enum class Shuffle : std::uint8_t { up, down, bfly, idx };
enum class Special : std::uint8_t { thread, cta, ctas, lane };

// What an instruction reads or writes: a register, a number, a special register, or a place in the
// memory of the frame. An address is one of these and an offset.
struct Operand {
  enum class Is : std::uint8_t { reg, number, special, frame, nothing } is = Is::nothing;
  std::uint8_t bytes = 8;    // of a register
  std::uint64_t number = 0;  // of the register, the number itself, a Special, or where in the frame
  std::int64_t offset = 0;
};

struct Argument {
  std::uint32_t at, bytes;  // in the frame
};

struct Instruction {
  Op op{};
  Type type{}, from{};  // `from` of conversions
  Space space{};
  Compare compare{};
  Shuffle shuffle{};
  bool is_unordered = false;  // a comparison that is true of NaN
  bool wraps = false;         // a funnel shift
  bool truncates = false;     // a conversion to integers
  bool to_space = false;      // cvta
  bool is_negated = false;    // the predicate
  std::int32_t predicate = -1;
  std::uint8_t count = 1;           // of a vector
  std::uint32_t used_bytes = ~0u;   // of a load that the compiler made wider
  std::uint32_t target = 0;         // of a branch: an instruction
  std::uint32_t line = 0;           // of the text
  std::vector<Operand> operands{};  // destinations first
  std::uint32_t callee = 0;
  std::vector<Argument> arguments{}, results{};
};

struct Function {
  std::string name;
  bool is_kernel = false;
  std::vector<Instruction> code{};
  std::uint32_t registers = 0, frame_bytes = 0;
  std::vector<Argument> parameters{}, results{};
  std::uint32_t stack_bytes = 0;  // of this frame and all below it
};

struct Program {
  std::string target;  // sm_80
  std::vector<Function> functions;
  std::map<std::string, std::uint32_t, std::less<>> numbers;  // of functions, by name
  std::deque<std::vector<std::uint64_t>> constants;           // memory of constants
  std::map<std::string, std::pair<Space, std::uint64_t>, std::less<>> symbols;

  const Function& kernel(const std::string& name) const;
  // Whether these bytes are in the memory of one constant.
  bool is_constant(std::uint64_t at, std::uint64_t bytes) const;
};

// Throws leeway::Error with the line of what it does not know.
Program parse(std::string_view text);

}  // namespace leeway::gpu::ptx
