// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quality/assess.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "leeway/base/environment.h"
#include "leeway/quality/data_ssim.h"

namespace leeway {
namespace {

// So many values are sampled, and looked at in depth, if there are more.
constexpr u64 kSample = u64(1) << 22, kDeep = u64(1) << 23;
constexpr u64 kSeriesPoints = 4096, kSeriesValues = u64(1) << 22;
constexpr size_t kWindowSide = 64, kMostBins = 256, kErrorMapSide = 120;
constexpr double kRelativeTolerance = 1e-4;

struct SeriesValue {
  u64 step, point;
  double x, y;
};

struct SliceSums {
  u64 slice;
  double count, x, e;
};

// What is made of one tile, by any thread.
struct TileScores {
  PairMoments moments;
  SpecialCounts before, after;
  u64 mismatches = 0, new_negative = 0, lost_zeros = 0, relative_beyond = 0;
  double max_error = 0, max_pointwise = 0, max_original = 0, max_decoded = 0;
  u64 max_position = 0;
  double dssim = 0;
  Index first{};
  std::vector<double> x, y, e;  // sampled
  std::vector<SeriesValue> series;
  std::vector<SliceSums> slices;
  bool is_deep = false;
  Autocorrelation rows, columns;
  Spectra spectra;
  Differences differences;
  FeatureCounts features;
  PairDistances distances;
  ErrorMap error_map;
  double weight = 0, weighted_x = 0, weighted_e = 0;
  double rms = 0;
  Picture whole, around_error, around_gradient, slice_picture;
};

Index index_of(const Shape& shape, u64 position) {
  Index index{};
  for (size_t axis = shape.rank(); axis-- > 0; position /= shape[axis])
    index[axis] = position % shape[axis];
  return index;
}

// The part of a tile from a row and column on, every step-th value; of errors the largest.
Picture picture_of(const Tile& tile, const Shape& shape, size_t row, size_t column, size_t rows,
                   size_t columns, size_t most) {
  Picture p;
  p.step = std::max<size_t>(1, (std::max(rows, columns) + most - 1) / most);
  p.rows = (rows + p.step - 1) / p.step, p.columns = (columns + p.step - 1) / p.step;
  p.first = index_of(shape, tile.position + row * tile.columns + column);
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  for (size_t r = 0; r < p.rows; ++r)
    for (size_t c = 0; c < p.columns; ++c) {
      const size_t top = row + r * p.step, left = column + c * p.step;
      const size_t at = top * tile.columns + left;
      p.original.push_back(tile.valid[at] ? float(tile.x[at]) : kNone);
      p.decoded.push_back(tile.valid[at] ? float(tile.y[at]) : kNone);
      double error = 0;
      bool any = false;
      for (size_t i = top; i < std::min(top + p.step, row + rows); ++i)
        for (size_t j = left; j < std::min(left + p.step, column + columns); ++j) {
          const size_t k = i * tile.columns + j;
          if (tile.valid[k] && std::abs(tile.e[k]) >= std::abs(error))
            error = tile.e[k], any = true;
        }
      p.error.push_back(any ? float(error) : kNone);
    }
  return p;
}

Picture window_around(const Tile& tile, const Shape& shape, size_t at) {
  const auto begin = [](size_t middle, size_t size) {
    const size_t half = kWindowSide / 2;
    const size_t last = size > kWindowSide ? size - kWindowSide : 0;
    return std::min(middle > half ? middle - half : 0, last);
  };
  const size_t row = begin(at / tile.columns, tile.rows),
               column = begin(at % tile.columns, tile.columns);
  return picture_of(tile, shape, row, column, std::min(kWindowSide, tile.rows),
                    std::min(kWindowSide, tile.columns), kWindowSide);
}

size_t steepest(const Tile& tile) {
  size_t best = 0;
  double largest = -1;
  for (size_t row = 0; row + (tile.rows > 1) < tile.rows; ++row)
    for (size_t column = 0; column + 1 < tile.columns; ++column) {
      const size_t i = row * tile.columns + column, below = tile.rows > 1 ? i + tile.columns : i;
      if (!(tile.valid[i] && tile.valid[i + 1] && tile.valid[below])) continue;
      const double dx = tile.x[i + 1] - tile.x[i], dy = tile.x[below] - tile.x[i];
      if (dx * dx + dy * dy > largest) largest = dx * dx + dy * dy, best = i;
    }
  return best;
}

class Assessor {
 public:
  Assessor(const Pair& pair, const AssessOptions& options)
      : shape_(pair.shape), options_(options), walk_(pair, options.execution) {
    result_.shape = pair.shape;
    result_.values = pair.shape.size();
    result_.bound = options.bound;
    const u64 values = std::max<u64>(1, result_.values);
    result_.deep_step = (values + kDeep - 1) / kDeep;
    // A step without a common factor with the extents meets all columns.
    result_.sample_step = (values + kSample - 1) / kSample;
    while (result_.sample_step > 1 && std::gcd(result_.sample_step, values) != 1)
      ++result_.sample_step;
    std::vector<u64> longer;
    for (const u64 extent : shape_.extents())
      if (extent > 1) longer.push_back(extent);
    slices_ = longer.empty() ? 1 : longer[0];
    slice_values_ = values / slices_;
    const bool is_of_particles = options.features.profile == Profile::particles;
    has_time_ = longer.size() >= (is_of_particles ? 2 : 3);
    result_.particles = is_of_particles;
    for (size_t axis = 0; axis < shape_.rank(); ++axis)
      if (shape_[axis] > 1) row_axis_ = column_axis_, column_axis_ = axis;
    if (longer.size() < 2) row_axis_ = column_axis_;
    const u64 points = std::min(kSeriesPoints, std::max<u64>(1, kSeriesValues / slices_));
    series_step_ = (slice_values_ + points - 1) / points;
    result_.slice_means_original.resize(size_t(slices_));
    result_.slice_means_decoded.resize(size_t(slices_));
    slice_counts_.resize(size_t(slices_));
    result_.dssim = std::numeric_limits<double>::infinity();
  }

