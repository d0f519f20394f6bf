// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/polyphase.h"

#include <algorithm>
#include <bit>

namespace leeway {
namespace {

// Calls f(index) for all rows of an array.
template <class F>
void for_each_index_of_row(size_t rank, const Extents& extents, F&& f) {
  Extents index{};
  for (;;) {
    f(std::as_const(index));
    size_t axis = rank - 1;
    while (axis > 0 && ++index[axis - 1] == extents[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

// Calls f(offset in the array, even row, odd row) for all rows of what is split.
template <class F>
void for_each_pair(const Level& level, size_t rank, const auto& steps, F&& f) {
  for_each_index_of_row(rank, level.extents, [&](const Extents& index) {
    u32 odd = 0;
    std::ptrdiff_t offset = 0;
    size_t row = 0;
    for (size_t axis = 0; axis + 1 < rank; ++axis) {
      odd |= u32(index[axis] & 1) << axis;
      offset += std::ptrdiff_t(index[axis]) * steps[axis];
    }
    const Part& even = *level.find(odd);
    for (size_t axis = 0; axis + 1 < rank; ++axis) row = row * even.extents[axis] + index[axis] / 2;
    const bool has_odd = level.extents[rank - 1] > 1;
    const Part* odd_part = has_odd ? level.find(odd | 1u << (rank - 1)) : nullptr;
    f(offset, even.first + row * even.pitch,
      odd_part ? odd_part->first + row * odd_part->pitch : size_t(0));
  });
}

}  // namespace

Polyphase::Polyphase(const Shape& shape, u32 active, bool with_levels)
    : natural_(contiguous_strides(shape, 1)) {
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

  const auto add = [&](u32 odd, const Extents& extents) {
    Part part{odd, rank_, extents, slice_size_ + kPad, extents[rank_ - 1] + 2 * kPad};
    slice_size_ += part.rows() * part.pitch;
    return part;
  };
  Extents extents = extents_;
  const auto is_split = [&] {
    return std::any_of(extents.begin(), extents.begin() + std::ptrdiff_t(rank_),
                       [](size_t extent) { return extent > 1; });
  };
  while (with_levels && is_split()) {
    Level level{extents, {}, {}};
    for (u32 odd = 1; odd < 1u << rank_; ++odd) {
      Extents part{};
      bool empty = false;
      for (size_t axis = 0; axis < rank_; ++axis) {
        part[axis] = odd >> axis & 1 ? extents[axis] / 2 : (extents[axis] + 1) / 2;
        empty = empty || part[axis] == 0;
      }
      if (!empty) level.classes.push_back(add(odd, part));
    }
    std::ranges::stable_sort(level.classes, {}, [](const Part& p) { return std::popcount(p.odd); });
    for (size_t axis = 0; axis < rank_; ++axis) extents[axis] = (extents[axis] + 1) / 2;
    level.grid = add(0, extents);
    levels_.push_back(std::move(level));
  }
  top_ = levels_.empty() ? add(0, extents) : levels_.back().grid;
}

Polyphase::Steps Polyphase::steps_of(const Part& part) const {
  Steps steps{};
  auto step = std::ptrdiff_t(part.pitch);
  steps[rank_ - 1] = 1;
  for (size_t axis = rank_ - 1; axis-- > 0; step *= std::ptrdiff_t(part.extents[axis]))
    steps[axis] = step;
  return steps;
}
Polyphase::Steps Polyphase::steps_of(const Strides& strides) const {
  Steps steps{};
  for (size_t axis = 0; axis < rank_; ++axis) steps[axis] = strides[active_[axis]];
  return steps;
}

template <class F>
void Polyphase::for_each_slice(const Strides& strides, F&& f) const {
  size_t slice = 0;
  for_each_outer(slices_, 0, [&](const Index& index) {
    std::ptrdiff_t offset = 0;
    for (size_t axis = 0; axis < slices_.rank(); ++axis)
      offset += std::ptrdiff_t(index[axis]) * strides[frozen_[axis]];
    f(offset, slice++ * slice_size_);
  });
}

template <class F>
void Polyphase::for_each_flat_row(const Steps& steps, F&& f) const {
  size_t row = 0;
  for_each_index_of_row(rank_, extents_, [&](const Extents& index) {
    std::ptrdiff_t offset = 0;
    for (size_t axis = 0; axis + 1 < rank_; ++axis)
      offset += std::ptrdiff_t(index[axis]) * steps[axis];
    f(offset, top_.first + row++ * top_.pitch);
  });
}

template <class T>
void Polyphase::split_level(const Level& level, const T* from, const Steps& steps, T* slice) const {
  const auto length = std::ptrdiff_t(level.extents[rank_ - 1]), half = length / 2;
  const std::ptrdiff_t step = steps[rank_ - 1];
  for_each_pair(level, rank_, steps, [&](std::ptrdiff_t offset, size_t even, size_t odd) {
    const T* row = from + offset;
    T *e = slice + even, *o = slice + odd;
    if (step == 1)
      for (std::ptrdiff_t i = 0; i < half; ++i) e[i] = row[2 * i], o[i] = row[2 * i + 1];
    else
      for (std::ptrdiff_t i = 0; i < half; ++i)
        e[i] = row[2 * i * step], o[i] = row[(2 * i + 1) * step];
    if (length % 2) e[half] = row[(length - 1) * step];
  });
}

template <class T>
void Polyphase::merge_level(const Level& level, const T* slice, T* to, const Steps& steps) const {
  const auto length = std::ptrdiff_t(level.extents[rank_ - 1]), half = length / 2;
  const std::ptrdiff_t step = steps[rank_ - 1];
  for_each_pair(level, rank_, steps, [&](std::ptrdiff_t offset, size_t even, size_t odd) {
    T* row = to + offset;
    const T *e = slice + even, *o = slice + odd;
    if (step == 1)
      for (std::ptrdiff_t i = 0; i < half; ++i) row[2 * i] = e[i], row[2 * i + 1] = o[i];
    else
      for (std::ptrdiff_t i = 0; i < half; ++i)
        row[2 * i * step] = e[i], row[(2 * i + 1) * step] = o[i];
    if (length % 2) row[(length - 1) * step] = e[half];
  });
}

template <class T>
void Polyphase::split(const T* from, const Strides& strides, T* storage) const {
  const Steps steps = steps_of(strides);
  for_each_slice(strides, [&](std::ptrdiff_t offset, size_t at) {
    T* slice = storage + at;
    if (levels_.empty()) {
      for_each_flat_row(steps, [&](std::ptrdiff_t row, size_t to) {
        const T* values = from + offset + row;
        for (size_t i = 0; i < extents_[rank_ - 1]; ++i)
          slice[to + i] = values[std::ptrdiff_t(i) * steps[rank_ - 1]];
      });
      return;
    }
    split_level(levels_[0], from + offset, steps, slice);
    for (size_t l = 1; l < levels_.size(); ++l) {
      const Part& grid = levels_[l - 1].grid;
      split_level(levels_[l], slice + grid.first, steps_of(grid), slice);
    }
  });
}

template <class T>
void Polyphase::merge_grid(size_t level, T* slice) const {
  const Part& grid = levels_[level].grid;
  merge_level(levels_[level + 1], slice, slice + grid.first, steps_of(grid));
}

template <class T>
void Polyphase::scatter_grid(size_t level, const T* storage, T* field) const {
  const Part& grid = levels_[level].grid;
  Steps steps = steps_of(natural_);
  for (std::ptrdiff_t& step : steps) step <<= level + 1;
  for_each_slice(natural_, [&](std::ptrdiff_t offset, size_t at) {
    Extents index{};
    for (size_t row = 0; row < grid.rows(); ++row) {
      const T* from = storage + at + grid.first + row * grid.pitch;
      T* to = field + offset;
      for (size_t axis = 0; axis + 1 < rank_; ++axis)
        to += std::ptrdiff_t(index[axis]) * steps[axis];
      for (size_t i = 0; i < grid.length(); ++i) to[std::ptrdiff_t(i) * steps[rank_ - 1]] = from[i];
      for (size_t axis = rank_ - 1; axis-- > 0 && ++index[axis] == grid.extents[axis];)
        index[axis] = 0;
    }
  });
}

template <class T>
void Polyphase::merge(T* storage, T* field) const {
  const Steps steps = steps_of(natural_);
  for_each_slice(natural_, [&](std::ptrdiff_t offset, size_t at) {
    T* slice = storage + at;
    if (levels_.empty())
      for_each_flat_row(steps, [&](std::ptrdiff_t row, size_t from) {
        T* values = field + offset + row;
        for (size_t i = 0; i < extents_[rank_ - 1]; ++i)
          values[std::ptrdiff_t(i) * steps[rank_ - 1]] = slice[from + i];
      });
    else
      merge_level(levels_[0], slice, field + offset, steps);
  });
}

#define LEEWAY_POLYPHASE(T)                                           \
  template void Polyphase::split(const T*, const Strides&, T*) const; \
  template void Polyphase::merge(T*, T*) const;                       \
  template void Polyphase::scatter_grid(size_t, const T*, T*) const;  \
  template void Polyphase::merge_grid(size_t, T*) const;
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
