// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/quality/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "leeway/base/buffer.h"
#include "leeway/base/distance.h"
#include "leeway/base/environment.h"
#include "leeway/codec/mask.h"
#include "leeway/engine/region_bounds.h"
#include "leeway/stage/bound.h"

namespace leeway {
namespace {

constexpr size_t kWindow = 7;

// Sums over windows of `width` neighbours along one axis: `lines` lines of n values, `stride`
// apart.
void box_sums(std::span<double> values, size_t n, size_t stride, size_t width) {
  std::vector<double> line(n);
  for (size_t start = 0; start < values.size(); ++start) {
    if (start / stride % n != 0) continue;  // the first of a line
    for (size_t i = 0; i < n; ++i) line[i] = values[start + i * stride];
    double sum = 0;
    for (size_t i = 0; i < n; ++i) {
      sum += line[i];
      if (i >= width) sum -= line[i - width];
      values[start + i * stride] = sum;  // of the window that ends here
    }
  }
}

// A power of two that scales numbers of this magnitude to about 1, so that their squares neither
// overflow nor become 0.
double scale_for(double size) {
  return size > 0 ? std::ldexp(1.0, std::clamp(-std::ilogb(size), -1000, 1000)) : 1;
}

// Mean SSIM of a slice of ny x nx values. Where one of two values is special, they count as equal.
struct SliceSum {
  double sum = 0;
  u64 windows = 0;
};
SliceSum ssim_of_slice(std::span<const double> x, std::span<const double> y, size_t ny, size_t nx,
                       double range) {
  const size_t wy = std::min(kWindow, ny), wx = std::min(kWindow, nx);
  const double n = double(wy * wx), c1 = std::pow(0.01 * range, 2), c2 = std::pow(0.03 * range, 2);
  std::array<std::vector<double>, 5> sums;  // x, y, xx, yy, xy
  for (auto& s : sums) s.resize(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double products[] = {x[i], y[i], x[i] * x[i], y[i] * y[i], x[i] * y[i]};
    for (size_t k = 0; k < 5; ++k) sums[k][i] = products[k];
  }
  for (auto& s : sums) {
    box_sums(s, nx, 1, wx);
    box_sums(s, ny, nx, wy);
  }
  SliceSum result;
  for (size_t row = wy - 1; row < ny; ++row)
    for (size_t column = wx - 1; column < nx; ++column) {
      const size_t i = row * nx + column;
      const double mx = sums[0][i] / n, my = sums[1][i] / n;
      const double vx = std::max(0.0, sums[2][i] / n - mx * mx),
                   vy = std::max(0.0, sums[3][i] / n - my * my);
      const double cov = sums[4][i] / n - mx * my;
      const double numerator = (2 * mx * my + c1) * (2 * cov + c2);
      const double denominator = (mx * mx + my * my + c1) * (vx + vy + c2);
      result.sum += denominator > 0 ? numerator / denominator : 1;
      ++result.windows;
    }
  return result;
}

template <class T>
class Comparer {
 public:
  Comparer(const View& original, const View& other, const std::vector<u64>& fills)
      : shape_(original.shape), mask_{.fills = fills}, x_(size_t(shape_.size())), y_(x_.size()) {
    gather(original, x_.data());
    gather(other, y_.data());
  }

  Comparison run(bool with_ssim) {
    result_.values = x_.size();
    find_range();
    sum_errors();
    if (with_ssim) sum_similarity();
    return result_;
  }

  u64 count_beyond(std::span<const double> bounds) const {
    u64 beyond = 0;
    for (size_t i = 0; i < x_.size(); ++i)
      beyond += is_valid(i) && error_between(x_[i], y_[i]) > bounds[i];
    return beyond;
  }

 private:
  bool is_valid(size_t i) const { return !mask_.is_special(x_[i]) && !mask_.is_special(y_[i]); }

  void find_range() {
    bool any = false;
    double largest = 0;
    T low{}, high{};
    for (size_t i = 0; i < x_.size(); ++i) {
      if (is_valid(i))
        largest = std::max({largest, std::abs(double(x_[i])), std::abs(double(y_[i]))});
      if (mask_.is_special(x_[i])) continue;
      if (!any || x_[i] < low) low = x_[i];
      if (!any || x_[i] > high) high = x_[i];
      any = true;
    }
    if (!any) return;
    low_ = low;
    scale_ = scale_for(largest);
    const Range range = Range::of(low, high);
    result_.min = range.min, result_.max = range.max;
    range_ = range.size();
  }
  // How far a value is above the lowest one, scaled.
  double height(T value) const {
    if constexpr (is_floating<T>)
      return double(value) * scale_ - double(low_) * scale_;
    else
      return (value < low_ ? -1 : 1) * double(distance(value, low_)) * scale_;
  }