  Assessment run() {
    walk_.run<TileScores>([&](const Tile& tile) { return scores_of(tile); },
                          [&](u64, TileScores& scores) { add(scores); });
    finish();
    return std::move(result_);
  }

 private:
  TileScores scores_of(const Tile& tile) {
    TileScores s;
    s.moments = PairMoments::of(tile.x, tile.e, tile.valid, tile.columns);
    s.before = tile.before, s.after = tile.after;
    s.mismatches = tile.mismatches, s.new_negative = tile.new_negative;
    s.lost_zeros = tile.lost_zeros;
    s.max_error = tile.max_error;
    s.max_position = tile.position + tile.max_at;
    if (!tile.x.empty()) s.max_original = tile.x[tile.max_at], s.max_decoded = tile.y[tile.max_at];
    s.first = tile.first;
    s.dssim = data_ssim(tile.x, tile.y, tile.valid, tile.rows, tile.columns);
    s.rms = std::sqrt(s.moments.mean_square_e());
    by_value(tile, s);
    if (!options_.weights.empty()) weigh(tile, s);
    const bool is_deep = tile.ordinal % result_.deep_step == result_.deep_step / 2;
    s.features = FeatureCounts(tile, options_.features, is_deep);
    if (tile.ordinal == 0 && options_.features.profile == Profile::particles)
      s.distances = pair_distances(tile);
    if (is_deep) look_deep(tile, s);
    draw(tile, s);
    return s;
  }

  void by_value(const Tile& tile, TileScores& s) const {
    for (size_t i = 0; i < tile.x.size(); ++i) {
      if (!tile.valid[i]) continue;
      const double size = std::abs(tile.x[i]), error = std::abs(tile.e[i]);
      s.relative_beyond += error > kRelativeTolerance * (size > 0 ? size : 1);
      if (size > 0 && error > s.max_pointwise * size) s.max_pointwise = error / size;
    }
    const u64 step = result_.sample_step;
    for (u64 p = (tile.position + step - 1) / step * step; p < tile.position + tile.x.size();
         p += step) {
      const size_t i = size_t(p - tile.position);
      if (!tile.valid[i]) continue;
      s.x.push_back(tile.x[i]), s.y.push_back(tile.y[i]), s.e.push_back(tile.e[i]);
    }
    for_each_slice(
        tile, [&](u64 slice, u64 begin, u64 end) { look_at_slice(tile, slice, begin, end, s); });
  }

