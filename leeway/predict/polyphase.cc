// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/polyphase.h"

#include <bit>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/predict/polyphase.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::HWY_NAMESPACE {
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

// Pairs of values apart, and together again.
template <class U>
HWY_INLINE void split_pairs(const U* HWY_RESTRICT row, size_t pairs, U* HWY_RESTRICT even,
                            U* HWY_RESTRICT odd) {
  for_each_vector<U>(pairs, [&](auto d, size_t i) HWY_ATTR {
    hn::Vec<decltype(d)> e, o;
    hn::LoadInterleaved2(d, row + 2 * i, e, o);
    hn::StoreU(e, d, even + i);
    hn::StoreU(o, d, odd + i);
  });
}
template <class U>
HWY_INLINE void join_pairs(const U* HWY_RESTRICT even, const U* HWY_RESTRICT odd, size_t pairs,
                           U* HWY_RESTRICT row) {
  for_each_vector<U>(pairs, [&](auto d, size_t i) HWY_ATTR {
    hn::StoreInterleaved2(hn::LoadU(d, even + i), hn::LoadU(d, odd + i), d, row + 2 * i);
  });
}
#define LEEWAY_PAIRS(bits)                                                                      \
  void split_pairs_##bits(const u##bits* row, size_t pairs, u##bits* even, u##bits* odd) {      \
    split_pairs(row, pairs, even, odd);                                                         \
  }                                                                                             \
  void join_pairs_##bits(const u##bits* even, const u##bits* odd, size_t pairs, u##bits* row) { \
    join_pairs(even, odd, pairs, row);                                                          \
  }
