// SPDX-License-Identifier: BSD-3-Clause
// Range kernel: the range of an array's finite values that are no fill values, and what a relative
// bound comes to (stage/bound.h, quantize/linear.h). The CTA that finishes last computes the bound.
#pragma once

#include "leeway/gpu/chunk.h"

namespace leeway::gpu {

struct RangeShared {
  Cell<u64> most[kTiles], least[kTiles];
};

// Doubles as numbers of the same order, above 0.
LEEWAY_DEVICE u64 ordered(double v) {
  const u64 bits = to_bits(v);
  return bits >> 63 ? ~bits : bits | u64(1) << 63;
}
LEEWAY_DEVICE double from_ordered(u64 v) { return from_bits(v >> 63 ? v & ~(u64(1) << 63) : ~v); }

LEEWAY_DEVICE double towards_zero(double v) { return v > 0 ? below(v) : 0.0; }

LEEWAY_DEVICE double relative_bound(double rel, double min, double max) {
  constexpr double kLargest = 1.7976931348623157e308;
  const double size = sub(max, min);
  const bool is_beyond = is_nonfinite(size);
  double e = is_beyond ? mul(mul(2.0, rel), sub(mul(max, 0.5), mul(min, 0.5))) : mul(rel, size);
  if (is_nonfinite(e)) e = kLargest;  // far more than usable_bound() leaves
  for (int i = 0; i < 3; ++i) e = towards_zero(e);
  return e;
}
LEEWAY_DEVICE double usable_bound(double e) { return e >= 1e-290 ? (e < 1e300 ? e : 1e300) : 0.0; }

template <class T>
LEEWAY_DEVICE void find_range(const CompressArgs& args, RangeShared& s) {
  u64 most = 0, least = 0;  // of the values, and of the values in the opposite order
  for (u32 ordinal = cta(); ordinal < args.chunks; ordinal += ctas()) {
    const Chunk chunk = find_chunk(args.layout, ordinal);
    for (u32 i = thread(); i < chunk.size; i += kThreads) {
      const T v =
          from_bits(load(reinterpret_cast<const Bits<T>*>(args.values + i64(chunk.at(i, sizeof(T))))));
      bool is_special = is_nonfinite(v);
      for (u32 k = 0; k < args.fills; ++k) is_special |= u64(to_bits(v)) == args.fill[k];
      if (is_special) continue;
      const u64 place = ordered(v == 0 ? 0.0 : double(v));
      most = place > most ? place : most;
      least = ~place > least ? ~place : least;
    }
  }
  most = tile_max(most);
  least = tile_max(least);
  if (lane() == 0) s.most[tile()] = most, s.least[tile()] = least;
  barrier();
  if (thread() != 0) return;
  for (u32 k = 0; k < kTiles; ++k) {
    global_max(args.work.zeros + kMost, s.most[k]);
    global_max(args.work.zeros + kLeast, s.least[k]);
  }
  fence();
  if (take_ticket(reinterpret_cast<u32*>(args.work.zeros + kRangeDone)) != ctas() - 1) return;
  fence();
  most = load_relaxed(args.work.zeros + kMost);
  least = load_relaxed(args.work.zeros + kLeast);
  const double max = most ? from_ordered(most) : 0, min = least ? from_ordered(~least) : 0;
  double e = relative_bound(args.rel_bound, min, max);
  if (args.abs_bound < e) e = args.abs_bound;
  store(args.work.bound, usable_bound(e));
  store(args.work.bound + 1, min);
  store(args.work.bound + 2, max);
}

}  // namespace leeway::gpu