  // Calls f(slice, begin, end) for what a tile has of every slice, from where to where in the
  // array.
  template <class F>
  void for_each_slice(const Tile& tile, F&& f) const {
    const u64 end = tile.position + tile.x.size();
    for (u64 begin = tile.position; begin < end;) {
      const u64 slice = begin / slice_values_, next = std::min(end, (slice + 1) * slice_values_);
      f(slice, begin, next);
      begin = next;
    }
  }
  void look_at_slice(const Tile& tile, u64 slice, u64 begin, u64 end, TileScores& s) const {
    CompensatedSum x, e;
    u64 count = 0;
    for (u64 p = begin; p < end; ++p) {
      const size_t i = size_t(p - tile.position);
      if (tile.valid[i]) ++count, x.add(tile.x[i]), e.add(tile.e[i]);
    }
    s.slices.push_back({slice, double(count), x.value(), e.value()});
    if (!has_time_) return;
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    const u64 start = slice * slice_values_;
    for (u64 q = (begin - start + series_step_ - 1) / series_step_; start + q * series_step_ < end;
         ++q) {
      const size_t i = size_t(start + q * series_step_ - tile.position);
      s.series.push_back(
          {slice, q, tile.valid[i] ? tile.x[i] : kNone, tile.valid[i] ? tile.y[i] : kNone});
    }
  }

  // Sums over values with the weight of their index.
  void weigh(const Tile& tile, TileScores& s) const {
    const size_t axis = options_.weighted_axis;
    CompensatedSum weight, x, e;
    for (size_t i = 0; i < tile.x.size(); ++i) {
      if (!tile.valid[i]) continue;
      const size_t inside = axis == column_axis_ ? i % tile.columns
                            : axis == row_axis_  ? i / tile.columns
                                                 : 0;
      const double w = options_.weights[size_t(tile.first[axis]) + inside];
      weight.add(w), x.add(w * tile.x[i]), e.add(w * tile.e[i]);
    }
    s.weight = weight.value(), s.weighted_x = x.value(), s.weighted_e = e.value();
  }

  // Squares of errors in cells of the map that is not cut into bands.
  ErrorMap error_map_of(const Tile& tile) const {
    ErrorMap map;
    const u64 rows = row_axis_ == column_axis_ ? 1 : shape_[row_axis_];
    const u64 columns = shape_.rank() ? shape_[column_axis_] : 1;
    if (rows < 2) return map;
    map.step = size_t((std::max(rows, columns) + kErrorMapSide - 1) / kErrorMapSide);
    map.rows = size_t(rows + map.step - 1) / map.step;
    map.columns = size_t(columns + map.step - 1) / map.step;
    map.squares.resize(map.rows * map.columns), map.counts.resize(map.rows * map.columns);
    for (size_t i = 0; i < tile.e.size(); ++i) {
      if (!tile.valid[i]) continue;
      const size_t row = (size_t(tile.first[row_axis_]) + i / tile.columns) / map.step;
      const size_t cell = row * map.columns + i % tile.columns / map.step;
      map.squares[cell] += tile.e[i] * tile.e[i], ++map.counts[cell];
    }
    return map;
  }

  void look_deep(const Tile& tile, TileScores& s) const {
    s.is_deep = true;
    s.error_map = error_map_of(tile);
    s.rows.add(tile.e, tile.valid, tile.columns, 1);
    if (tile.rows > 1) s.columns.add(tile.e, tile.valid, tile.rows, tile.columns);
    s.differences = Differences::of(tile.x, tile.y, tile.valid, tile.rows, tile.columns);
    const size_t shorter = tile.rows > 1 ? std::min(tile.rows, tile.columns) : tile.columns;
    const size_t bins = std::min(kMostBins, shorter / 2);
    if (bins >= 4)
      s.spectra = SpectrumMaker(tile.rows, tile.columns, bins).of(tile.x, tile.e, tile.valid);
  }

  // Pictures of what may be the worst; which of them are is known when all tiles before are done.
  void draw(const Tile& tile, TileScores& s) {
    bool is_worst = false, has_largest = false;
    {
      const std::lock_guard lock(drawing_);
      is_worst = s.rms >= worst_rms_, has_largest = s.max_error >= largest_;
      worst_rms_ = std::max(worst_rms_, s.rms), largest_ = std::max(largest_, s.max_error);
    }
    const u64 tiles = walk_.tiles(), most = std::max<u64>(1, options_.slices),
              step = (tiles + most - 1) / most;
    const auto whole = [&](size_t most) {
      return picture_of(tile, shape_, 0, 0, tile.rows, tile.columns, most);
    };
    if (is_worst) {
      s.whole = whole(options_.picture_side);
      s.around_gradient = window_around(tile, shape_, steepest(tile));
    }
    if (has_largest) s.around_error = window_around(tile, shape_, tile.max_at);
    if (tiles > 1 && options_.slices > 0 && tile.ordinal % step == step / 2)
      s.slice_picture = whole(options_.picture_side / 2);
  }

