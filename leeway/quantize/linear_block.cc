// SPDX-License-Identifier: BSD-3-Clause
// The loop of prediction, quantization and reconstruction on a small block of three axes. All
// values with the same plane + row + column are independent of each other: rows of a plane are
// skewed, so that their columns are vectors, and a plane is one step behind the plane before it.
#include <algorithm>

#include "leeway/quantize/linear.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/quantize/linear_block.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::linear_block_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A vector has the row before the block and those of the block.
constexpr size_t kLanes = kMostBlockRows + 1;
template <class T>
using BlockTag = hn::CappedTag<T, kLanes>;
template <class T>
constexpr bool kHasLanes =
    HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE && hn::MaxLanes(BlockTag<T>()) == kLanes;

constexpr size_t kMostSkewed =
    (kMostBlockPlanes + 1) * (kMostBlockRows + kMostBlockLength + 1) * kLanes;

// Value x of row k stands in column x + k, lane k; both begin at -1.
class SkewedBlock {
 public:
  explicit SkewedBlock(const auto& block)
      : planes_(block.planes), rows_(block.rows), length_(block.length) {}
  size_t columns() const { return rows_ + length_ + 1; }
  size_t size() const { return (planes_ + 1) * columns() * kLanes; }
  // Where a value stands; the next of its row is kLanes behind it.
  size_t at(std::ptrdiff_t plane, std::ptrdiff_t row, std::ptrdiff_t x) const {
    return (size_t(plane + 1) * columns() + size_t(row + x + 2)) * kLanes + size_t(row + 1);
  }

 private:
  size_t planes_, rows_, length_;
};

template <class F>
HWY_INLINE void with_length(size_t length, F&& f) {
  if (length == 6)
    f(std::integral_constant<size_t, 6>());
  else
    f(length);
}

// The values around the block, those of the array that are not there being 0, and if `inside` those
// in it.
template <class T>
HWY_INLINE void take_values(const BlockWave<T>& block, bool inside, T* HWY_RESTRICT skewed) {
  const SkewedBlock place(block);
  std::fill_n(skewed, place.size(), T(0));
  with_length(block.length, [&](auto length) HWY_ATTR {
    for (std::ptrdiff_t j = -1; j < std::ptrdiff_t(block.planes); ++j)
      for (std::ptrdiff_t k = -1; k < std::ptrdiff_t(block.rows); ++k) {
        if ((j < 0 && !block.has_plane) || (k < 0 && !block.has_row)) continue;
        T* to = skewed + place.at(j, k, -1);
        const T* row = block.x + j * block.plane_stride + k * block.row_stride;
        if (block.has_column) *to = row[-1];
        if (inside || j < 0 || k < 0)
          for (size_t x = 0; x < length; ++x) to[(x + 1) * kLanes] = row[x];
      }
  });
}
// The values in the block; codes stand at found[] in order.
template <class T, class From, class To>
HWY_INLINE void put_rows(const BlockWave<T>& block, const From* HWY_RESTRICT skewed, To* found,
                         std::ptrdiff_t plane_stride, std::ptrdiff_t row_stride) {
  const SkewedBlock place(block);
  with_length(block.length, [&](auto length) HWY_ATTR {
    for (size_t j = 0; j < block.planes; ++j)
      for (size_t k = 0; k < block.rows; ++k) {
        const From* from = skewed + place.at(std::ptrdiff_t(j), std::ptrdiff_t(k), 0);
        To* row = found + std::ptrdiff_t(j) * plane_stride + std::ptrdiff_t(k) * row_stride;
        for (size_t x = 0; x < length; ++x) row[x] = To(from[x * kLanes]);
      }
  });
}

#if HWY_TARGET != HWY_SCALAR

