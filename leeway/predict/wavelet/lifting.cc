// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/wavelet/lifting.h"

#include <algorithm>
#include <span>
#include <vector>

#include "leeway/base/buffer.h"
#include "leeway/base/field.h"
#include "leeway/base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/predict/wavelet/lifting.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_PREDICT_WAVELET_LIFTING
#define LEEWAY_PREDICT_WAVELET_LIFTING
namespace leeway::wavelet {

inline constexpr size_t kMostTaps = 4;

// Lines along one axis, side by side: `width` neighbouring lines of `length` values, a line's at
// distance `stride`.
template <class C>
struct LineBlock {
  C* first;
  size_t length, width, stride;
};

// Weights p of a filter; the sums of the second step have half of them.
template <class C>
struct Taps {
  size_t count;
  C weights[kMostTaps];
};
template <class C>
inline constexpr Taps<C> kTaps[kFilters] = {
    {3, {C(150.0 / 256), C(-25.0 / 256), C(3.0 / 256), C(0)}},
    {4, {C(1225.0 / 2048), C(-245.0 / 2048), C(49.0 / 2048), C(-5.0 / 2048)}}};

// Where the place `at` of a line of n values lies if the line is mirrored at its ends.
constexpr size_t mirrored(std::ptrdiff_t at, size_t n) {
  if (n == 1) return 0;
  const auto period = std::ptrdiff_t(2 * (n - 1));
  at = (at % period + period) % period;
  return size_t(at < std::ptrdiff_t(n) ? at : period - at);
}

}  // namespace leeway::wavelet
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::wavelet_lifting::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace wavelet;

// Values of even or of odd places, with what lies beyond the ends: kMostTaps rows at either end.
template <class C>
struct Half {
  C* rows;  // row 0
  size_t count, width, parity;

  HWY_INLINE void mirror(size_t length) const {
    for (size_t k = 1; k <= kMostTaps; ++k) {
      copy_row(-std::ptrdiff_t(k), length);
      copy_row(std::ptrdiff_t(count + k - 1), length);
    }
  }

 private:
  HWY_INLINE void copy_row(std::ptrdiff_t row, size_t length) const {
    const size_t from = mirrored(2 * row + std::ptrdiff_t(parity), length) / 2;
    std::copy_n(rows + from * width, width, rows + row * std::ptrdiff_t(width));
  }
};

// to[i] += sign * sum over k of weights[k] * (from[i - k * width + low] + from[i + k * width +
// high])
template <size_t taps, bool add, class C>
HWY_INLINE void lift(C* HWY_RESTRICT to, const C* HWY_RESTRICT low, const C* HWY_RESTRICT high,
                     size_t width, size_t count, const C* weights, C scale) {
  const hn::ScalableTag<C> d;
  const size_t lanes = hn::Lanes(d);
  C w[taps];
  for (size_t k = 0; k < taps; ++k) w[k] = weights[k] * scale;
  for (size_t i = 0; i < count; i += lanes) {
    auto sum = hn::Mul(hn::Set(d, w[0]), hn::Add(hn::LoadU(d, low + i), hn::LoadU(d, high + i)));
    for (size_t k = 1; k < taps; ++k) {
      const auto pair =
          hn::Add(hn::LoadU(d, low + i - k * width), hn::LoadU(d, high + i + k * width));
      sum = hn::Add(sum, hn::Mul(hn::Set(d, w[k]), pair));
    }
    const auto at = hn::LoadU(d, to + i);
    hn::StoreU(add ? hn::Add(at, sum) : hn::Sub(at, sum), d, to + i);
  }
}
template <bool add, class C>
HWY_INLINE void lift(C* to, const C* low, const C* high, size_t width, size_t count,
                     const Taps<C>& taps, C scale) {
  if (taps.count == 3)
    lift<3, add>(to, low, high, width, count, taps.weights, scale);
  else
    lift<4, add>(to, low, high, width, count, taps.weights, scale);
}

template <class C>
struct Halves {
  Half<C> even, odd;

  // `memory` has room for memory_for() values.
  Halves(const LineBlock<C>& block, C* memory)
      : even{memory + kMostTaps * block.width, (block.length + 1) / 2, block.width, 0},
        odd{even.rows + (even.count + 2 * kMostTaps) * block.width +
                hn::MaxLanes(hn::ScalableTag<C>()),
            block.length / 2, block.width, 1} {}

  // Differences from the values of even places around.
  template <bool add>
  HWY_INLINE void predict(size_t length, const Taps<C>& taps) const {
    even.mirror(length);
    lift<add>(odd.rows, even.rows, even.rows + even.width, even.width, odd.count * odd.width, taps,
              C(1));
  }
  template <bool add>
  HWY_INLINE void update(size_t length, const Taps<C>& taps) const {
    odd.mirror(length);
    lift<add>(even.rows, odd.rows - odd.width, odd.rows, even.width, even.count * even.width, taps,
              C(0.5));
  }
};