  void add(TileScores& s) {
    Assessment& r = result_;
    r.moments.merge(s.moments);
    r.before.merge(s.before), r.after.merge(s.after);
    r.mismatches += s.mismatches, r.new_negative += s.new_negative, r.lost_zeros += s.lost_zeros;
    r.relative_beyond += s.relative_beyond;
    r.max_pointwise = std::max(r.max_pointwise, s.max_pointwise);
    if (s.max_error > r.max_error || r.around_error.rows == 0) {
      r.max_error = std::max(r.max_error, s.max_error);
      r.max_at = index_of(shape_, s.max_position);
      r.max_original = s.max_original, r.max_decoded = s.max_decoded;
      r.around_error = std::move(s.around_error);
    }
    if (s.rms > shown_rms_ || r.worst.rows == 0) {
      shown_rms_ = s.rms;
      r.worst = std::move(s.whole), r.around_gradient = std::move(s.around_gradient);
    }
    if (s.slice_picture.rows > 0) r.slices.push_back(std::move(s.slice_picture));
    if (!std::isnan(s.dssim)) {
      if (s.dssim < r.dssim) r.dssim = s.dssim, r.dssim_at = s.first;
      dssim_sum_ += s.dssim;
      ++r.maps;
    }
    x_.insert(x_.end(), s.x.begin(), s.x.end());
    y_.insert(y_.end(), s.y.begin(), s.y.end());
    e_.insert(e_.end(), s.e.begin(), s.e.end());
    series_.insert(series_.end(), s.series.begin(), s.series.end());
    for (const SliceSums& slice : s.slices) {
      r.slice_means_original[size_t(slice.slice)] += slice.x;
      r.slice_means_decoded[size_t(slice.slice)] += slice.x - slice.e;
      slice_counts_[size_t(slice.slice)] += slice.count;
    }
    features_.merge(s.features);
    if (!s.distances.original.empty()) r.distances = std::move(s.distances);
    weight_.add(s.weight), weighted_x_.add(s.weighted_x), weighted_e_.add(s.weighted_e);
    if (!s.is_deep) return;
    rows_.merge(s.rows), columns_.merge(s.columns);
    r.error_map.merge(s.error_map);
    if (!s.spectra.original.empty() &&
        (r.spectra.original.empty() || r.spectra.original.size() == s.spectra.original.size()))
      r.spectra.merge(s.spectra);
    r.differences.merge(s.differences);
  }

  void finish() {
    Assessment& r = result_;
    if (r.maps == 0) r.dssim = std::numeric_limits<double>::quiet_NaN();
    r.dssim_mean = r.maps ? dssim_sum_ / double(r.maps) : r.dssim;
    for (size_t i = 0; i < slice_counts_.size(); ++i) {
      const double n =
          slice_counts_[i] > 0 ? slice_counts_[i] : std::numeric_limits<double>::quiet_NaN();
      r.slice_means_original[i] /= n, r.slice_means_decoded[i] /= n;
    }
    r.along_rows = rows_.values(r.moments.mean_e(), r.moments.variance_e());
    r.along_columns = columns_.values(r.moments.mean_e(), r.moments.variance_e());
    r.features = features_.features(options_.features);
    if (weight_.value() > 0) {
      r.weighted_mean = weighted_x_.value() / weight_.value();
      r.weighted_error = weighted_e_.value() / weight_.value();
    }
    finish_scatter();
    if (has_time_) finish_time();
    const double limit = r.bound > 0 ? r.bound : r.max_error;
    r.distribution = distribution_of(x_, y_, e_, limit);
  }

  void finish_scatter() {
    constexpr size_t kX = Assessment::kScatterColumns, kY = Assessment::kScatterRows;
    result_.scatter.resize(kX * kY);
    const double low = result_.moments.min_x(), range = result_.range();
    const double limit = result_.bound > 0 ? result_.bound : result_.max_error;
    if (!(range > 0 && limit > 0)) return;
    for (size_t i = 0; i < x_.size(); ++i) {
      const double column = (x_[i] - low) / range * kX, row = (e_[i] / limit + 1) / 2 * kY;
      ++result_.scatter[size_t(std::clamp(row, 0.0, kY - 1.0)) * kX +
                        size_t(std::clamp(column, 0.0, kX - 1.0))];
    }
  }

  void finish_time();

