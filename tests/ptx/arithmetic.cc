// SPDX-License-Identifier: BSD-3-Clause
#include "tests/ptx/arithmetic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

#include "leeway/gpu/emulator.h"

namespace leeway::gpu::ptx {
namespace {

using Inputs = std::array<std::uint64_t, 5>;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using i128 = __int128;

[[noreturn]] void fail(const Instruction& i, const char* what) {
  emulator::fault(std::string(what) + " (PTX, line " + std::to_string(i.line) + ")");
}

template <class T>
T from_bits(u64 bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
u64 to_bits(T value) {
  u64 bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
bool holds(const Instruction& i, T a, T b) {
  if (a != a || b != b) return i.is_unordered;
  switch (i.compare) {
    case Compare::eq:
      return a == b;
    case Compare::ne:
      return a != b;
    case Compare::lt:
      return a < b;
    case Compare::le:
      return a <= b;
    case Compare::gt:
      return a > b;
    case Compare::ge:
      return a >= b;
  }
  return false;
}

template <class T>
u64 compute_float(const Instruction& i, const Inputs& in) {
  const T a = from_bits<T>(in[0]), b = from_bits<T>(in[1]);
  switch (i.op) {
    case Op::add:
      return to_bits(T(a + b));
    case Op::sub:
      return to_bits(T(a - b));
    case Op::mul_lo:
      return to_bits(T(a * b));
    case Op::div:
      return to_bits(T(a / b));
    case Op::rcp:
      return to_bits(T(T(1) / a));
    case Op::abs:
      return to_bits(std::fabs(a));
    case Op::neg:
      return to_bits(T(-a));
    case Op::min:
      return to_bits(std::fmin(a, b));
    case Op::max:
      return to_bits(std::fmax(a, b));
    case Op::setp:
      return holds(i, a, b);
    default:
      fail(i, "no such operation of floating-point numbers");
  }
}

// Bits [position, position + length) of the operand.
u64 bits_below(u32 length) { return length >= 64 ? ~u64(0) : (u64(1) << length) - 1; }

template <class T>
u64 extract_field(const Instruction& i, const Inputs& in) {
  if (std::is_signed_v<T>) fail(i, "bfe of signed numbers is not known");
  const u32 position = u32(in[1] & 0xff), length = u32(in[2] & 0xff);
  return position >= 64 ? 0 : in[0] >> position & bits_below(length);
}
u64 insert_field(const Inputs& in, u32 width) {
  const u32 position = u32(in[2] & 0xff), length = u32(in[3] & 0xff);
  if (position >= width) return in[1];
  const u64 mask = bits_below(length) << position;
  return (in[1] & ~mask) | (in[0] << position & mask);
}
u64 permute(const Inputs& in) {
  const u64 both = in[1] << 32 | (in[0] & 0xffffffffu);
  u64 result = 0;
  for (u32 k = 0; k < 4; ++k) {
    const u32 selector = u32(in[2] >> 4 * k & 15);
    u64 byte = both >> 8 * (selector & 7) & 0xff;
    if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
    result |= byte << 8 * k;
  }
  return result;
}
u64 choose_bits(const Inputs& in) {
  u64 result = 0;
  for (u32 k = 0; k < 8; ++k)
    if (in[3] >> k & 1)
      result |= (k & 4 ? in[0] : ~in[0]) & (k & 2 ? in[1] : ~in[1]) & (k & 1 ? in[2] : ~in[2]);
  return result;
}
u64 funnel(const Instruction& i, const Inputs& in) {
  const u32 shift = i.wraps ? u32(in[2] & 31) : std::min(u32(in[2]), 32u);
  const u64 both = in[1] << 32 | (in[0] & 0xffffffffu);
  return i.op == Op::shf_left ? both << shift >> 32 : both >> shift;
}
template <class T>
u64 reverse(u64 v) {
  u64 result = 0;
  for (u32 k = 0; k < 8 * sizeof(T); ++k) result |= (v >> k & 1) << (8 * sizeof(T) - 1 - k);
  return result;
}

template <class T>
u64 shift(const Instruction& i, const Inputs& in) {
  constexpr u32 kWidth = 8 * sizeof(T);
  const u32 by = u32(in[1]);
  const T a = T(in[0]);
  if (i.op == Op::shl) return by >= kWidth ? 0 : u64(in[0]) << by;
  if (std::is_signed_v<T>) return u64(std::int64_t(a) >> std::min(by, 63u));
  return by >= kWidth ? 0 : u64(a) >> by;
}

// T has the width and the sign of the type; operations on bits do not see the sign.
template <class T>
u64 compute_integer(const Instruction& i, const Inputs& in) {
  using Unsigned = std::make_unsigned_t<T>;
  using Wide = std::conditional_t<std::is_signed_v<T>, i128, u128>;
  const T a = T(in[0]), b = T(in[1]);
  switch (i.op) {
    case Op::add:
      return in[0] + in[1];
    case Op::sub:
      return in[0] - in[1];
    case Op::mul_lo:
      return in[0] * in[1];
    case Op::mad:
      return in[0] * in[1] + in[2];
    case Op::mul_wide:
      return u64(Wide(a) * Wide(b));
    case Op::mul_hi:
      return u64(Wide(a) * Wide(b) >> 8 * sizeof(T));
    case Op::div:
      if (b == 0) fail(i, "divides by zero");
      return u64(Wide(a) / Wide(b));
    case Op::rem:
      if (b == 0) fail(i, "divides by zero");
      return u64(Wide(a) % Wide(b));
    case Op::min:
      return u64(std::min(a, b));
    case Op::max:
      return u64(std::max(a, b));
    case Op::abs:
      return std::is_signed_v<T> && a < T(0) ? 0 - in[0] : in[0];
    case Op::neg:
      return 0 - in[0];
    case Op::and_:
      return in[0] & in[1];
    case Op::or_:
      return in[0] | in[1];
    case Op::xor_:
      return in[0] ^ in[1];
    case Op::not_:
      return ~in[0];
    case Op::shl:
    case Op::shr:
      return shift<T>(i, in);
    case Op::clz:
      return u64(std::countl_zero(Unsigned(a)));
    case Op::popc:
      return u64(std::popcount(Unsigned(a)));
    case Op::brev:
      return reverse<T>(in[0]);
    case Op::bfe:
      return extract_field<T>(i, in);
    case Op::bfi:
      return insert_field(in, 8 * sizeof(T));
    case Op::setp:
      return holds(i, a, b);
    default:
      fail(i, "no such operation of integers");
  }
}

template <class T>
u64 to_integer(const Instruction& i, T v) {
  if (v != v) return 0;
  if (i.type.kind != Kind::is_signed || i.type.bytes != 8)
    fail(i, "conversions to other integers than s64 are not known");
  constexpr T kMost = T(0x1p63);
  if (v >= kMost) return u64(std::numeric_limits<std::int64_t>::max());
  if (v < -kMost) return u64(std::numeric_limits<std::int64_t>::min());
  return u64(std::int64_t(v));
}
// An integer of the type that is converted from, in 64 bits.
u64 extend(Type type, u64 v) {
  const u32 unused = 64 - 8 * type.bytes;
  return type.kind == Kind::is_signed ? u64(std::int64_t(v << unused) >> unused)
                                      : v << unused >> unused;
}
u64 convert(const Instruction& i, u64 v) {
  if (i.from.kind == Kind::is_float) {
    if (i.type.kind != Kind::is_float)
      return i.from.bytes == 8 ? to_integer(i, from_bits<double>(v))
                               : to_integer(i, from_bits<float>(v));
    if (i.from.bytes == i.type.bytes) fail(i, "rounding to integers is not known");
    return i.from.bytes == 8 ? to_bits(float(from_bits<double>(v)))
                             : to_bits(double(from_bits<float>(v)));
  }
  v = extend(i.from, v);
  if (i.type.kind != Kind::is_float) return extend(i.type, v);
  const bool is_signed = i.from.kind == Kind::is_signed;
  if (i.type.bytes == 4) return to_bits(is_signed ? float(std::int64_t(v)) : float(v));
  return to_bits(is_signed ? double(std::int64_t(v)) : double(v));
}

u64 compute_predicate(const Instruction& i, const Inputs& in) {
  switch (i.op) {
    case Op::and_:
      return in[0] & in[1] & 1;
    case Op::or_:
      return (in[0] | in[1]) & 1;
    case Op::xor_:
      return (in[0] ^ in[1]) & 1;
    case Op::not_:
      return ~in[0] & 1;
    default:
      fail(i, "no such operation of predicates");
  }
}

}  // namespace

std::uint64_t compute(const Instruction& i, const Inputs& in) {
  switch (i.op) {
    case Op::convert:
      return convert(i, in[0]);
    case Op::selp:
      return in[2] & 1 ? in[0] : in[1];
    case Op::prmt:
      return permute(in);
    case Op::lop3:
      return choose_bits(in);
    case Op::shf_left:
    case Op::shf_right:
      return funnel(i, in);
    default:
      break;
  }
  if (i.type.kind == Kind::predicate) return compute_predicate(i, in);
  if (i.type.kind == Kind::is_float)
    return i.type.bytes == 4 ? compute_float<float>(i, in) : compute_float<double>(i, in);
  const bool is_signed = i.type.kind == Kind::is_signed;
  switch (i.type.bytes) {
    case 2:
      return is_signed ? compute_integer<std::int16_t>(i, in)
                       : compute_integer<std::uint16_t>(i, in);
    case 4:
      return is_signed ? compute_integer<std::int32_t>(i, in) : compute_integer<u32>(i, in);
    case 8:
      return is_signed ? compute_integer<std::int64_t>(i, in) : compute_integer<u64>(i, in);
    default:
      fail(i, "integers of a byte are not known");
  }
}

}  // namespace leeway::gpu::ptx