LEEWAY_PAIRS(8)
LEEWAY_PAIRS(16)
LEEWAY_PAIRS(32)
LEEWAY_PAIRS(64)
#undef LEEWAY_PAIRS

}  // namespace leeway::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway {
namespace {

#define LEEWAY_PAIRS(bits)                                                               \
  HWY_EXPORT(split_pairs_##bits);                                                        \
  HWY_EXPORT(join_pairs_##bits);                                                         \
  void split_pairs(const u##bits* row, size_t pairs, u##bits* even, u##bits* odd) {      \
    HWY_DYNAMIC_DISPATCH(split_pairs_##bits)(row, pairs, even, odd);                     \
  }                                                                                      \
  void join_pairs(const u##bits* even, const u##bits* odd, size_t pairs, u##bits* row) { \
    HWY_DYNAMIC_DISPATCH(join_pairs_##bits)(even, odd, pairs, row);                      \
  }
LEEWAY_PAIRS(8)
LEEWAY_PAIRS(16)
LEEWAY_PAIRS(32)
LEEWAY_PAIRS(64)
#undef LEEWAY_PAIRS

template <class T>
Bits<T>* bits_at(T* values) {
  return reinterpret_cast<Bits<T>*>(values);
}
template <class T>
const Bits<T>* bits_at(const T* values) {
  return reinterpret_cast<const Bits<T>*>(values);
}

}  // namespace

Polyphase::Polyphase(const Shape& shape, u32 active, bool is_split) {
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

  for (u32 odd = 0; odd < (is_split ? 1u << rank_ : 1u); ++odd) {
    Part part{odd, rank_, {}, 0, 0};
    for (size_t axis = 0; axis < rank_; ++axis)
      part.extents[axis] = !is_split         ? extents_[axis]
                           : odd >> axis & 1 ? extents_[axis] / 2
                                             : (extents_[axis] + 1) / 2;
    if (part.size() == 0) continue;
    part.first = slice_size_ + kPad;
    part.pitch = part.length() + 2 * kPad;
    slice_size_ += part.rows() * part.pitch;
    parts_[odd] = part;
    if (odd > 0) classes_.push_back(part);
  }
  std::ranges::stable_sort(classes_, {}, [](const Part& p) { return std::popcount(p.odd); });
}

template <class F>
void Polyphase::for_each_row_of(const Strides& strides, u32 ends, F&& f) const {
  const u32 parities = is_split() ? 1u << (rank_ - 1) : 1u;
  const size_t outer = rank_ - 1;
  size_t slice = 0;
  for_each_outer(slices_, 0, [&](const Index& position) {
    for (u32 parity = 0; parity < parities; ++parity) {
      const Part &even = parts_[parity], &odd = parts_[is_split() ? parity | parities : 0];
      if (even.pitch == 0) continue;
      Row row{0, slice + even.first, slice + odd.first, parity == 0, false};
      for (size_t axis = 0; axis < slices_.rank(); ++axis)
        row.offset += std::ptrdiff_t(position[axis]) * strides[frozen_[axis]];
      Strides steps{};
      for (size_t axis = 0; axis < outer; ++axis) {
        const std::ptrdiff_t stride = strides[active_[axis]];
        row.offset += std::ptrdiff_t(parity >> axis & 1) * stride;
        steps[axis] = is_split() ? 2 * stride : stride;
      }
      const auto is_end = [&](size_t axis, size_t index) {
        return !(parity >> axis & 1) &&
               ((index == 0 && (ends >> 2 * axis & 1)) ||
                (index + 1 == even.extents[axis] && (ends >> 2 * axis & 2)));
      };
      Extents index{};
      for (;;) {
        row.is_end = false;
        for (size_t axis = 0; ends && axis < outer; ++axis)
          row.is_end = row.is_end || is_end(axis, index[axis]);
        f(std::as_const(row));
        row.even += even.pitch;
        row.odd += odd.pitch;
        size_t axis = outer;
        for (; axis > 0; --axis) {
          row.offset += steps[axis - 1];
          if (++index[axis - 1] < even.extents[axis - 1]) break;
          row.offset -= std::ptrdiff_t(even.extents[axis - 1]) * steps[axis - 1];
          index[axis - 1] = 0;
        }
        if (axis == 0) break;
      }
    }
    slice += slice_size_;
  });
}

namespace {

// A row whose values are `step` apart.
template <class T>
void split_row(const T* row, std::ptrdiff_t length, std::ptrdiff_t step, T* e, T* o) {
  const std::ptrdiff_t half = length / 2;
  if (step == 1)
    split_pairs(bits_at(row), size_t(half), bits_at(e), bits_at(o));
  else
    for (std::ptrdiff_t i = 0; i < half; ++i)
      e[i] = row[2 * i * step], o[i] = row[(2 * i + 1) * step];
  if (length % 2) e[half] = row[(length - 1) * step];
}

// Values [begin, end) of it; begin is 0 or 1.
template <class T>
void join_row(const T* e, const T* o, std::ptrdiff_t begin, std::ptrdiff_t end, std::ptrdiff_t step,
              T* row) {
  const T *first = begin > 0 ? o : e, *second = begin > 0 ? e + 1 : o;
  const std::ptrdiff_t pairs = (end - begin) / 2;
  row += begin * step;
  if (step == 1)
    join_pairs(bits_at(first), bits_at(second), size_t(pairs), bits_at(row));
  else
    for (std::ptrdiff_t i = 0; i < pairs; ++i)
      row[2 * i * step] = first[i], row[(2 * i + 1) * step] = second[i];
  if ((end - begin) % 2) row[2 * pairs * step] = first[pairs];
}

}  // namespace

template <class T>
void Polyphase::split(const T* from, const Strides& strides, T* storage) const {
  const auto length = std::ptrdiff_t(extents_[rank_ - 1]);
  const std::ptrdiff_t step = strides[active_[rank_ - 1]];
  for_each_row_of(strides, 0, [&](const Row& at) {
    const T* row = from + at.offset;
    T* e = storage + at.even;
    if (is_split())
      split_row(row, length, step, e, storage + at.odd);
    else
      for (std::ptrdiff_t i = 0; i < length; ++i) e[i] = row[i * step];
  });
}

template <class T>
void Polyphase::split_known(const T* from, const Strides& strides, u32 ends, T* storage) const {
  if (!is_split()) return;
  const auto length = std::ptrdiff_t(extents_[rank_ - 1]), half = length / 2;
  const std::ptrdiff_t step = strides[active_[rank_ - 1]], last = 2 * half * step;
  const u32 row_ends = ends >> 2 * (rank_ - 1);
  const bool low = row_ends & 1, high = row_ends & 2 && length % 2;
  for_each_row_of(strides, ends, [=](const Row& at) {
    const T* row = from + at.offset;
    T* e = storage + at.even;
    if (at.is_grid || at.is_end) return split_row(row, length, step, e, storage + at.odd);
    if (low) e[0] = row[0];
    if (high) e[half] = row[last];
  });
}

template <class T>
void Polyphase::merge(const T* storage, T* to, const Strides& strides, u32 ends) const {
  const auto length = std::ptrdiff_t(extents_[rank_ - 1]);
  const std::ptrdiff_t step = strides[active_[rank_ - 1]];
  const u32 row_ends = ends >> 2 * (rank_ - 1);
  const std::ptrdiff_t begin = row_ends & 1, end = length - (row_ends >> 1 & 1);
  for_each_row_of(strides, ends, [&](const Row& at) {
    if (at.is_end) return;
    T* row = to + at.offset;
    const T* e = storage + at.even;
    if (is_split())
      join_row(e, storage + at.odd, begin, end, step, row);
    else
      for (std::ptrdiff_t i = 0; i < length; ++i) row[i * step] = e[i];
  });
}

#define LEEWAY_POLYPHASE(T)                                                      \
  template void Polyphase::split(const T*, const Strides&, T*) const;            \
  template void Polyphase::split_known(const T*, const Strides&, u32, T*) const; \
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
