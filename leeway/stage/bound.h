// SPDX-License-Identifier: BSD-3-Clause
// Bound: how much error the caller allows; several limits together must all hold. A size may be
// asked for as well: then the error is as small as the size allows, within the limits.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "leeway/base/export.h"
#include "leeway/base/types.h"

namespace leeway {

// The numbers are part of the format.
enum class BoundKind : u8 {
  abs = 1,   // |x - x'| <= value
  rel = 2,   // |x - x'| <= value * (max - min), over the finite values that are no fill values
  psnr = 3,  // 20 log10(max - min) - 10 log10(mean squared error) >= value
  l2 = 4,    // sqrt(sum of squared errors) <= value
  lossless = 5,
  ratio = 6,      // the stream shall have 1/value of the array's bytes
  rate = 7,       // the stream shall have `value` bits for each of the array's values
  pointwise = 8,  // |x - x'| <= value * |x|; not with other kinds
};

struct Limit {
  BoundKind kind = BoundKind::lossless;
  double value = 0;
  friend bool operator==(const Limit&, const Limit&) = default;
};

class LEEWAY_EXPORT Bound {
 public:
  Bound() = default;  // no limit yet: compress() refuses it
  static Bound abs(double value) { return Bound().add(BoundKind::abs, value); }
  static Bound rel(double value) { return Bound().add(BoundKind::rel, value); }
  static Bound psnr(double decibel) { return Bound().add(BoundKind::psnr, decibel); }
  static Bound l2(double value) { return Bound().add(BoundKind::l2, value); }
  static Bound lossless() { return Bound().add(BoundKind::lossless, 0); }
  static Bound ratio(double value) { return Bound().add(BoundKind::ratio, value); }
  static Bound rate(double bits) { return Bound().add(BoundKind::rate, bits); }
  static Bound pointwise(double value) { return Bound().add(BoundKind::pointwise, value); }
  friend Bound operator&&(Bound a, const Bound& b) {
    for (const Limit& limit : b.limits_) a.add(limit.kind, limit.value);
    return a;
  }

  // Throws if the value makes no sense: zero, negative, infinite or not a number.
  Bound& add(BoundKind kind, double value);

  const std::vector<Limit>& limits() const { return limits_; }
  bool has(BoundKind kind) const;
  // Whether a size of the stream is asked for.
  bool wants_size() const { return has(BoundKind::ratio) || has(BoundKind::rate); }
  // Whether chunks have bounds of their own, instead of the absolute one of the stream.
  bool is_by_chunk() const { return wants_size() || has(BoundKind::pointwise); }
  // Whether the range of the values must be known to resolve it.
  bool needs_range() const { return has(BoundKind::rel) || has(BoundKind::psnr) || is_by_chunk(); }
  // Whether the error allowed for a value does not depend on other values.
  bool is_lasting() const {
    return !needs_measurement() && !wants_size() && !has(BoundKind::rel);
  }
  // Whether the squared error must be measured to resolve it.
  bool needs_measurement() const { return has(BoundKind::psnr) || has(BoundKind::l2); }

 private:
  std::vector<Limit> limits_;
};

LEEWAY_EXPORT std::string_view name_of(BoundKind kind);
LEEWAY_EXPORT bool is_bound_kind(u8 id);
// Finds a kind by its name; the message of the exception lists the names.
LEEWAY_EXPORT BoundKind parse_bound_kind(std::string_view name);

// The lowest and the highest value. A double cannot hold every integer of 64 bits, so `low` and
// `high` give the ends of integers exactly, counted from the lowest number of the type.
struct LEEWAY_EXPORT Range {
  double min = 0, max = 0;
  u64 low = 0, high = 0;  // both 0 for floating types

  template <class T>
  static Range of(T min, T max) {
    Range range{double(min), double(max)};
    if constexpr (std::is_integral_v<T>) {
      constexpr auto lowest = u64(std::numeric_limits<T>::min());
      range.low = u64(min) - lowest, range.high = u64(max) - lowest;
    }
    return range;
  }
  // Extends this range so that it contains another one of the same type.
  void join(const Range& other);
  // max - min. For integers it is never rounded up, for floating-point numbers it is rounded to
  // nearest; the largest double if it would be larger.
  double size() const;
};

// rel * (max - min), never rounded up.
LEEWAY_EXPORT double relative_bound(double rel, const Range& range);
// With smaller bounds, quantization steps would not be normal numbers: values are kept exactly.
inline bool is_usable_bound(double e) { return e >= 1e-290; }
inline double usable_bound(double e) { return is_usable_bound(e) ? (e < 1e300 ? e : 1e300) : 0; }
// Cut to 20 significant bits, so that the last bits of a host's pow() or sqrt() do not matter.
LEEWAY_EXPORT double shortened(double bound);
LEEWAY_EXPORT std::string to_string(const Bound& bound);  // "abs=0.001,psnr=80"

}  // namespace leeway