// Calls code(place, x, p, inside), which gives the reconstructed values of one column of a plane.
template <class T, class F>
HWY_INLINE void for_each_column(const BlockWave<T>& block, T* HWY_RESTRICT skewed, F&& code) {
  const BlockTag<T> d;
  const hn::RebindToSigned<decltype(d)> di;
  using V = hn::Vec<decltype(d)>;
  HWY_ALIGN static constexpr Code<T> kBefore[kLanes] = {0, 0, 1, 2, 3, 4, 5, 6};
  const auto before = hn::SetTableIndices(d, kBefore);
  const size_t columns = SkewedBlock(block).columns(), steps = columns - 2;
  // By column, whether lanes are in the block.
  HWY_ALIGN T inside[(kMostBlockRows + kMostBlockLength) * kLanes];
  const auto row = hn::Sub(hn::Iota(di, 0), hn::Set(di, 1));
  for (size_t u = 0; u < steps; ++u) {
    const auto x = hn::Sub(hn::Set(di, Code<T>(u)), row);
    const auto least = hn::Min(row, x);
    const auto is_inside = hn::And(
        hn::And(hn::Gt(least, hn::Set(di, -1)), hn::Lt(x, hn::Set(di, Code<T>(block.length)))),
        hn::Lt(row, hn::Set(di, Code<T>(block.rows))));
    hn::Store(hn::BitCast(d, hn::VecFromMask(di, is_inside)), d, inside + u * kLanes);
  }
  V h[kMostBlockPlanes];
  for (size_t step = 0; step < block.planes + steps; ++step)
    for (size_t j = step > steps ? step - steps : 0; j < std::min(block.planes, step + 1); ++j) {
      const size_t u = step - j;  // column u - 1
      T* const here = skewed + ((j + 1) * columns + u + 1) * kLanes;
      const T* const above = here - columns * kLanes;
      const V left = hn::Load(d, here - kLanes);
      const V rows =
          hn::Add(hn::Add(hn::Zero(d), hn::TableLookupLanes(left, before)), hn::Load(d, above));
      const V now = hn::Sub(rows, hn::TableLookupLanes(hn::Load(d, above - kLanes), before));
      if (u > 0) {
        const V p = hn::Add(left, hn::Sub(now, h[j]));
        const auto mask = hn::MaskFromVec(hn::Load(d, inside + (u - 1) * kLanes));
        const V old = hn::Load(d, here);
        hn::Store(hn::IfThenElse(mask, code(here, old, p, mask), old), d, here);
      }
      h[j] = now;
    }
}

#endif

template <class T>
bool quantize_rows(const LinearGrid<T>& grid, const BlockWave<T>& block, Code<T>* codes,
                   double& max_error) {
  if constexpr (kHasLanes<T>) {
    const BlockTag<T> d;
    const hn::RebindToSigned<decltype(d)> di;
    const GridInType<T> in_type(grid);
    if (in_type.step == 0) return false;
    const auto inverse = hn::Set(d, in_type.inverse), step = hn::Set(d, in_type.step),
               limit = hn::Set(d, in_type.limit), most = hn::Set(d, in_type.most),
               magic = hn::Set(d, kRoundingMagic<T>);
    HWY_ALIGN T skewed[kMostSkewed];
    HWY_ALIGN Code<T> skewed_codes[kMostSkewed];
    take_values(block, true, skewed);
    auto worst = hn::Zero(d), largest = hn::Zero(d), sum = hn::Zero(d);
    for_each_column(block, skewed, [&](const T* place, auto x, auto p, auto inside) HWY_ATTR {
      const auto t = hn::Mul(hn::Sub(x, p), inverse);
      const auto shifted = hn::Add(t, magic);
      const auto y = hn::Add(p, hn::Mul(hn::Sub(shifted, magic), step));
      const auto error = hn::IfThenElseZero(inside, hn::Abs(hn::Sub(x, y)));
      worst = hn::Max(worst, error);
      largest = hn::Max(largest, hn::IfThenElseZero(inside, hn::Abs(t)));
      sum = hn::Add(sum, error);
      hn::Store(hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, magic)), di,
                skewed_codes + (place - skewed));
      return y;
    });
    // A sum that is not a number has met one.
    const auto fits =
        hn::And(hn::And(hn::Le(worst, limit), hn::Le(largest, most)), hn::Eq(sum, sum));
    if (!hn::AllTrue(d, fits)) return false;
    max_error = std::max(max_error, double(hn::GetLane(hn::MaxOfLanes(d, worst))));
    put_rows(block, skewed, block.x, block.plane_stride, block.row_stride);
    const auto length = std::ptrdiff_t(block.length);
    put_rows(block, skewed_codes, codes, std::ptrdiff_t(block.codes_in_plane), length);
    return true;
  }
  return false;
}

