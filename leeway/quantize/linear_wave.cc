// SPDX-License-Identifier: BSD-3-Clause
// The loop of prediction, quantization and reconstruction on columns of the wavefront: several
// vectors of rows, so that one works while the others wait.
#include "leeway/quantize/linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/quantize/linear_wave.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "leeway/base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::linear_wave_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using namespace lanes::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE

// Rows to columns: lane r of v[c] becomes lane c of v[r].
template <class D, class V>
HWY_INLINE void transpose(D d, V* HWY_RESTRICT v) {
  constexpr size_t kLanes = hn::MaxLanes(d), kBlock = 16 / sizeof(hn::TFromD<D>);
  const hn::Repartition<u64, D> d64;
  V w[kLanes];
  for (size_t r = 0; r < kLanes; r += kBlock) {
    const V low = hn::InterleaveLower(d, v[r], v[r + 1]),
            high = hn::InterleaveUpper(d, v[r], v[r + 1]);
    if constexpr (kBlock == 2) {
      w[r] = low, w[r + 1] = high;
    } else {
      const V low2 = hn::InterleaveLower(d, v[r + 2], v[r + 3]),
              high2 = hn::InterleaveUpper(d, v[r + 2], v[r + 3]);
      const auto join = [&](auto part, V a, V b) HWY_ATTR {
        const auto a64 = hn::BitCast(d64, a), b64 = hn::BitCast(d64, b);
        if constexpr (part.value == 0)
          return hn::BitCast(d, hn::InterleaveLower(d64, a64, b64));
        else
          return hn::BitCast(d, hn::InterleaveUpper(d64, a64, b64));
      };
      const std::integral_constant<int, 0> lower;
      const std::integral_constant<int, 1> upper;
      w[r] = join(lower, low, low2), w[r + 1] = join(upper, low, low2);
      w[r + 2] = join(lower, high, high2), w[r + 3] = join(upper, high, high2);
    }
  }
  for (size_t k = 0; k < kBlock; ++k) {
    if constexpr (kLanes == kBlock) {
      v[k] = w[k];
    } else {
      v[k] = hn::ConcatLowerLower(d, w[kBlock + k], w[k]);
      v[kBlock + k] = hn::ConcatUpperUpper(d, w[kBlock + k], w[k]);
    }
  }
}

// Numbers to codes and back; they are small enough.
template <class D>
HWY_INLINE auto as_codes(D d, hn::Vec<D> n) {
  const hn::RebindToSigned<D> di;
  const auto magic = hn::Set(d, kRoundingMagic<hn::TFromD<D>>);
  return hn::Sub(hn::BitCast(di, hn::Add(n, magic)), hn::BitCast(di, magic));
}
template <class D>
HWY_INLINE hn::Vec<D> as_numbers(D d, hn::Vec<hn::RebindToSigned<D>> q) {
  const hn::RebindToSigned<D> di;
  const auto magic = hn::Set(d, kRoundingMagic<hn::TFromD<D>>);
  return hn::Sub(hn::BitCast(d, hn::Add(q, hn::BitCast(di, magic))), magic);
}

// Rows to columns of the wavefront and back: value j of row r stands in column r + j, at place r.
// Rows are of T or of codes.
template <bool back, class T, class Row>
HWY_INLINE void move_rows(Row* rows, std::ptrdiff_t stride, size_t count, size_t length,
                          T* HWY_RESTRICT columns) {
  const ShortTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  constexpr bool is_code = !std::is_same_v<std::remove_const_t<Row>, T>;
  const size_t lanes = hn::Lanes(d), width = kWaveVectors * lanes;
  const auto some = [&](size_t r, size_t first, size_t end) HWY_ATTR {  // columns of one row
    Row* row = rows + std::ptrdiff_t(r) * stride;
    for (size_t c = std::max(first, r); c < std::min(end, r + length); ++c) {
      if constexpr (back)
        row[c - r] = Row(columns[c * width + r]);
      else
        columns[c * width + r] = T(row[c - r]);
    }
  };
  // Blocks of whole vectors, where all their rows have values.
  const size_t head = width, blocks = length > head ? (length - head) / lanes * lanes : 0;
  const size_t whole_rows = count / lanes * lanes;
  for (size_t r = 0; r < count; ++r) {
    const bool whole = r < whole_rows;
    some(r, 0, whole ? head : length + width);
    if (whole) some(r, head + blocks, length + width);
  }
  for (size_t r = 0; r < whole_rows; r += lanes)
    for (size_t c = head; c < head + blocks; c += lanes) {
      hn::Vec<decltype(d)> v[hn::MaxLanes(d)];
      T* const column = columns + c * width + r;
      for (size_t k = 0; k < hn::MaxLanes(d); ++k) {
        Row* row = rows + std::ptrdiff_t(r + k) * stride + std::ptrdiff_t(c - r - k);
        if constexpr (back)
          v[k] = hn::LoadU(d, column + k * width);
        else if constexpr (is_code)
          v[k] = as_numbers(d, hn::LoadU(di, row));
        else
          v[k] = hn::LoadU(d, row);
      }
      transpose(d, v);
      for (size_t k = 0; k < hn::MaxLanes(d); ++k) {
        Row* row = rows + std::ptrdiff_t(r + k) * stride + std::ptrdiff_t(c - r - k);
        if constexpr (!back)
          hn::StoreU(v[k], d, column + k * width);
        else if constexpr (is_code)
          hn::StoreU(as_codes(d, v[k]), di, row);
        else
          hn::StoreU(v[k], d, row);
      }
    }
}