  void sum_errors() {
    // The means come first, because the correlation is computed from distances to them.
    double sum_x = 0, sum_y = 0, sum_error = 0;
    for (size_t i = 0; i < x_.size(); ++i) {
      if (!is_valid(i)) {
        result_.special_mismatches += bits_of(x_[i]) != bits_of(y_[i]);
        continue;
      }
      ++result_.compared;
      sum_x += height(x_[i]);
      sum_y += height(y_[i]);
      const double error = error_between(x_[i], y_[i]);
      result_.max_abs = std::max(result_.max_abs, error);
      sum_error += (x_[i] < y_[i] ? -error : error) * scale_;
    }
    if (result_.compared == 0) {
      result_.psnr = std::numeric_limits<double>::infinity();
      result_.pearson = 1;
      return;
    }
    const double n = double(result_.compared), mean_x = sum_x / n, mean_y = sum_y / n,
                 scale = scale_for(result_.max_abs);  // of errors, which may be far smaller
    double squares = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < x_.size(); ++i) {
      if (!is_valid(i)) continue;
      const double error = error_between(x_[i], y_[i]), size = std::abs(double(x_[i])),
                   x = height(x_[i]) - mean_x, y = height(y_[i]) - mean_y;
      if (size > 0) result_.max_pointwise = std::max(result_.max_pointwise, error / size);
      squares += error * scale * (error * scale);
      xx += x * x;
      yy += y * y;
      xy += x * y;
    }
    result_.l2 = std::sqrt(squares) / scale;
    result_.mean_error = sum_error / n / scale_;
    result_.rmse = std::sqrt(squares / n) / scale;
    result_.max_rel = range_ > 0 ? result_.max_abs / range_ : 0;
    result_.nrmse = range_ > 0 ? result_.rmse / range_ : 0;
    result_.psnr = result_.rmse > 0 ? 20 * (std::log10(range_) - std::log10(result_.rmse))
                                    : std::numeric_limits<double>::infinity();
    result_.pearson = xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : (xx == yy ? 1 : 0);
  }

  void sum_similarity() {
    const Shape s = shape_.squeezed();
    const size_t rank = s.rank(), nx = rank > 0 ? size_t(s[rank - 1]) : 1,
                 ny = rank > 1 ? size_t(s[rank - 2]) : 1;
    if (x_.size() == 0) return void(result_.ssim = 1);
    std::vector<double> a(ny * nx), b(ny * nx);
    SliceSum total;
    for (size_t first = 0; first < x_.size(); first += ny * nx) {
      for (size_t i = 0; i < ny * nx; ++i) {
        const bool valid = is_valid(first + i);
        // Relative to the minimum: the measure is meant for values that start at 0.
        a[i] = valid ? height(x_[first + i]) : 0;
        b[i] = valid ? height(y_[first + i]) : 0;
      }
      const SliceSum slice = ssim_of_slice(a, b, ny, nx, range_ * scale_);
      total.sum += slice.sum;
      total.windows += slice.windows;
    }
    result_.ssim = total.sum / double(total.windows);
  }

  Shape shape_;
  Mask mask_;
  Buffer<T> x_, y_;
  T low_{};           // the lowest value of the original
  double range_ = 0;  // of its values
  double scale_ = 1;  // for values; a power of two
  Comparison result_;
};

void check_alike(const View& original, const View& other) {
  if (original.dtype != other.dtype || !(original.shape == other.shape))
    throw Error(Errc::invalid_argument,
                "the arrays differ in type or shape: " + std::string(name_of(original.dtype)) +
                    " " + to_string(original.shape) + " and " + std::string(name_of(other.dtype)) +
                    " " + to_string(other.shape));
}

}  // namespace

Comparison compare(const View& original, const View& other, const std::vector<u64>& fills,
                   bool with_ssim) {
  const DefaultFloatingPoint environment;
  check_alike(original, other);
  return visit_dtype(original.dtype, [&]<class T>(std::type_identity<T>) {
    return Comparer<T>(original, other, fills).run(with_ssim);
  });
}

u64 count_beyond(const View& original, const View& other, const View& bounds,
                 const std::vector<u64>& fills) {
  const DefaultFloatingPoint environment;
  check_alike(original, other);
  check_bounds(bounds, original.shape);
  const std::vector<double> numbers = bounds_of(bounds);
  return visit_dtype(original.dtype, [&]<class T>(std::type_identity<T>) {
    return Comparer<T>(original, other, fills).count_beyond(numbers);
  });
}

}  // namespace leeway
