// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/choose/blocks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "leeway/choose/advise.h"
#include "leeway/recipe/recipe.h"

namespace leeway {
namespace {

// Numbers of pairs of functions in two shells, s to f, Cartesian or spherical.
constexpr size_t kPairs[] = {3,  5,  6,  7,  9,  10, 15, 18, 21,  25,
                             30, 35, 36, 49, 50, 60, 70, 90, 100, 105};
constexpr size_t kMostPairs = 105;

// Values of a contiguous array.
template <class T>
class Blocks {
 public:
  Blocks(const T* values, size_t size) : values_(values), size_(size) {}

  std::optional<BlockShape> shape(const std::function<double()>& step_of) const {
    const std::vector<size_t> columns = likely_columns();
    if (columns.empty()) return std::nullopt;
    const double step = step_of();
    if (!(step > 0)) return std::nullopt;
    std::optional<BlockShape> best;
    double least = std::numeric_limits<double>::max();
    for (const size_t c : columns)
      for (const size_t r : kPairs) {
        const double cost = cost_of({r, c}, step);
        if (cost >= 0.99 * least) continue;
        least = cost;
        best = {r, c};
      }
    return best;
  }

 private:
  // Lags at which values are much more alike than one more or less, the clearest first.
  std::vector<size_t> likely_columns() const {
    constexpr double kClear = 0.12;
    std::vector<std::pair<double, size_t>> found;
    for (const size_t lag : kPairs) {
      const double more = likeness(lag) - std::max(likeness(lag - 1), likeness(lag + 1));
      if (more > kClear) found.emplace_back(more, lag);
    }
    std::ranges::sort(found, std::greater());
    std::vector<size_t> lags;
    for (const auto& [more, lag] : found)
      if (more > found[0].first / 2) lags.push_back(lag);
    return lags;
  }
  // How parallel pieces of this length are to the next ones, 0 to 1, in the mean over the array.
  double likeness(size_t lag) const {
    constexpr size_t kPieces = 64;
    const size_t step = (size_ - 2 * (kMostPairs + 1)) / kPieces;
    double sum = 0, count = 0;
    for (size_t i = 0; i < kPieces; ++i) {
      const T* const u = values_ + i * step + i * 7919 % step;  // at all places of a block
      const T* const v = u + lag;
      const double cosine =
          std::abs(product(u, v, lag)) / std::sqrt(product(u, u, lag) * product(v, v, lag));
      if (!(cosine >= 0)) continue;  // zeros, or special values
      sum += cosine;
      count += 1;
    }
    return sum / std::max(count, 1.0);
  }
  static double product(const T* u, const T* v, size_t n) {
    std::array<double, 8> sums{};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
      for (size_t k = 0; k < 8; ++k) sums[k] += double(u[i + k]) * double(v[i + k]);
    for (; i < n; ++i) sums[0] += double(u[i]) * double(v[i]);
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) +
           ((sums[2] + sums[6]) + (sums[3] + sums[7]));
  }

  // Bits a value, about, that crosses take in some stretches of the array, the same for all shapes.
  double cost_of(const BlockShape& shape, double step) const {
    constexpr size_t kStretches = 4, kStretch = size_t(1) << 14;  // values
    const size_t block = shape.rows * shape.columns, all = size_ / block;
    double bits = 0, count = 0;
    for (size_t stretch = 0; stretch < kStretches; ++stretch) {
      const size_t first = (stretch * size_ / kStretches + block - 1) / block;
      for (size_t i = first; i < std::min(all, first + std::max<size_t>(1, kStretch / block));
           ++i) {
        bits += Matrix(values_ + i * block, shape, 1 / step).bits();
        count += double(block);
      }
    }
    return count > 0 ? bits / count : std::numeric_limits<double>::max();
  }

  // A block in steps, without rows and columns that are the same as others: of n^2, that with the
  // number a n + b is often that with b n + a.
  class Matrix {
   public:
    Matrix(const T* block, const BlockShape& shape, double inverse) : twins_(0) {
      const auto at = [&](size_t i, size_t j) {
        return double(block[i * shape.columns + j]) * inverse;
      };
      const auto rows = unique(shape.rows, [&](size_t i, size_t k) {
        for (size_t j = 0; j < shape.columns; ++j)
          if (!(std::abs(at(i, j) - at(k, j)) <= 1)) return false;
        return true;
      });
      const auto columns = unique(shape.columns, [&](size_t j, size_t l) {
        for (size_t i = 0; i < shape.rows; ++i)
          if (!(std::abs(at(i, j) - at(i, l)) <= 1)) return false;
        return true;
      });
      columns_ = columns.size();
      twins_ = shape.rows * shape.columns - rows.size() * columns.size();
      for (const size_t i : rows)
        for (const size_t j : columns) rest_.push_back(at(i, j));
    }
    double bits() {
      constexpr size_t kMostCrosses = 16;
      constexpr double kOfTwin = 0.1;
      double bits = kOfTwin * double(twins_);
      for (size_t n = 0; n < kMostCrosses && take_cross(bits); ++n) {
      }
      for (const double value : rest_) bits += bits_of_code(value);
      return bits;
    }