// Walks all columns; code(column, p, mask, masked) gives the reconstructed values of one vector of
// a column. Lanes of values outside the table stay at what stands to the left of their row.
template <class T, class F>
HWY_INLINE void for_each_column(const Wave<T>& wave, const T* other, F&& code) {
  const ShortTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const size_t lanes = hn::Lanes(d), width = kWaveVectors * lanes,
               columns = wave.length + wave.rows - 1;
  HWY_ALIGN T border[kWaveVectors * hn::MaxLanes(d)] = {};
  HWY_ALIGN T border_above[kWaveVectors * hn::MaxLanes(d)] = {};
  for (size_t r = 0; wave.has_border && r < wave.rows; ++r) {
    border[r] = wave.x[std::ptrdiff_t(r) * wave.stride - 1];
    border_above[r] = T(0) + wave.x[(std::ptrdiff_t(r) - 1) * wave.stride - 1];
  }
  const T* const above = wave.has_above ? wave.x - wave.stride : nullptr;
  V left[kWaveVectors], h[kWaveVectors];
  for (size_t k = 0; k < kWaveVectors; ++k) {
    left[k] = hn::Load(d, border + k * lanes);
    h[k] = hn::Load(d, border_above + k * lanes);
  }
  const auto length = hn::Set(d, T(wave.length)), rows = hn::Set(d, T(wave.rows));

  const auto column = [&](size_t c, auto masked) HWY_ATTR {
    V before = hn::Set(d, above && c < wave.length ? T(0) + above[c] : T(0));
    for (size_t k = 0; k < kWaveVectors; ++k) {
      V now = one_lane_on(d, left[k], before);
      before = left[k];
      if (other) now = hn::Add(now, hn::LoadU(d, other + c * width + k * lanes));
      const V p = hn::Add(left[k], hn::Sub(now, h[k]));
      if constexpr (masked.value) {
        const V row = hn::Iota(d, T(k * lanes)), j = hn::Sub(hn::Set(d, T(c)), row);
        const auto inside =
            hn::And(hn::And(hn::Ge(j, hn::Zero(d)), hn::Lt(j, length)), hn::Lt(row, rows));
        left[k] = hn::IfThenElse(inside, code(c * width + k * lanes, p, inside, masked),
                                 hn::Load(d, border + k * lanes));
        h[k] = hn::IfThenElse(inside, now, hn::Load(d, border_above + k * lanes));
      } else {
        left[k] = code(c * width + k * lanes, p, hn::Eq(p, p), masked);
        h[k] = now;
      }
    }
  };
  const size_t head = wave.rows == width ? wave.rows - 1 : columns;
  size_t c = 0;
  for (; c < head; ++c) column(c, std::true_type());
  for (; c < wave.length; ++c) column(c, std::false_type());
  for (; c < columns; ++c) column(c, std::true_type());
}

template <class T>
HWY_INLINE const T* skewed_other(const Wave<T>& wave, T* room) {
  if (!wave.other) return nullptr;
  move_rows<false>(wave.other, std::ptrdiff_t(wave.length), wave.rows, wave.length, room);
  return room;
}

// Codes stay numbers of T until the end: they are small enough.
template <class T>
bool quantize_rows(const LinearGrid<T>& grid, const Wave<T>& wave, Code<T>* codes,
                   double& max_error) {
  const ShortTag<T> d;
  const GridInType<T> in_type(grid);
  if (in_type.step == 0) return false;
  const auto inverse = hn::Set(d, in_type.inverse), step = hn::Set(d, in_type.step),
             limit = hn::Set(d, in_type.limit), most = hn::Set(d, in_type.most),
             magic = hn::Set(d, kRoundingMagic<T>);
  const size_t width = kWaveVectors * hn::Lanes(d), plane = (wave.length + width) * width;
  T *const values = wave.scratch, *const numbers = wave.scratch + plane;
  move_rows<false>(wave.x, wave.stride, wave.rows, wave.length, values);
  const T* const other = skewed_other(wave, wave.scratch + 2 * plane);
  auto worst = hn::Zero(d), misfits = hn::Zero(d);
  const auto one = hn::Set(d, T(1));
  for_each_column(wave, other, [&](size_t at, auto p, auto inside, auto masked) HWY_ATTR {
    const auto x = hn::LoadU(d, values + at);
    const auto t = hn::Mul(hn::Sub(x, p), inverse);
    const auto n = hn::Sub(hn::Add(t, magic), magic);
    const auto y = hn::Add(p, hn::Mul(n, step));
    auto error = hn::Abs(hn::Sub(x, y));
    auto misfit = hn::IfThenZeroElse(hn::And(hn::Le(hn::Abs(t), most), hn::Le(error, limit)), one);
    if constexpr (masked.value) {
      error = hn::IfThenElseZero(inside, error);
      misfit = hn::IfThenElseZero(inside, misfit);
    }
    worst = hn::Max(worst, error);
    misfits = hn::Max(misfits, misfit);
    hn::StoreU(y, d, values + at);
    hn::StoreU(n, d, numbers + at);
    return y;
  });
  if (hn::GetLane(hn::MaxOfLanes(d, misfits)) > 0) return false;
  max_error = std::max(max_error, double(hn::GetLane(hn::MaxOfLanes(d, worst))));
  move_rows<true>(wave.x, wave.stride, wave.rows, wave.length, values);
  move_rows<true>(codes, std::ptrdiff_t(wave.length), wave.rows, wave.length, numbers);
  return true;
}

