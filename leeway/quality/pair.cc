// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quality/pair.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "leeway/base/distance.h"
#include "leeway/codec/mask.h"

namespace leeway {
namespace {

// Slabs are read at once; maps with more values than a tile may have are judged in bands.
constexpr u64 kSlabValues = u64(1) << 24, kTileValues = 10'000'000, kBandValues = u64(1) << 22;

Box box_of(const Index& first, std::span<const u64> extents) { return {first, Shape(extents)}; }

// Cuts the array into slabs of whole chunks along the first axis of which one chunk is not too
// much; the axes before it are taken index by index.
std::vector<Box> slabs_of(const Shape& shape, const Shape& grain) {
  const size_t rank = shape.rank();
  if (rank == 0) return {{{}, shape}};
  std::array<u64, kMaxRank> extents;
  std::ranges::copy(shape.extents(), extents.begin());
  size_t axis = 0;
  u64 below = shape.size() / std::max<u64>(shape[0], 1);
  while (axis + 1 < rank && (below * grain[axis] > 2 * kSlabValues || shape[axis] == 1)) {
    extents[axis] = 1;
    ++axis;
    below = below / std::max<u64>(shape[axis], 1);
  }
  const u64 chunks = std::max<u64>(1, kSlabValues / std::max<u64>(1, below * grain[axis]));
  const u64 step = std::max<u64>(1, std::min(shape[axis], chunks * grain[axis]));
  std::vector<Box> slabs;
  for_each_outer(shape, rank - axis, [&](const Index& index) {
    for (u64 at = 0; at < shape[axis]; at += step) {
      Index first = index;
      first[axis] = at;
      extents[axis] = std::min(step, shape[axis] - at);
      slabs.push_back(box_of(first, std::span(extents).first(rank)));
    }
  });
  return slabs;
}

// The extents of a chunk that suits both sides; 1 along all axes if neither has one.
Shape common_grain(const Pair& pair) {
  std::array<u64, kMaxRank> extents;
  for (size_t axis = 0; axis < pair.shape.rank(); ++axis) {
    u64 extent = 1;
    for (const Shape& chunk : {pair.original.chunk, pair.decoded.chunk})
      if (chunk.rank() == pair.shape.rank()) extent = std::max(extent, chunk[axis]);
    extents[axis] = std::min(extent, std::max<u64>(1, pair.shape[axis]));
  }
  return Shape(std::span<const u64>(extents).first(pair.shape.rank()));
}

template <class T>
struct Row {
  const std::byte* at;
  std::ptrdiff_t step;
  T operator[](size_t i) const {
    T value;
    std::memcpy(&value, at + std::ptrdiff_t(i) * step, sizeof value);
    return value;
  }
};

template <class T>
void count(SpecialCounts& counts, T value, bool is_fill) {
  const double number = double(value);
  counts.nan += std::isnan(number) && !is_fill;
  counts.infinite += std::isinf(number) && !is_fill;
  counts.fill += is_fill;
  counts.zero += number == 0 && !is_fill;
  counts.negative += number < 0 && !is_fill;
}

// x - y as a double; of values of the same type without overflow of integers.
template <class T, class U>
double difference(T x, U y) {
  if constexpr (std::is_same_v<T, U> && std::is_integral_v<T>)
    return x < y ? -double(distance(x, y)) : double(distance(x, y));
  else
    return double(x) - double(y);
}

// |x - y|, never less than it really is if the types are the same.
template <class T, class U>
double largest_difference(T x, U y) {
  if constexpr (std::is_same_v<T, U>)
    return error_between(x, y);
  else
    return std::abs(difference(x, y));
}

template <class T, class U>
void fill_row(Tile& tile, size_t start, Row<T> a, Row<U> b, const Fills<T>& fills_a,
              const Fills<U>& fills_b) {
  for (size_t i = 0; i < tile.columns; ++i) {
    const T x = a[i];
    const U y = b[i];
    const bool fill_x = fills_a.has(x), fill_y = fills_b.has(y);
    count(tile.before, x, fill_x);
    count(tile.after, y, fill_y);
    const bool special_x = fill_x || is_nonfinite(x), special_y = fill_y || is_nonfinite(y);
    if (special_x || special_y) {
      bool same = special_x && special_y;
      if constexpr (std::is_same_v<T, U>)
        same = bits_of(x) == bits_of(y);
      else
        same &= double(x) == double(y) || (std::isnan(double(x)) && std::isnan(double(y)));
      tile.mismatches += !same;
      continue;
    }
    const size_t at = start + i;
    tile.x[at] = double(x), tile.y[at] = double(y), tile.e[at] = difference(x, y);
    tile.valid[at] = 1;
    const double error = largest_difference(x, y);
    if (error > tile.max_error) tile.max_error = error, tile.max_at = at;
    tile.new_negative += double(y) < 0 && !(double(x) < 0);
    tile.lost_zeros += double(x) == 0 && double(y) != 0;
  }
}

}  // namespace

Pair pair_of(const View& original, const View& decoded, const std::vector<u64>& fills) {
  const auto side = [](const View& view, std::vector<u64> own) {
    return PairSide{view.dtype,
                    {},
                    [view](const Box& box) {
                      return Part{view.part(box), nullptr};
                    },
                    std::move(own)};
  };
  return {original.shape, side(original, fills),
          side(decoded, original.dtype == decoded.dtype ? fills : std::vector<u64>())};
}

TileWalk::TileWalk(const Pair& pair, const Execution& execution)
    : pair_(pair), execution_(execution) {
  std::vector<size_t> longer;
  for (size_t axis = 0; axis < pair.shape.rank(); ++axis)
    if (pair.shape[axis] > 1) longer.push_back(axis);
  column_axis_ = longer.empty() ? 0 : longer.back();
  row_axis_ = longer.size() < 2 ? column_axis_ : longer[longer.size() - 2];
  if (pair.shape.size() == 0) return;
  slabs_ = slabs_of(pair.shape, common_grain(pair));
  for (const Box& slab : slabs_) tiles_ += tiles_of(slab).size();
}

std::vector<Box> TileWalk::tiles_of(const Box& slab) const {
  const size_t rank = slab.shape.rank();
  if (rank == 0) return {slab};
  std::array<u64, kMaxRank> extents;
  extents.fill(1);
  for (size_t axis = row_axis_; axis < rank; ++axis) extents[axis] = slab.shape[axis];
  const u64 columns = slab.shape[column_axis_], rows = slab.shape[row_axis_];
  u64 band = rows;
  if (row_axis_ == column_axis_)
    band = std::min(rows, kBandValues);
  else if (rows * columns > kTileValues)
    band = std::max<u64>(1, kBandValues / columns);
  std::vector<Box> tiles;
  Shape outer = slab.shape;
  for_each_outer(outer, rank - row_axis_, [&](const Index& index) {
    for (u64 at = 0; at < rows; at += band) {
      Index first{};
      for (size_t axis = 0; axis < rank; ++axis)
        first[axis] = slab.first[axis] + (axis < row_axis_ ? index[axis] : 0);
      first[row_axis_] += at;
      extents[row_axis_] = std::min(band, rows - at);
      tiles.push_back(box_of(first, std::span(extents).first(rank)));
    }
  });
  return tiles;
}

Tile TileWalk::tile_of(const Box& box, const Box& slab, const Part& a, const Part& b,
                       u64 ordinal) const {
  Tile tile;
  tile.ordinal = ordinal;
  tile.first = box.first;
  for (size_t axis = 0; axis < pair_.shape.rank(); ++axis)
    tile.position = tile.position * pair_.shape[axis] + box.first[axis];
  if (box.shape.rank() > 0) tile.columns = size_t(box.shape[column_axis_]);
  if (row_axis_ != column_axis_) tile.rows = size_t(box.shape[row_axis_]);
  const size_t size = tile.rows * tile.columns;
  tile.x.resize(size), tile.y.resize(size), tile.e.resize(size), tile.valid.resize(size);
  Box inside = box;
  for (size_t axis = 0; axis < box.shape.rank(); ++axis) inside.first[axis] -= slab.first[axis];
  const View x = a.view.part(inside), y = b.view.part(inside);
  visit_dtype(x.dtype, [&]<class T>(std::type_identity<T>) {
    const Fills<T> fills_x(pair_.original.fills);
    const auto rows = [&]<class U>(std::type_identity<U>) {
      const Fills<U> fills_y(pair_.decoded.fills);
      for (size_t row = 0; row < tile.rows; ++row) {
        Index at{};
        if (box.shape.rank() > 0 && row_axis_ != column_axis_) at[row_axis_] = row;
        fill_row(tile, row * tile.columns, Row<T>{x.at(at), x.strides[column_axis_]},
                 Row<U>{y.at(at), y.strides[column_axis_]}, fills_x, fills_y);
      }
    };
    // Types differ where one file holds unpacked or converted values: these are f32 or f64.
    if (y.dtype == x.dtype)
      rows(std::type_identity<T>{});
    else if (y.dtype == DType::f32)
      rows(std::type_identity<float>{});
    else if (y.dtype == DType::f64)
      rows(std::type_identity<double>{});
    else
      fail_argument("arrays of the types " + std::string(name_of(x.dtype)) + " and " +
                    std::string(name_of(y.dtype)) + " cannot be compared; convert one of them");
  });
  return tile;
}

void TileWalk::run_slabs(const OnSlab& on_slab) const {
  u64 ordinal = 0;
  for (size_t i = 0; i < slabs_.size(); ++i) {
    const Box& slab = slabs_[i];
    const Part a = pair_.original.read(slab), b = pair_.decoded.read(slab);
    const std::vector<Box> boxes = tiles_of(slab);
    on_slab(boxes, slab, a, b, ordinal);
    ordinal += boxes.size();
    if (execution_.pause) execution_.pause();
    if (execution_.progress && !execution_.progress(double(i + 1) / double(slabs_.size())))
      throw Error(Errc::canceled, "canceled");
  }
}

}  // namespace leeway