template <class T>
bool recover_rows(const LinearGrid<T>& grid, const BlockWave<T>& block, const Code<T>* codes) {
  if constexpr (kHasLanes<T>) {
    const BlockTag<T> d;
    const GridInType<T> in_type(grid);
    if (in_type.step == 0) return false;
    HWY_ALIGN T skewed[kMostSkewed];
    take_values(block, false, skewed);
    const SkewedBlock place(block);
    Code<T> least = 0, most = 0;
    with_length(block.length, [&](auto length) HWY_ATTR {
      for (size_t j = 0; j < block.planes; ++j) {
        const Code<T>* from = codes + j * block.codes_in_plane;
        for (size_t k = 0; k < block.rows; ++k, from += length) {
          T* to = skewed + place.at(std::ptrdiff_t(j), std::ptrdiff_t(k), 0);
          for (size_t x = 0; x < length; ++x) {
            to[x * kLanes] = T(from[x]);
            least = std::min(least, from[x]);
            most = std::max(most, from[x]);
          }
        }
      }
    });
    if (least < -in_type.kHighest || most > in_type.kHighest) return false;
    const auto step = hn::Set(d, in_type.step);
    for_each_column(block, skewed, [&](const T*, auto q, auto p, auto) HWY_ATTR {
      return hn::Add(p, hn::Mul(q, step));
    });
    put_rows(block, skewed, block.x, block.plane_stride, block.row_stride);
    return true;
  }
  return false;
}

bool quantize_block_f32(const LinearGrid<float>& grid, const BlockWave<float>& block, i32* codes,
                        double& max_error) {
  return quantize_rows(grid, block, codes, max_error);
}
bool quantize_block_f64(const LinearGrid<double>& grid, const BlockWave<double>& block, i64* codes,
                        double& max_error) {
  return quantize_rows(grid, block, codes, max_error);
}
bool recover_block_f32(const LinearGrid<float>& grid, const BlockWave<float>& block,
                       const i32* codes) {
  return recover_rows(grid, block, codes);
}
bool recover_block_f64(const LinearGrid<double>& grid, const BlockWave<double>& block,
                       const i64* codes) {
  return recover_rows(grid, block, codes);
}

}  // namespace leeway::linear_block_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::linear_block_kernels {
HWY_EXPORT(quantize_block_f32);
HWY_EXPORT(quantize_block_f64);
HWY_EXPORT(recover_block_f32);
HWY_EXPORT(recover_block_f64);
}  // namespace leeway::linear_block_kernels

namespace leeway {
using namespace linear_block_kernels;

bool quantize_block(const LinearGrid<float>& grid, const BlockWave<float>& block, i32* codes,
                    double& max_error) {
  if (grid.has_range()) return false;
  return HWY_DYNAMIC_DISPATCH(quantize_block_f32)(grid, block, codes, max_error);
}
bool quantize_block(const LinearGrid<double>& grid, const BlockWave<double>& block, i64* codes,
                    double& max_error) {
  if (grid.has_range()) return false;
  return HWY_DYNAMIC_DISPATCH(quantize_block_f64)(grid, block, codes, max_error);
}
bool recover_block(const LinearGrid<float>& grid, const BlockWave<float>& block, const i32* codes) {
  if (grid.has_range()) return false;
  return HWY_DYNAMIC_DISPATCH(recover_block_f32)(grid, block, codes);
}
bool recover_block(const LinearGrid<double>& grid, const BlockWave<double>& block,
                   const i64* codes) {
  if (grid.has_range()) return false;
  return HWY_DYNAMIC_DISPATCH(recover_block_f64)(grid, block, codes);
}

}  // namespace leeway
#endif