template <class T>
bool recover_rows(const LinearGrid<T>& grid, const Wave<T>& wave, const Code<T>* codes) {
  const ShortTag<T> d;
  const GridInType<T> in_type(grid);
  if (in_type.step == 0) return false;
  constexpr Code<T> highest = in_type.kHighest;
  Code<T> least = 0, most = 0;
  for (size_t i = 0; i < wave.size(); ++i) {
    least = std::min(least, codes[i]);
    most = std::max(most, codes[i]);
  }
  if (least < -highest || most > highest) return false;
  const auto step = hn::Set(d, in_type.step);
  const size_t width = kWaveVectors * hn::Lanes(d), plane = (wave.length + width) * width;
  T* const values = wave.scratch;
  move_rows<false>(codes, std::ptrdiff_t(wave.length), wave.rows, wave.length, values);
  const T* const other = skewed_other(wave, wave.scratch + 2 * plane);
  for_each_column(wave, other, [&](size_t at, auto p, auto, auto) HWY_ATTR {
    const auto y = hn::Add(p, hn::Mul(hn::LoadU(d, values + at), step));
    hn::StoreU(y, d, values + at);
    return y;
  });
  move_rows<true>(wave.x, wave.stride, wave.rows, wave.length, values);
  return true;
}

#else

template <class T>
bool quantize_rows(const LinearGrid<T>&, const Wave<T>&, Code<T>*, double&) {
  return false;
}
template <class T>
bool recover_rows(const LinearGrid<T>&, const Wave<T>&, const Code<T>*) {
  return false;
}

#endif

bool quantize_wave_f32(const LinearGrid<float>& grid, const Wave<float>& wave, i32* codes,
                       double& max_error) {
  return quantize_rows(grid, wave, codes, max_error);
}
bool quantize_wave_f64(const LinearGrid<double>& grid, const Wave<double>& wave, i64* codes,
                       double& max_error) {
  return quantize_rows(grid, wave, codes, max_error);
}
bool recover_wave_f32(const LinearGrid<float>& grid, const Wave<float>& wave, const i32* codes) {
  return recover_rows(grid, wave, codes);
}
bool recover_wave_f64(const LinearGrid<double>& grid, const Wave<double>& wave, const i64* codes) {
  return recover_rows(grid, wave, codes);
}

}  // namespace leeway::linear_wave_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::linear_wave_kernels {
HWY_EXPORT(quantize_wave_f32);
HWY_EXPORT(quantize_wave_f64);
HWY_EXPORT(recover_wave_f32);
HWY_EXPORT(recover_wave_f64);
}  // namespace leeway::linear_wave_kernels

namespace leeway {
using namespace linear_wave_kernels;

bool quantize_wave(const LinearGrid<float>& grid, const Wave<float>& rows, i32* codes,
                   double& max_error) {
  if (grid.has_range()) return false;
  return HWY_DYNAMIC_DISPATCH(quantize_wave_f32)(grid, rows, codes, max_error);
}
bool quantize_wave(const LinearGrid<double>& grid, const Wave<double>& rows, i64* codes,
                   double& max_error) {
  if (grid.has_range()) return false;
  return HWY_DYNAMIC_DISPATCH(quantize_wave_f64)(grid, rows, codes, max_error);
}
bool recover_wave(const LinearGrid<float>& grid, const Wave<float>& rows, const i32* codes) {
  if (grid.has_range()) return false;
  return HWY_DYNAMIC_DISPATCH(recover_wave_f32)(grid, rows, codes);
}
bool recover_wave(const LinearGrid<double>& grid, const Wave<double>& rows, const i64* codes) {
  if (grid.has_range()) return false;
  return HWY_DYNAMIC_DISPATCH(recover_wave_f64)(grid, rows, codes);
}

}  // namespace leeway
#endif
