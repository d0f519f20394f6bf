// SPDX-License-Identifier: BSD-3-Clause
// Fields: how both forms of a stream store numbers and bounds, which are checked when read.
#pragma once

#include <algorithm>
#include <cmath>

#include "leeway/base/bytes.h"
#include "leeway/base/hash.h"
#include "leeway/stage/bound.h"

namespace leeway {

inline double get_finite(Reader& in) {
  const auto value = in.get<double>();
  if (!std::isfinite(value)) fail_corrupt("a number is not finite");
  return value;
}
inline double get_nonnegative(Reader& in) {
  const double value = get_finite(in);
  if (value < 0) fail_corrupt("a number is negative");
  return value;
}

inline void expect_hash(ByteView bytes, u64 stored, const char* what) {
  if (hash_of(bytes) != stored) fail_corrupt(what);
}

inline DType checked_dtype(u8 number) {
  if (!is_dtype(number))
    throw Error(Errc::unsupported, "the stream has an element type that is not known");
  return DType(number);
}

// The bound as it was asked for.
inline void put_bound(const Bound& bound, Writer& out) {
  out.put(u8(bound.limits().size()));
  for (const Limit& limit : bound.limits()) {
    out.put(limit.kind);
    out.put(limit.value);
  }
}
inline Bound get_bound(Reader& in) {
  Bound bound;
  for (u8 count = in.get<u8>(); count > 0; --count) {
    const u8 kind = in.get<u8>();
    if (!is_bound_kind(kind))
      throw Error(Errc::unsupported, "the stream has a kind of bound that is not known");
    try {
      bound.add(BoundKind(kind), in.get<double>());
    } catch (const Error& error) {
      if (error.code() == Errc::corrupt) throw;
      fail_corrupt("impossible bound");
    }
  }
  return bound;
}

inline void expect_magic(Reader& in, ByteView magic, const char* what) {
  if (!std::ranges::equal(in.take(magic.size()), magic)) fail_corrupt(what);
}

// What fills up to where the next part of a stream begins.
inline void put_zeros(Writer& out, u64 count) {
  std::ranges::fill(out.extend(size_t(count)), u8(0));
}
inline bool are_zeros(ByteView bytes) {
  return std::ranges::all_of(bytes, [](u8 byte) { return byte == 0; });
}

}  // namespace leeway
