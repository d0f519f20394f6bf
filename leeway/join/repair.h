// SPDX-License-Identifier: BSD-3-Clause
// Repair: corrections of decoded values whose errors are beyond the bound, as multiples of a step
// of nearly twice the bound (predict/wavelet.md, "Repair").
//
// Most values need none. A correction is coded with the sizes of those before it as its context:
// where errors are large, they are so together.
#pragma once

#include <algorithm>
#include <cmath>

#include "leeway/base/distance.h"
#include "leeway/encode/rans.h"
#include "leeway/stage/codes.h"

namespace leeway {

// The corrections of one chunk: value + code * step.
template <class T>
class RepairGrid {
 public:
  explicit RepairGrid(double bound) : bound_(bound) {
    if constexpr (is_floating<T>)
      step_ = 2 * bound * (1 - 0x1p-12);
    else
      whole_ = bound < 0x1p60 ? 2 * u64(bound) + 1 : u64(1) << 61;
  }
  bool keeps(T original, T value) const { return error_between(original, value) <= bound_; }

  // The code of the correction that brings a value within the bound; 0 if none does.
  Code<T> code_for(T original, T value) const {
    constexpr double kMost = 0x1p30;
    if constexpr (is_floating<T>) {
      const double apart = double(original) - double(value), steps = std::abs(apart) / step_;
      if (!(steps < kMost)) return 0;
      const auto count = std::max<Code<T>>(Code<T>(steps + 0.5), 1);
      return apart < 0 ? -count : count;
    } else {
      const u64 apart = distance(original, value), steps = (apart + whole_ / 2) / whole_;
      if (steps >= u64(kMost)) return 0;
      return original < value ? -Code<T>(steps) : Code<T>(steps);
    }
  }
  T corrected(T value, Code<T> code) const {
    if constexpr (is_floating<T>)
      return T(double(value) + double(code) * step_);
    else
      return T(u64(value) + u64(code) * whole_);
  }

 private:
  double bound_;
  double step_ = 0;
  u64 whole_ = 0;
};

// Contexts of corrections: from the sizes of those in the row before, and in the plane before.
class RepairContexts {
 public:
  explicit RepairContexts(const Shape& shape)
      : row_(shape.rank() > 0 ? size_t(shape[shape.rank() - 1]) : 1),
        plane_(shape.rank() > 2 ? row_ * size_t(shape[shape.rank() - 2]) : row_),
        sizes_(size_t(shape.size()) + 2 * row_ + plane_ + 2),
        has_plane_(shape.rank() > 2) {
    std::fill_n(sizes_.data(), sizes_.size(), u8(0));
  }
  // Calls f(first, count) for runs whose contexts can be found when all before them are known.
  template <class F>
  void for_each_run(size_t size, F&& f) const {
    for (size_t row = 0; row < size; row += row_)
      for (size_t x = 0; x < row_; x += kMostCodes) f(row + x, std::min(kMostCodes, row_ - x));
  }
  void find(size_t first, size_t count, u8* contexts) const {
    const u8 *row = at(first) - row_, *plane = at(first) - plane_;
    for (size_t x = 0; x < count; ++x) {
      u32 near = 2u * row[x] + (row + x)[-1] + row[x + 1];
      if (has_plane_) near += 2u * plane[x];
      contexts[x] = u8(std::min(near, kContexts - 1));
    }
  }
  template <class I>
  void set(size_t first, size_t count, const I* codes) {
    u8* const to = at(first);
    for (size_t x = 0; x < count; ++x)
      to[x] = u8(std::min<u64>(codes[x] < 0 ? u64(0) - u64(codes[x]) : u64(codes[x]), 3));
  }

 private:
  static constexpr u32 kContexts = 16;
  u8* at(size_t place) { return sizes_.data() + std::max(row_, plane_) + 1 + place; }
  const u8* at(size_t place) const { return sizes_.data() + std::max(row_, plane_) + 1 + place; }

  size_t row_, plane_;
  Buffer<u8> sizes_;  // after a plane of zeros; rows are next to each other
  bool has_plane_;
};

template <class I>
void write_repairs(std::span<const I> codes, const Shape& shape, Writer& out) {
  RepairContexts known(shape);
  const auto sink = Rans().sink<I>(codes.size(), out);
  std::array<u8, kMostCodes> contexts;
  known.for_each_run(codes.size(), [&](size_t first, size_t count) {
    known.find(first, count, contexts.data());
    std::copy_n(codes.data() + first, count, sink->room(count));
    sink->put(count, contexts.data());
    known.set(first, count, codes.data() + first);
  });
  sink->finish();
}

// Calls f(first, codes) for runs of corrections, in order.
template <class I, class F>
void read_repairs(Reader& in, const Shape& shape, F&& f) {
  RepairContexts known(shape);
  const auto size = size_t(shape.size());
  const auto source = Rans().source<I>(in, size);
  std::array<u8, kMostCodes> contexts;
  std::array<I, kMostCodes> codes;
  known.for_each_run(size, [&](size_t first, size_t count) {
    known.find(first, count, contexts.data());
    source->next({codes.data(), count}, contexts.data());
    known.set(first, count, codes.data());
    f(first, std::span<const I>(codes.data(), count));
  });
}

}  // namespace leeway
