// SPDX-License-Identifier: BSD-3-Clause
// Types: the twelve element types, their traits, and dispatch from a DType to a C++ type.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace leeway {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using std::size_t;

// IEEE binary16, stored; arithmetic is done in float.
struct f16 {
  u16 bits = 0;
  constexpr f16() = default;
  constexpr explicit f16(float value) : bits(from_float(value)) {}
  constexpr explicit f16(double value) : f16(float(value)) {}
  constexpr operator float() const { return to_float(bits); }

 private:
  static constexpr u16 from_float(float value) {
    const u32 b = std::bit_cast<u32>(value), sign = (b >> 16) & 0x8000u,
              magnitude = b & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return u16(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
    if (magnitude >= 0x477ff000u) return u16(sign | 0x7c00u);  // rounds past 65504
    if (magnitude < 0x38800000u) {  // subnormal: add 0.5 to align to 2^-24
      const float aligned = std::bit_cast<float>(magnitude) + 0.5f;
      return u16(sign | (std::bit_cast<u32>(aligned) - 0x3f000000u));
    }
    const u32 rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);  // half to even
    return u16(sign | ((rounded - 0x38000000u) >> 13));
  }
  static constexpr float to_float(u16 half) {
    const u32 sign = u32(half & 0x8000u) << 16, exponent = (half >> 10) & 31u,
              mantissa = half & 0x3ffu;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
    if (exponent == 0) {
      const float value = float(mantissa) * 0x1p-24f;
      return std::bit_cast<float>(sign | std::bit_cast<u32>(value));
    }
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  }
};

// bfloat16: the upper half of a float, rounded to nearest even.
struct bf16 {
  u16 bits = 0;
  constexpr bf16() = default;
  constexpr explicit bf16(float value) : bits(from_float(value)) {}
  constexpr explicit bf16(double value) : bf16(float(value)) {}
  constexpr operator float() const { return std::bit_cast<float>(u32(bits) << 16); }

 private:
  static constexpr u16 from_float(float value) {
    const u32 b = std::bit_cast<u32>(value);
    if ((b & 0x7fffffffu) > 0x7f800000u) return u16((b >> 16) | 0x40u);
    return u16((b + 0x7fffu + ((b >> 16) & 1u)) >> 16);
  }
};

enum class DType : u8 { f32 = 1, f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64 };

template <class T>
inline constexpr bool is_floating =
    std::is_floating_point_v<T> || std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

template <class T>
concept Floating = is_floating<T>;

// Checks under sanitizers compile fewer types, in less time: LEEWAY_TYPES=few or some.
template <class T>
inline constexpr bool kIsCompiled =
#if defined(LEEWAY_FEW_TYPES)
    std::is_floating_point_v<T>;
#elif defined(LEEWAY_SOME_TYPES)
    std::is_floating_point_v<T> || std::is_same_v<T, bf16> || std::is_same_v<T, i16> ||
    std::is_same_v<T, i32> || std::is_same_v<T, u64>;
#else
    true;
#endif

// The unsigned integer of the same size as T, which holds its bits.
template <class T>
using Bits = std::conditional_t<
    sizeof(T) == 8, u64,
    std::conditional_t<sizeof(T) == 4, u32, std::conditional_t<sizeof(T) == 2, u16, u8>>>;

// The integer type of the codes of T. Arithmetic on codes wraps around.
template <class T>
using Code = std::conditional_t<sizeof(T) == 8, i64, i32>;

// The type in which predictions of T are computed; integers wrap modulo 2^64.
template <class T>
using Predicted = std::conditional_t<std::is_same_v<T, double>, double,
                                     std::conditional_t<is_floating<T>, float, u64>>;

// The number of mantissa bits: a floating value is a sign, then the exponent, then these bits.
template <Floating T>
inline constexpr int mantissa_bits = std::is_same_v<T, f16>     ? 10
                                     : std::is_same_v<T, bf16>  ? 7
                                     : std::is_same_v<T, float> ? 23
                                                                : 52;

template <class T>
Bits<T> bits_of(T value) {
  return std::bit_cast<Bits<T>>(value);
}

// Calls f(std::type_identity<T>{}) with the C++ type of `type`.
template <class F>
decltype(auto) visit_dtype(DType type, F&& f) {
  switch (type) {
    case DType::f32:
      return f(std::type_identity<float>{});
    case DType::f64:
      return f(std::type_identity<double>{});
    case DType::f16:
      return f(std::type_identity<f16>{});
    case DType::bf16:
      return f(std::type_identity<bf16>{});
    case DType::i8:
      return f(std::type_identity<i8>{});
    case DType::i16:
      return f(std::type_identity<i16>{});
    case DType::i32:
      return f(std::type_identity<i32>{});
    case DType::i64:
      return f(std::type_identity<i64>{});
    case DType::u8:
      return f(std::type_identity<u8>{});
    case DType::u16:
      return f(std::type_identity<u16>{});
    case DType::u32:
      return f(std::type_identity<u32>{});
    default:
      return f(std::type_identity<u64>{});
  }
}

inline constexpr std::array kDTypeNames = {"f32", "f64", "f16", "bf16", "i8",  "i16",
                                           "i32", "i64", "u8",  "u16",  "u32", "u64"};

constexpr std::string_view name_of(DType type) { return kDTypeNames[size_t(type) - 1]; }
constexpr bool is_dtype(u8 id) { return id >= 1 && id <= kDTypeNames.size(); }

inline size_t size_of(DType type) {
  return visit_dtype(type, []<class T>(std::type_identity<T>) { return sizeof(T); });
}

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::f64;
  else if constexpr (std::is_same_v<T, f16>)
    return DType::f16;
  else if constexpr (std::is_same_v<T, bf16>)
    return DType::bf16;
  else {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>,
                  "not an element type of leeway");
    constexpr int log2_bytes = std::countr_zero(sizeof(T));
    return DType(int(std::is_signed_v<T> ? DType::i8 : DType::u8) + log2_bytes);
  }
}

}  // namespace leeway