  const Shape shape_;
  const AssessOptions& options_;
  TileWalk walk_;
  Assessment result_;
  u64 slices_ = 1, slice_values_ = 1, series_step_ = 1;
  bool has_time_ = false;
  size_t row_axis_ = 0, column_axis_ = 0;  // of a map
  FeatureCounts features_;
  CompensatedSum weight_, weighted_x_, weighted_e_;
  std::vector<double> slice_counts_, x_, y_, e_;
  std::vector<SeriesValue> series_;
  Autocorrelation rows_, columns_;
  double dssim_sum_ = 0, shown_rms_ = -1;
  std::mutex drawing_;
  double worst_rms_ = -1, largest_ = -1;
};

// The correlation of a series with itself one step later.
double lag_1(std::span<const double> v) {
  const double mean = std::accumulate(v.begin(), v.end(), 0.0) / double(v.size());
  double product = 0, square = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    square += (v[i] - mean) * (v[i] - mean);
    if (i > 0) product += (v[i] - mean) * (v[i - 1] - mean);
  }
  return square > 0 ? product / square : std::numeric_limits<double>::quiet_NaN();
}

double variance_of_changes(std::span<const double> v) {
  double sum = 0, squares = 0;
  for (size_t i = 1; i < v.size(); ++i) {
    sum += v[i] - v[i - 1];
    squares += (v[i] - v[i - 1]) * (v[i] - v[i - 1]);
  }
  const double n = double(v.size() - 1), mean = sum / n;
  return squares / n - mean * mean;
}

void Assessor::finish_time() {
  std::ranges::stable_sort(series_, {},
                           [](const SeriesValue& v) { return std::pair(v.point, v.step); });
  TimeScores& t = result_.time;
  t.steps = slices_;
  double before = 0, after = 0;
  u64 whole = 0;  // series without gaps
  std::vector<double> x, y;
  t.displacement_original.resize(size_t(slices_)), t.displacement_decoded.resize(size_t(slices_));
  for (size_t i = 0; i < series_.size();) {
    const u64 point = series_[i].point;
    x.clear(), y.clear();
    for (; i < series_.size() && series_[i].point == point; ++i)
      if (!std::isnan(series_[i].x)) x.push_back(series_[i].x), y.push_back(series_[i].y);
    if (x.size() != slices_ || slices_ < 3) continue;  // only points without gaps
    ++whole;
    for (size_t k = 0; k < x.size(); ++k) {
      t.displacement_original[k] += (x[k] - x[0]) * (x[k] - x[0]);
      t.displacement_decoded[k] += (y[k] - y[0]) * (y[k] - y[0]);
    }
    const double a = lag_1(x), b = lag_1(y);
    if (std::isnan(a) || std::isnan(b)) continue;
    ++t.points;
    t.lag1_original += a, t.lag1_decoded += b;
    t.lag1_change = std::max(t.lag1_change, std::abs(a - b));
    before += variance_of_changes(x), after += variance_of_changes(y);
  }
  if (t.points > 0) t.lag1_original /= double(t.points), t.lag1_decoded /= double(t.points);
  if (before > 0) t.change_variance_ratio = after / before;
  for (size_t k = 0; k < t.displacement_original.size(); ++k)
    t.displacement_original[k] /= double(whole), t.displacement_decoded[k] /= double(whole);
}

}  // namespace

void ErrorMap::merge(const ErrorMap& other) {
  if (squares.empty()) {
    *this = other;
    return;
  }
  for (size_t i = 0; i < other.squares.size(); ++i)
    squares[i] += other.squares[i], counts[i] += other.counts[i];
}

double Assessment::psnr() const {
  return rmse() > 0 ? 20 * (std::log10(range()) - std::log10(rmse()))
                    : std::numeric_limits<double>::infinity();
}

double Assessment::spectrum_limit(double change) const {
  const size_t bins = spectra.original.size();
  for (size_t i = 0; i < bins; ++i) {
    if (spectra.counts[i] == 0 || spectra.original[i] == 0) continue;
    if (std::abs(spectra.decoded[i] / spectra.original[i] - 1) > change)
      return double(i) / double(bins);
  }
  return bins ? 1 : 0;
}

PairMoments moments_of(const Pair& pair, const Execution& execution) {
  const DefaultFloatingPoint environment;
  PairMoments all;
  TileWalk(pair, execution)
      .run<PairMoments>([](const Tile& t) { return PairMoments::of(t.x, t.e, t.valid, t.columns); },
                        [&](u64, PairMoments& of_tile) { all.merge(of_tile); });
  return all;
}

Assessment assess(const Pair& pair, const AssessOptions& options) {
  const DefaultFloatingPoint environment;
  return Assessor(pair, options).run();
}

}  // namespace leeway