// Rows far apart in memory are asked for some rows before they are copied.
constexpr size_t kAhead = 12;
template <class C>
HWY_INLINE void fetch(const LineBlock<C>& block, size_t row) {
  if (block.width > 1 && row < block.length)
    prefetch(block.first + row * block.stride, block.width * sizeof(C));
}

// The last vector of a half may reach past its end.
template <class C>
HWY_INLINE void halve(const LineBlock<C>& block, size_t filter, C* memory) {
  const Halves<C> halves(block, memory);
  const Half<C>&even = halves.even, &odd = halves.odd;
  const size_t n = block.length, width = block.width;
  if (width == 1) {
    for (size_t i = 0; i < odd.count; ++i) {
      even.rows[i] = block.first[2 * i];
      odd.rows[i] = block.first[2 * i + 1];
    }
    if (n % 2) even.rows[even.count - 1] = block.first[n - 1];
  } else {
    for (size_t i = 0; i < n; ++i) {
      fetch(block, i + kAhead);
      std::copy_n(block.first + i * block.stride, width,
                  (i % 2 ? odd.rows : even.rows) + i / 2 * width);
    }
  }
  halves.template predict<false>(n, kTaps<C>[filter]);
  halves.template update<true>(n, kTaps<C>[filter]);
  for (size_t i = 0; i < even.count; ++i)
    std::copy_n(even.rows + i * width, width, block.first + i * block.stride);
  for (size_t i = 0; i < odd.count; ++i)
    std::copy_n(odd.rows + i * width, width, block.first + (even.count + i) * block.stride);
}

template <class C>
HWY_INLINE void join(const LineBlock<C>& block, size_t filter, C* memory) {
  const Halves<C> halves(block, memory);
  const Half<C>&even = halves.even, &odd = halves.odd;
  const size_t n = block.length, width = block.width;
  for (size_t i = 0; i < even.count; ++i) {
    fetch(block, i + kAhead);
    std::copy_n(block.first + i * block.stride, width, even.rows + i * width);
  }
  for (size_t i = 0; i < odd.count; ++i) {
    fetch(block, even.count + i + kAhead);
    std::copy_n(block.first + (even.count + i) * block.stride, width, odd.rows + i * width);
  }
  halves.template update<false>(n, kTaps<C>[filter]);
  halves.template predict<true>(n, kTaps<C>[filter]);
  if (width == 1) {
    for (size_t i = 0; i < odd.count; ++i) {
      block.first[2 * i] = even.rows[i];
      block.first[2 * i + 1] = odd.rows[i];
    }
    if (n % 2) block.first[n - 1] = even.rows[even.count - 1];
  } else {
    for (size_t i = 0; i < n; ++i)
      std::copy_n((i % 2 ? odd.rows : even.rows) + i / 2 * width, width,
                  block.first + i * block.stride);
  }
}

void halve_f32(const LineBlock<float>& block, size_t filter, float* memory) {
  halve(block, filter, memory);
}
void halve_f64(const LineBlock<double>& block, size_t filter, double* memory) {
  halve(block, filter, memory);
}
void join_f32(const LineBlock<float>& block, size_t filter, float* memory) {
  join(block, filter, memory);
}
void join_f64(const LineBlock<double>& block, size_t filter, double* memory) {
  join(block, filter, memory);
}

}  // namespace leeway::wavelet_lifting::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::wavelet_lifting {
HWY_EXPORT(halve_f32);
HWY_EXPORT(halve_f64);
HWY_EXPORT(join_f32);
HWY_EXPORT(join_f64);
}  // namespace leeway::wavelet_lifting

namespace leeway::wavelet {
using namespace wavelet_lifting;

namespace {

void halve(const LineBlock<float>& block, size_t filter, float* memory) {
  HWY_DYNAMIC_DISPATCH(halve_f32)(block, filter, memory);
}
void halve(const LineBlock<double>& block, size_t filter, double* memory) {
  HWY_DYNAMIC_DISPATCH(halve_f64)(block, filter, memory);
}
void join(const LineBlock<float>& block, size_t filter, float* memory) {
  HWY_DYNAMIC_DISPATCH(join_f32)(block, filter, memory);
}
void join(const LineBlock<double>& block, size_t filter, double* memory) {
  HWY_DYNAMIC_DISPATCH(join_f64)(block, filter, memory);
}

// A block of lines, with its halves beside it, should fit the second cache; rows of a cache line or
// more are read at a time.
constexpr size_t kBlockValues = 16384, kLeastWidth = 16, kMostLanes = 64;

// The lines of a halving in a part of its box: the axes from `from` on.
class Lines {
 public:
  Lines(const Shape& shape, const Halving& halving, size_t from)
      : halving_(halving), last_(shape.rank() - 1), length_(size_t(halving.extents[halving.axis])) {
    for (u64 step = 1, k = shape.rank(); k-- > 0; step *= shape[k]) stride_[k] = step;
    row_ = halving.axis == last_ ? 1 : size_t(halving.extents[last_]);
    width_ = std::min(row_, std::max(kLeastWidth, kBlockValues / length_ / 16 * 16));
    outer_.fill(1);
    for (size_t k = from; k < last_; ++k)
      if (k != halving.axis) outer_[k] = halving.extents[k];
  }
  // Values of memory for the halves of a block.
  size_t memory() const { return (length_ + 4 * kMostTaps + 2) * width_ + 3 * kMostLanes; }
  u64 blocks() const {
    u64 count = blocks_in_row();
    for (const u64 extent : outer_) count *= extent;
    return count;
  }
  template <class C>
  LineBlock<C> block(C* values, u64 number) const {
    u64 place = number / blocks_in_row(), offset = number % blocks_in_row() * width_;
    const size_t width = std::min(width_, row_ - size_t(offset));
    for (size_t k = kMaxRank; k-- > 0; place /= outer_[k]) offset += place % outer_[k] * stride_[k];
    return {values + offset, length_, width, size_t(stride_[halving_.axis])};
  }

