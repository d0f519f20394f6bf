// SPDX-License-Identifier: BSD-3-Clause
// Assess: all that a report says of a decoded array beside its original, found in one pass over
// both. Measures of every value count all values; the costlier ones look at a part of a large
// array, and say how large that part is.
#pragma once

#include <limits>

#include "leeway/quality/distribution.h"
#include "leeway/quality/features.h"
#include "leeway/quality/fourier.h"
#include "leeway/quality/pair.h"
#include "leeway/quality/structure.h"

namespace leeway {

// A map, or a window of one; every step-th value of large ones. NaN where values are special.
struct Picture {
  Index first{};  // of its first value in the array
  size_t rows = 0, columns = 0, step = 1;
  std::vector<float> original, decoded, error;  // error: the largest of each cell
};

// A series along the first axis, from a sample of the points of a slice.
struct TimeScores {
  u64 steps = 0, points = 0;
  double lag1_original = 0, lag1_decoded = 0;  // mean correlation of values with the next ones
  double lag1_change = 0;                      // the largest change of it at a point
  double change_variance_ratio = 1;  // variance of differences in time, decoded over original
  // Mean squares of the way from the first step to each one.
  std::vector<double> displacement_original, displacement_decoded;
};

// The RMS of errors of every deep_step-th map, by place.
struct ErrorMap {
  size_t rows = 0, columns = 0, step = 1;
  std::vector<double> squares, counts;
  void merge(const ErrorMap& other);
};

struct AssessOptions {
  double bound = 0;           // absolute; 0: not known
  size_t picture_side = 420;  // values along the longer side of the largest picture
  size_t slices = 8;          // that are shown, at most
  FeatureAim features;
  size_t weighted_axis = 0;     // the weights of
  std::vector<double> weights;  // each index of an axis: cosines of latitudes; empty: none
  Execution execution;
};

struct Assessment {
  Shape shape;
  u64 values = 0;
  PairMoments moments;
  SpecialCounts before, after;
  u64 mismatches = 0, new_negative = 0, lost_zeros = 0;
  double max_error = 0, max_pointwise = 0;
  Index max_at{};
  double max_original = 0, max_decoded = 0;  // the values there
  u64 relative_beyond = 0;  // values off by more than 1e-4 of themselves (of 1, if they are 0)
  double bound = 0;
  // Data SSIM of the worst map and the mean of all; NaN where no map has 11 x 11 values.
  double dssim = 0, dssim_mean = 0;
  Index dssim_at{};
  u64 maps = 0;

  Distribution distribution;  // of every sample_step-th value
  u64 sample_step = 1;
  std::vector<u64> scatter;  // counts of values (columns) by errors (rows, from -limit up)
  static constexpr size_t kScatterColumns = 64, kScatterRows = 33;

  // Of every deep_step-th map.
  u64 deep_step = 1;
  std::array<double, kLags> along_rows{}, along_columns{};
  Spectra spectra;
  Differences differences;

  ErrorMap error_map;
  std::vector<Feature> features;
  bool particles = false;   // the first axis is time, the others are particles
  PairDistances distances;  // of the first map, where coordinates of particles are its columns

  // With the weights of the options; NaN if there are none.
  double weighted_mean = kNotKnown, weighted_error = kNotKnown;
  static constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

  std::vector<double> slice_means_original, slice_means_decoded;  // by index of the first axis
  TimeScores time;
  Picture worst, around_error, around_gradient;  // worst: the map with the largest RMS error
  std::vector<Picture> slices;

  double rmse() const { return std::sqrt(moments.mean_square_e()); }
  double range() const { return moments.max_x() - moments.min_x(); }
  double psnr() const;            // infinite without error
  double r_squared_gap() const {  // 1 - R^2 of the linear regression
    const double gap = moments.one_minus_correlation();
    return gap * (2 - gap);
  }
  double relative_beyond_part() const {
    return moments.count() ? double(relative_beyond) / double(moments.count()) : 0;
  }
  // The part of Nyquist's wave number up to which the spectrum changes by 1 % at most; 0 if it is
  // not known.
  double spectrum_limit(double change = 0.01) const;
};

Assessment assess(const Pair& pair, const AssessOptions& options);
// The first part of it alone.
PairMoments moments_of(const Pair& pair, const Execution& execution);

}  // namespace leeway