   private:
    template <class IsTwin>
    static std::vector<size_t> unique(size_t count, const IsTwin& is_twin) {
      size_t n = 1;
      while (n * n < count) ++n;
      const auto twin_of = [&](size_t i) { return i % n * n + i / n; };
      bool has_twins = n * n == count;
      for (size_t i = 0; i < count && has_twins; ++i)
        has_twins = twin_of(i) <= i || is_twin(i, twin_of(i));
      std::vector<size_t> numbers;
      for (size_t i = 0; i < count; ++i)
        if (!has_twins || i <= twin_of(i)) numbers.push_back(i);
      return numbers;
    }
    // Where the largest value is, if a cross pays there.
    bool take_cross(double& bits) {
      constexpr double kWorthACross = 2, kPivotBits = 16;
      const auto size_of = [](double value) { return std::abs(value); };
      const auto at = size_t(std::ranges::max_element(rest_, {}, size_of) - rest_.begin());
      const double pivot = rest_[at];
      if (!(std::abs(pivot) > kWorthACross)) return false;
      const auto first = rest_.begin() + std::ptrdiff_t(at - at % columns_);
      const std::vector<double> row(first, first + std::ptrdiff_t(columns_));
      bits += kPivotBits;
      for (const double value : row) bits += bits_of_code(value);
      for (size_t k = at % columns_; k < rest_.size(); k += columns_) {
        double* const other = rest_.data() + (k - at % columns_);
        const double part = rest_[k];
        bits += bits_of_code(part);
        for (size_t l = 0; l < columns_; ++l) other[l] -= part / pivot * row[l];
        rest_[k] = 0;
      }
      std::fill_n(first, columns_, 0.0);
      return true;
    }
    static double bits_of_code(double value) {
      const double size = std::abs(value);
      return size >= 0.5 ? 1.5 + std::bit_width(u64(std::min(size, 0x1p60))) : 0.25;  // NaN, too
    }

    std::vector<double> rest_;
    size_t columns_, twins_;
  };

  const T* values_;
  size_t size_;
};

// What is near the step between decoded values.
double step_for(const View& array, const CompressOptions& options) {
  double bound = std::numeric_limits<double>::max();
  const Bound limits = absolute_limits(array, options);
  for (const Limit& limit : limits.limits())
    if (limit.kind == BoundKind::abs) bound = std::min(bound, limit.value);
  if (bound < std::numeric_limits<double>::max()) return 2 * bound;
  constexpr double kUsual = 1e-4;  // of the range
  const auto range = value_range(array, options);
  return range ? kUsual * range->size() : 0;
}

bool is_slow_preset(const std::string& recipe) {
  return recipe != "fast" && std::ranges::count(presets(), recipe) > 0;
}

// Where the stage stands without parameters; npos if it does not.
size_t place_of(std::string_view stage, std::string_view recipe) {
  for (size_t at = recipe.find(stage); at != std::string_view::npos;
       at = recipe.find(stage, at + 1)) {
    const size_t end = at + stage.size();
    const auto is_border = [](char c) { return c == '+' || c == '|'; };
    if ((at == 0 || is_border(recipe[at - 1])) && (end == recipe.size() || is_border(recipe[end])))
      return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<BlockShape> integral_blocks(const View& array, const std::function<double()>& step) {
  constexpr u64 kFew = u64(1) << 14;  // values
  const auto size = size_t(array.shape.size());
  if (size < kFew || !is_contiguous(array)) return std::nullopt;
  const auto found_in = [&]<class T>(std::type_identity<T>) -> std::optional<BlockShape> {
    if (reinterpret_cast<std::uintptr_t>(array.data) % alignof(T) != 0) return std::nullopt;
    return Blocks(reinterpret_cast<const T*>(array.data), size).shape(step);
  };
  if (array.dtype == DType::f64) return found_in(std::type_identity<double>());
  if (array.dtype == DType::f32) return found_in(std::type_identity<float>());
  return std::nullopt;
}

std::string recipe_for_blocks(const std::string& recipe, const View& array,
                              const CompressOptions& options) {
  constexpr std::string_view kStage = "cross", kName = "eri";
  const std::string asked = recipe == kName ? to_string(parse_recipe(recipe)) : recipe;
  const size_t place = place_of(kStage, asked);
  const bool is_concerned = is_slow_preset(recipe) || place != std::string::npos;
  if (!is_concerned || options.bound.has(BoundKind::lossless) ||
      options.bound.has(BoundKind::pointwise) || options.earlier || options.keeps_all ||
      options.growing)
    return recipe;
  const auto shape = integral_blocks(array, [&] { return step_for(array, options); });
  if (!shape) return recipe;
  const std::string stage = std::string(kStage) + ":rows=" + std::to_string(shape->rows) +
                            ",columns=" + std::to_string(shape->columns);
  if (place != std::string::npos) return std::string(asked).replace(place, kStage.size(), stage);
  return to_string(parse_recipe(recipe)) + "|linear:range=1+" + stage + "+rans";
}

}  // namespace leeway
