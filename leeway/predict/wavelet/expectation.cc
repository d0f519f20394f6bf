// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/wavelet/expectation.h"

#include <algorithm>
#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/predict/wavelet/expectation.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_PREDICT_WAVELET_EXPECTATION
#define LEEWAY_PREDICT_WAVELET_EXPECTATION
namespace leeway::wavelet {

// A row with those to its sides, at the first coefficient of a run.
struct Cross {
  const u8 *same, *up, *down;
};

// The least expectation, 2^-7, in parts of 512, as a float.
inline constexpr u32 kLeastBits = std::bit_cast<u32>(4.0f) >> 22;

}  // namespace leeway::wavelet
#endif

// Plain loops over integers: what vectors compute cannot differ from it.
HWY_BEFORE_NAMESPACE();
namespace leeway::wavelet_expectation::HWY_NAMESPACE {
using namespace wavelet;

void add_cross(const Cross& from, size_t count, u16* HWY_RESTRICT to) {
  for (size_t x = 0; x < count; ++x)
    to[x] = u16(to[x] + 4 * from.same[x] + (from.same + x)[-1] + from.same[x + 1] + from.up[x] +
                from.down[x]);
}
void row_before(const u8* HWY_RESTRICT row, size_t count, u16* HWY_RESTRICT to) {
  for (size_t x = 0; x < count; ++x) to[x] = u16(4 * row[x] + 2 * ((row + x)[-1] + row[x + 1]));
}
void row_two_before(const u8* HWY_RESTRICT row, size_t count, u16* HWY_RESTRICT to) {
  for (size_t x = 0; x < count; ++x) to[x] = u16(8 * row[x]);
}
// to[x] = from[(x + odd) / 2], at most from[last].
void repeat(const u16* HWY_RESTRICT from, size_t odd, size_t last, size_t count,
            u16* HWY_RESTRICT to) {
  size_t x = 0;
  if (odd && count > 0) to[x++] = from[0];
  const u16* HWY_RESTRICT next = from + odd;
  const size_t pairs = (count - x) / 2;
  for (size_t i = 0; i < pairs; ++i) {
    to[x + 2 * i] = next[i];
    to[x + 2 * i + 1] = next[i];
  }
  x += 2 * pairs;
  if (x < count) to[x] = next[pairs];
  for (size_t i = 0; i < count; ++i)
    if ((i + odd) / 2 >= last) to[i] = from[last];
}
void divide(u16* HWY_RESTRICT values, size_t by, size_t count) {
  const u32 inverse = u32(65536 / by);
  for (size_t x = 0; x < count; ++x) values[x] = u16(values[x] * inverse >> 16);
}

void add_weighted(const u16* HWY_RESTRICT row, i32 weight, size_t count, i32* HWY_RESTRICT sum) {
  for (size_t x = 0; x < count; ++x) sum[x] += weight * i32(row[x]);
}
void to_contexts(const i32* HWY_RESTRICT sum, size_t count, u8 first, u8* HWY_RESTRICT contexts) {
  for (size_t x = 0; x < count; ++x) {
    const i32 expected = std::max(sum[x], 4);
    const u32 half_octave = (std::bit_cast<u32>(float(expected)) >> 22) - kLeastBits;
    contexts[x] = u8(first + std::min(half_octave, 31u));
  }
}

}  // namespace leeway::wavelet_expectation::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::wavelet_expectation {
HWY_EXPORT(add_cross);
HWY_EXPORT(row_before);
HWY_EXPORT(row_two_before);
HWY_EXPORT(repeat);
HWY_EXPORT(divide);
HWY_EXPORT(add_weighted);
HWY_EXPORT(to_contexts);
}  // namespace leeway::wavelet_expectation

namespace leeway::wavelet {
using namespace wavelet_expectation;

namespace {

// Finds the features of a row.
class Look {
 public:
  Look(const Bands& bands, const Sizes& sizes, size_t rank, Features& out)
      : bands_(bands), sizes_(sizes), rank_(rank), out_(out) {}

  void at(size_t number, const Index& index, size_t x, size_t count) {
    const Band& band = bands_.all[number];
    const Sizes::Table& own = sizes_.table(number);
    const u8* const row = sizes_.row(number, index) + x;
    out_.present = 0;
    if (rank_ >= 2 && index[rank_ - 2] > 0) {
      const u64 stride = own.stride[rank_ - 2];
      HWY_DYNAMIC_DISPATCH(row_before)(row - stride, count, begin(0));
      if (index[rank_ - 2] > 1)
        HWY_DYNAMIC_DISPATCH(row_two_before)(row - 2 * stride, count, begin(1));
    }
    for (const size_t back : {size_t(3), size_t(4)})
      if (rank_ >= back && index[rank_ - back] > 0)
        add(own, row - own.stride[rank_ - back], index, count, begin_sum(back - 1, count));
    for (size_t k = 0; k < band.parents.size(); ++k)
      look_at_parent(band.parents[k], index, x, count, 4 + k);
    if (!band.siblings.empty()) {
      u16* const sum = begin_sum(6, count);
      for (const size_t sibling : band.siblings) add_clamped(sibling, index, x, count, sum);
      if (band.siblings.size() > 1) HWY_DYNAMIC_DISPATCH(divide)(sum, band.siblings.size(), count);
    }
  }

