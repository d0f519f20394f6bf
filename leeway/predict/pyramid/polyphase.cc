// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/pyramid/polyphase.h"

#include <algorithm>
#include <bit>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/predict/pyramid/polyphase.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_PREDICT_POLYPHASE_PAIRS
#define LEEWAY_PREDICT_POLYPHASE_PAIRS
namespace leeway {

// Rows of an array, and rows of the first and of the second of every two of their values.
template <class Array, class Storage>
struct Pairs {
  struct Line {
    Array* row;
    Storage *first, *second;
  };
  Line line;
  std::ptrdiff_t row_pitch;
  size_t first_pitch, second_pitch;
  size_t lines, length;  // rows, values in each

  HWY_INLINE Line at(size_t i) const {
    return {line.row + std::ptrdiff_t(i) * row_pitch, line.first + i * first_pitch,
            line.second + i * second_pitch};
  }
};

}  // namespace leeway
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::polyphase_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls f(d, i) for vectors that cover [0, n), the last one perhaps twice; says whether there are
// enough values for one.
template <class D, class F>
HWY_INLINE bool cover(D d, size_t n, F&& f) {
  const size_t lanes = hn::Lanes(d);
  if (n < lanes) return false;
  for (size_t i = 0; i + lanes <= n; i += lanes) f(d, i);
  if (n % lanes > 0) f(d, n - lanes);
  return true;
}
template <class U, class F>
HWY_INLINE void for_each_vector(size_t n, F&& f) {
#if HWY_TARGET != HWY_SCALAR
  if (cover(hn::ScalableTag<U>(), n, f) || cover(hn::CappedTag<U, 16 / sizeof(U)>(), n, f)) return;
#endif
  for (size_t i = 0; i < n; ++i) f(hn::CappedTag<U, 1>(), i);
}

template <class U>
HWY_INLINE void split_rows(const Pairs<const U, U>& rows) {
  for (size_t line = 0; line < rows.lines; ++line) {
    const auto [row, first, second] = rows.at(line);
    for_each_vector<U>(rows.length / 2,
                       [&, row = row, first = first, second = second](auto d, size_t i) HWY_ATTR {
                         hn::Vec<decltype(d)> a, b;
                         hn::LoadInterleaved2(d, row + 2 * i, a, b);
                         hn::StoreU(a, d, first + i);
                         hn::StoreU(b, d, second + i);
                       });
    if (rows.length % 2) first[rows.length / 2] = row[rows.length - 1];
  }
}
template <class U>
HWY_INLINE void join_rows(const Pairs<U, const U>& rows) {
  for (size_t line = 0; line < rows.lines; ++line) {
    const auto [row, first, second] = rows.at(line);
    for_each_vector<U>(
        rows.length / 2, [&, row = row, first = first, second = second](auto d, size_t i) HWY_ATTR {
          hn::StoreInterleaved2(hn::LoadU(d, first + i), hn::LoadU(d, second + i), d, row + 2 * i);
        });
    if (rows.length % 2) row[rows.length - 1] = first[rows.length / 2];
  }
}
#define LEEWAY_PAIRS(bits)                                                                         \
  void split_rows_##bits(const Pairs<const u##bits, u##bits>& rows) { split_rows<u##bits>(rows); } \
  void join_rows_##bits(const Pairs<u##bits, const u##bits>& rows) { join_rows<u##bits>(rows); }