 private:
  u64 blocks_in_row() const { return (row_ + width_ - 1) / width_; }

  const Halving& halving_;
  size_t last_, length_, row_, width_;
  Extents stride_{}, outer_;
};

// Halvings that are done one after the other in each plane of the last two axes, as long as it is
// in the cache; or a single one in the whole box.
struct Stage {
  std::vector<Lines> lines;
  std::vector<u64> places;  // of the planes; one if there are none
  size_t memory() const {
    size_t most = 0;
    for (const Lines& of : lines) most = std::max(most, of.memory());
    return most;
  }
};

// Whether both are along one of the last two axes, in the same planes.
bool share_planes(const Shape& shape, const Halving& a, const Halving& b) {
  const size_t from = shape.rank() - 2;
  return std::min(a.axis, b.axis) >= from &&
         std::equal(a.extents.begin(), a.extents.begin() + std::ptrdiff_t(from), b.extents.begin());
}

Stage stage_of(const Shape& shape, std::span<const Halving> halvings) {
  const size_t from =
      shape.rank() > 2 && halvings[0].axis + 2 >= shape.rank() ? shape.rank() - 2 : 0;
  Stage stage{{}, {0}};
  for (const Halving& halving : halvings) stage.lines.emplace_back(shape, halving, from);
  u64 stride = shape.size();
  for (size_t k = 0; k < from; ++k) {
    stride /= shape[k];
    std::vector<u64> next;
    for (const u64 place : stage.places)
      for (u64 i = 0; i < halvings[0].extents[k]; ++i) next.push_back(place + i * stride);
    stage.places = std::move(next);
  }
  return stage;
}

template <class C, class F>
void run(C* values, const Stage& stage, const F& f) {
  // Pieces of work that do not depend on each other: planes, or blocks of one halving.
  const bool by_plane = stage.lines.size() > 1 || stage.places.size() > 1;
  const u64 count = by_plane ? stage.places.size() : stage.lines[0].blocks();
  const auto work = [&](u64 first, u64 end) {
    Buffer<C> memory(stage.memory());
    std::fill_n(memory.data(), memory.size(), C(0));
    for (u64 i = first; i < end; ++i) {
      if (!by_plane) {
        f(stage.lines[0].block(values, i), memory.data());
        continue;
      }
      for (const Lines& lines : stage.lines)
        for (u64 k = 0; k < lines.blocks(); ++k)
          f(lines.block(values + stage.places[size_t(i)], k), memory.data());
    }
  };
  const unsigned threads = threads_to_share();
  if (threads <= 1 || count < 2 * threads) return work(0, count);
  const u64 parts = 4 * u64(threads);
  for_each_index(parts, threads, {},
                 [&](u64 part) { work(count * part / parts, count * (part + 1) / parts); });
}

// In the order given.
template <class C, class F>
void for_each_block(C* values, const Shape& shape, std::span<const Halving> halvings, const F& f) {
  while (!halvings.empty()) {
    size_t count = 1;
    if (shape.rank() > 2)
      while (count < halvings.size() && share_planes(shape, halvings[0], halvings[count])) ++count;
    run(values, stage_of(shape, halvings.first(count)), f);
    halvings = halvings.subspan(count);
  }
}

}  // namespace

template <class C>
void forward(C* values, const Shape& shape, const Bands& bands, size_t filter) {
  for_each_block(values, shape, bands.halvings,
                 [&](const LineBlock<C>& block, C* memory) { halve(block, filter, memory); });
}
template <class C>
void backward(C* values, const Shape& shape, const Bands& bands, size_t filter) {
  const std::vector<Halving> undone(bands.halvings.rbegin(), bands.halvings.rend());
  for_each_block(values, shape, undone,
                 [&](const LineBlock<C>& block, C* memory) { join(block, filter, memory); });
}

template void forward(float*, const Shape&, const Bands&, size_t);
template void forward(double*, const Shape&, const Bands&, size_t);
template void backward(float*, const Shape&, const Bands&, size_t);
template void backward(double*, const Shape&, const Bands&, size_t);

}  // namespace leeway::wavelet
#endif