 private:
  u16* begin(size_t row) {
    out_.present |= 1u << row;
    return out_.rows[row].data();
  }
  u16* begin_sum(size_t row, size_t count) {
    u16* const sum = begin(row);
    std::fill_n(sum, count, u16(0));
    return sum;
  }
  // `row` is that of a table at these coordinates.
  void add(const Sizes::Table& table, const u8* row, const Index& index, size_t count,
           u16* to) const {
    Cross cross{row, row, row};
    if (rank_ >= 2) {
      const u64 last = table.extents[rank_ - 2] - 1, y = std::min(index[rank_ - 2], last);
      if (y > 0) cross.up -= table.stride[rank_ - 2];
      if (y < last) cross.down += table.stride[rank_ - 2];
    }
    HWY_DYNAMIC_DISPATCH(add_cross)(cross, count, to);
  }
  // A band may be shorter by one: its last coefficients count again.
  void add_clamped(size_t band, const Index& index, size_t x, size_t count, u16* to) const {
    const Sizes::Table& table = sizes_.table(band);
    const u8* const row = sizes_.row(band, index);
    const auto extent = size_t(table.extents[rank_ - 1]);
    const size_t inside = std::min(count, extent > x ? extent - x : 0);
    if (inside > 0) add(table, row + x, index, inside, to);
    if (inside == count) return;
    u16 last = 0;
    add(table, row + extent - 1, index, 1, &last);
    for (size_t i = inside; i < count; ++i) to[i] = u16(to[i] + last);
  }
  void look_at_parent(const Parent& parent, const Index& index, size_t x, size_t count,
                      size_t row) {
    Index above{};
    for (size_t axis = 0; axis < rank_; ++axis) above[axis] = index[axis] >> parent.shift[axis];
    if (parent.shift[rank_ - 1] == 0)
      return add_clamped(parent.band, above, x, count, begin_sum(row, count));
    const Sizes::Table& table = sizes_.table(parent.band);
    const auto extent = size_t(table.extents[rank_ - 1]);
    const size_t first = std::min(x / 2, extent - 1);
    const size_t needed = std::min((x + count - 1) / 2 + 1, extent) - first;
    std::array<u16, kMostCodes / 2 + 2> found;
    std::fill_n(found.data(), needed + 1, u16(0));
    add(table, sizes_.row(parent.band, above) + first, above, needed, found.data());
    HWY_DYNAMIC_DISPATCH(repeat)(found.data(), x % 2, needed - 1, count, begin(row));
  }

  const Bands& bands_;
  const Sizes& sizes_;
  size_t rank_;
  Features& out_;
};

}  // namespace

Sizes::Sizes(const Bands& bands, size_t rank) : rank_(rank) {
  size_t total = 0;
  const auto pitch_of = [&](const Band& band) { return size_t(band.extents[rank - 1]) + 2; };
  for (const Band& band : bands.all)
    total += size_t(band.size(rank)) / size_t(band.extents[rank - 1]) * pitch_of(band);
  memory_ = Buffer<u8>(total);
  u8* next = memory_.data();
  for (const Band& band : bands.all) {
    Table table{next + 1, band.extents, {}};
    u64 stride = pitch_of(band);
    for (size_t axis = rank - 1; axis-- > 0; stride *= band.extents[axis])
      table.stride[axis] = stride;
    next += stride;
    tables_.push_back(table);
  }
}

void find_features(const Bands& bands, const Sizes& sizes, size_t rank, size_t band,
                   const Index& index, size_t x, size_t count, Features& out) {
  Look(bands, sizes, rank, out).at(band, index, x, count);
}

void find_contexts(const Features& features, const Weights& weights, size_t count, u8 first,
                   u8* contexts) {
  std::array<i32, kMostCodes> sum;
  std::fill_n(sum.data(), count, kConstant * i32(weights[kKnown - 1]));
  for (size_t k = 0; k < kRows; ++k)
    if (features.present >> k & 1)
      HWY_DYNAMIC_DISPATCH(add_weighted)(features.rows[k].data(), weights[k], count, sum.data());
  HWY_DYNAMIC_DISPATCH(to_contexts)(sum.data(), count, first, contexts);
}

}  // namespace leeway::wavelet
#endif