LEEWAY_PAIRS(8)
LEEWAY_PAIRS(16)
LEEWAY_PAIRS(32)
LEEWAY_PAIRS(64)
#undef LEEWAY_PAIRS

}  // namespace leeway::polyphase_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::polyphase_kernels {
#define LEEWAY_PAIRS(bits)       \
  HWY_EXPORT(split_rows_##bits); \
  HWY_EXPORT(join_rows_##bits);
LEEWAY_PAIRS(8)
LEEWAY_PAIRS(16)
LEEWAY_PAIRS(32)
LEEWAY_PAIRS(64)
#undef LEEWAY_PAIRS
}  // namespace leeway::polyphase_kernels

namespace leeway {
using namespace polyphase_kernels;
namespace {

#define LEEWAY_PAIRS(bits)                                     \
  void split_rows(const Pairs<const u##bits, u##bits>& rows) { \
    HWY_DYNAMIC_DISPATCH(split_rows_##bits)(rows);             \
  }                                                            \
  void join_rows(const Pairs<u##bits, const u##bits>& rows) {  \
    HWY_DYNAMIC_DISPATCH(join_rows_##bits)(rows);              \
  }
LEEWAY_PAIRS(8)
LEEWAY_PAIRS(16)
LEEWAY_PAIRS(32)
LEEWAY_PAIRS(64)
#undef LEEWAY_PAIRS

// The same for values that are `step` apart in the array.
template <class U>
void split_rows(const Pairs<const U, U>& rows, std::ptrdiff_t step) {
  if (step == 1) return split_rows(rows);
  for (size_t line = 0; line < rows.lines; ++line) {
    const auto [row, first, second] = rows.at(line);
    for (size_t i = 0; i < rows.length; ++i)
      (i % 2 ? second : first)[i / 2] = row[std::ptrdiff_t(i) * step];
  }
}
template <class U>
void join_rows(const Pairs<U, const U>& rows, std::ptrdiff_t step) {
  if (step == 1) return join_rows(rows);
  for (size_t line = 0; line < rows.lines; ++line) {
    const auto [row, first, second] = rows.at(line);
    for (size_t i = 0; i < rows.length; ++i)
      row[std::ptrdiff_t(i) * step] = (i % 2 ? second : first)[i / 2];
  }
}

// copy_row() with steps in values.
template <class T>
void copy_values(const T* from, std::ptrdiff_t from_step, T* to, std::ptrdiff_t to_step,
                 size_t count) {
  constexpr auto bytes = std::ptrdiff_t(sizeof(T));
  copy_row(reinterpret_cast<const std::byte*>(from), from_step * bytes,
           reinterpret_cast<std::byte*>(to), to_step * bytes, count, sizeof(T));
}

template <class T>
Bits<T>* bits_at(T* values) {
  return reinterpret_cast<Bits<T>*>(values);
}
template <class T>
const Bits<T>* bits_at(const T* values) {
  return reinterpret_cast<const Bits<T>*>(values);
}

}  // namespace

template <class Array, class Storage>
Pairs<Array, Storage> Polyphase::pairs_of(Array* array, Storage* storage, const Rows& rows) const {
  return {{array + rows.offset, storage + rows.even, storage + rows.odd},
          rows.step,
          rows.even_pitch,
          rows.odd_pitch,
          rows.lines,
          extents_[rank_ - 1]};
}

Polyphase::Polyphase(const Shape& shape, u32 active, bool is_split) {
  // Sets of odd coordinates, by their number.
  static constexpr auto kOrder = [] {
    std::array<u8, kMostParts> order{};
    size_t next = 0;
    for (int count = 0; count <= int(kMaxActive); ++count)
      for (u32 odd = 0; odd < kMostParts; ++odd)
        if (std::popcount(odd) == count) order[next++] = u8(odd);
    return order;
  }();
  std::array<u64, kMaxRank> frozen{};
  size_t frozen_rank = 0;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    if (active >> axis & 1) {
      extents_[rank_] = size_t(shape[axis]);
      active_[rank_++] = u8(axis);
    } else {
      frozen_[frozen_rank] = u8(axis);
      frozen[frozen_rank++] = shape[axis];
    }
  }
  if (rank_ == 0) {  // a single value
    extents_[0] = 1;
    rank_ = 1;
  }
  slices_ = Shape(std::span<const u64>(frozen).first(frozen_rank));

  place_.fill(u8(kMostParts));
  for (const u8 odd : kOrder) {
    if (odd >= (is_split ? 1u << rank_ : 1u)) continue;
    Part part{odd, rank_, {}, 0, 0};
    for (size_t axis = 0; axis < rank_; ++axis)
      part.extents[axis] = !is_split         ? extents_[axis]
                           : odd >> axis & 1 ? extents_[axis] / 2
                                             : (extents_[axis] + 1) / 2;
    if (part.size() == 0) continue;
    part.first = slice_size_ + kPad;
    part.pitch = part.length() + 2 * kPad;
    slice_size_ += part.rows() * part.pitch;
    place_[odd] = u8(count_);
    parts_[count_++] = part;
  }
}

template <class F>
void Polyphase::for_each_rows(const Strides& strides, u32 ends, F&& f) const {
  const u32 parities = is_split() ? 1u << (rank_ - 1) : 1u;
  const size_t outer = rank_ - 1;
  size_t slice = 0;
  for_each_outer(slices_, 0, [&](const Index& position) {
    for (u32 parity = 0; parity < parities; ++parity) {
      if (!find(parity)) continue;
      // Without odd ones, rows have one value.
      const Part& even = *find(parity);
      const Part* const other = find(is_split() ? parity | parities : 0);
      const Part& odd = other ? *other : even;
      std::ptrdiff_t offset = 0;
      for (size_t axis = 0; axis < slices_.rank(); ++axis)
        offset += std::ptrdiff_t(position[axis]) * strides[frozen_[axis]];
      Strides steps{};
      for (size_t axis = 0; axis < outer; ++axis) {
        const std::ptrdiff_t stride = strides[active_[axis]];
        offset += std::ptrdiff_t(parity >> axis & 1) * stride;
        steps[axis] = is_split() ? 2 * stride : stride;
      }
      const auto is_end = [&](size_t axis, size_t index) {
        return !(parity >> axis & 1) &&
               ((index == 0 && (ends >> 2 * axis & 1)) ||
                (index + 1 == even.extents[axis] && (ends >> 2 * axis & 2)));
      };
      // Planes: the rows between their ends at once.
      const size_t rows = outer > 0 ? even.extents[outer - 1] : 1;
      size_t row = 0;  // in the class
      std::array<u64, kMaxActive> extents{};
      for (size_t axis = 0; axis + 1 < outer; ++axis) extents[axis] = even.extents[axis];
      const Shape planes(std::span<const u64>(extents).first(outer - (outer > 0)));
      for_each_outer(planes, 0, [&](const Index& index) {
        std::ptrdiff_t plane = offset;
        bool is_outside = false;
        for (size_t axis = 0; axis + 1 < outer; ++axis) {
          plane += std::ptrdiff_t(index[axis]) * steps[axis];
          is_outside = is_outside || is_end(axis, size_t(index[axis]));
        }
        const auto give = [&](size_t from, size_t end, bool at_end) {
          if (from >= end) return;
          const std::ptrdiff_t step = outer > 0 ? steps[outer - 1] : 0;
          f(Rows{plane + std::ptrdiff_t(from) * step, step,
                 slice + even.first + (row + from) * even.pitch,
                 slice + odd.first + (row + from) * odd.pitch, even.pitch, odd.pitch, end - from,
                 at_end});
        };
        if (is_outside || outer == 0) {
          give(0, rows, is_outside);
        } else {
          const bool low = is_end(outer - 1, 0),
                     high = rows > size_t(low) && is_end(outer - 1, rows - 1);
          give(0, low, true);
          give(low, rows - high, false);
          give(rows - high, rows, true);
        }
        row += rows;
      });
    }
    slice += slice_size_;
  });
}

template <class T>
void Polyphase::split(const T* from, const Strides& strides, T* storage) const {
  const std::ptrdiff_t step = strides[active_[rank_ - 1]];
  for_each_rows(strides, 0, [&](const Rows& rows) {
    const auto pairs = pairs_of(bits_at(from), bits_at(storage), rows);
    if (is_split()) return split_rows(pairs, step);
    for (size_t line = 0; line < rows.lines; ++line) {
      const auto [row, values, unused] = pairs.at(line);
      copy_values(row, step, values, 1, pairs.length);
    }
  });
}

template <class T>
void Polyphase::split_ends(const T* from, const Strides& strides, u32 ends, T* storage) const {
  if (!is_split() || ends == 0) return;
  const std::ptrdiff_t step = strides[active_[rank_ - 1]];
  const u32 row_ends = ends >> 2 * (rank_ - 1);
  const bool low = row_ends & 1, high = row_ends & 2 && extents_[rank_ - 1] % 2;
  for_each_rows(strides, ends, [&](const Rows& rows) {
    const auto pairs = pairs_of(bits_at(from), bits_at(storage), rows);
    if (rows.is_end) return split_rows(pairs, step);
    for (size_t line = 0; (low || high) && line < rows.lines; ++line) {
      const auto [row, even, odd] = pairs.at(line);
      if (low) even[0] = row[0];
      if (high) even[pairs.length / 2] = row[std::ptrdiff_t(pairs.length - 1) * step];
    }
  });
}

template <class T>
void Polyphase::put_grid(const T* from, const Strides& strides, T* storage) const {
  const Part& part = grid();
  std::array<u64, kMaxActive> extents{};
  std::ranges::copy(part.extents, extents.begin());
  const Shape shape(std::span<const u64>(extents).first(rank_));
  const std::ptrdiff_t step = strides[active_[rank_ - 1]];
  T* to = storage + part.first;
  for_each_outer(slices_, 0, [&](const Index& position) {
    const T* slice = from;
    for (size_t axis = 0; axis < slices_.rank(); ++axis)
      slice += std::ptrdiff_t(position[axis]) * strides[frozen_[axis]];
    T* row_to = to;
    for_each_outer(shape, 1, [&](const Index& index) {
      const T* row = slice;
      for (size_t axis = 0; axis + 1 < rank_; ++axis)
        row += std::ptrdiff_t(index[axis]) * strides[active_[axis]];
      copy_values(row, step, row_to, 1, part.length());
      row_to += part.pitch;
    });
    to += slice_size_;
  });
}

template <class T>
void Polyphase::merge(const T* storage, T* to, const Strides& strides, u32 ends) const {
  const std::ptrdiff_t step = strides[active_[rank_ - 1]];
  const u32 row_ends = ends >> 2 * (rank_ - 1);
  const bool low = row_ends & 1, high = row_ends & 2;
  for_each_rows(strides, ends, [&](const Rows& rows) {
    if (rows.is_end) return;
    auto pairs = pairs_of(bits_at(to), bits_at(storage), rows);
    if (is_split()) {
      pairs.length -= size_t(low) + size_t(high);
      if (low) {  // begins with an odd one
        auto& [row, first, second] = pairs.line;
        row += step;
        std::swap(first, second);
        ++second;
        std::swap(pairs.first_pitch, pairs.second_pitch);
      }
      return join_rows(pairs, step);
    }
    for (size_t line = 0; line < rows.lines; ++line) {
      const auto [row, values, unused] = pairs.at(line);
      copy_values(values, 1, row, step, pairs.length);
    }
  });
}

#define LEEWAY_POLYPHASE(T)                                                     \
  template void Polyphase::split(const T*, const Strides&, T*) const;           \
  template void Polyphase::split_ends(const T*, const Strides&, u32, T*) const; \
  template void Polyphase::put_grid(const T*, const Strides&, T*) const;        \
  template void Polyphase::merge(const T*, T*, const Strides&, u32) const;
LEEWAY_POLYPHASE(float)
LEEWAY_POLYPHASE(double)
LEEWAY_POLYPHASE(f16)
LEEWAY_POLYPHASE(bf16)
LEEWAY_POLYPHASE(i8)
LEEWAY_POLYPHASE(i16)
LEEWAY_POLYPHASE(i32)
LEEWAY_POLYPHASE(i64)
LEEWAY_POLYPHASE(u8)
LEEWAY_POLYPHASE(u16)
LEEWAY_POLYPHASE(u32)
LEEWAY_POLYPHASE(u64)
#undef LEEWAY_POLYPHASE

}  // namespace leeway
#endif
