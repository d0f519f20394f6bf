// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/choose/critical_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "leeway/base/environment.h"
#include "leeway/engine/execution.h"

namespace leeway {
namespace {

// The rounding error of a sum of three products of three doubles, relative to the sum of their
// magnitudes.
constexpr double kRounding = 0x1p-48;

template <size_t d>
using Vector = std::array<double, d>;
template <size_t d>
using Simplex = std::array<Vector<d>, d + 1>;
template <size_t d>
using Matrix = std::array<Vector<d>, d>;

double determinant(const Matrix<2>& a) { return a[0][0] * a[1][1] - a[0][1] * a[1][0]; }
double determinant(const Matrix<3>& a) {
  return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
         a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
         a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

// The same with plus everywhere, of entries' sizes enlarged by e: a determinant whose entries
// change by up to e changes by no more than grown(a, e) - grown(a, 0).
double grown(const Matrix<2>& a, double e) {
  const auto at = [&](size_t i, size_t j) { return std::abs(a[i][j]) + e; };
  return at(0, 0) * at(1, 1) + at(0, 1) * at(1, 0);
}
double grown(const Matrix<3>& a, double e) {
  const auto at = [&](size_t i, size_t j) { return std::abs(a[i][j]) + e; };
  return at(0, 0) * (at(1, 1) * at(2, 2) + at(1, 2) * at(2, 1)) +
         at(0, 1) * (at(1, 0) * at(2, 2) + at(1, 2) * at(2, 0)) +
         at(0, 2) * (at(1, 0) * at(2, 1) + at(1, 1) * at(2, 0));
}

// The corners of a simplex except one.
template <size_t d>
Matrix<d> without(const Simplex<d>& corners, size_t left_out) {
  Matrix<d> rows;
  for (size_t i = 0, k = 0; i <= d; ++i)
    if (i != left_out) rows[k++] = corners[i];
  return rows;
}

// The barycentric coordinates of the origin, up to a factor: determinants, of which only the signs
// matter. A sign that rounding may have changed is 0.
template <size_t d>
std::array<int, d + 1> signs_of(const Simplex<d>& corners) {
  std::array<int, d + 1> signs{};
  for (size_t i = 0; i <= d; ++i) {
    const Matrix<d> rows = without<d>(corners, i);
    const double value = i % 2 ? -determinant(rows) : determinant(rows);
    if (std::abs(value) > kRounding * grown(rows, 0)) signs[i] = value > 0 ? 1 : -1;
  }
  return signs;
}

template <size_t d>
bool holds_critical_point(const Simplex<d>& corners) {
  const auto signs = signs_of<d>(corners);
  return signs[0] != 0 && std::ranges::all_of(signs, [&](int sign) { return sign == signs[0]; });
}

// A bound for all components under which a determinant keeps its sign; up to 1/16 too small.
template <size_t d>
double bound_of_sign(const Matrix<d>& rows, double most) {
  const double size = grown(rows, 0), room = 0.98 * std::abs(determinant(rows));
  const auto stays = [&](double e) {
    const double larger = grown(rows, e);
    return larger - size + 32 * kRounding * larger <= room;
  };
  if (!stays(0)) return 0;
  if (stays(most)) return most;
  double low = 0, high = most;
  for (int i = 0; i < 60 && low < high * 15 / 16; ++i) {
    const double middle = low > 0 ? (low + high) / 2 : high / 16;
    (stays(middle) ? low : high) = middle;
  }
  return low;
}

// A bound under which all vectors stay on one side of a plane through the origin, so that the
// origin cannot lie between them.
template <size_t d>
double bound_of_side(const Simplex<d>& corners, const Vector<d>& normal) {
  double size = 0, least = std::numeric_limits<double>::infinity(), most = -least;
  for (size_t k = 0; k < d; ++k) size += std::abs(normal[k]);
  for (const Vector<d>& v : corners) {
    double product = 0, magnitude = 0;
    for (size_t k = 0; k < d; ++k) {
      product += normal[k] * v[k];
      magnitude += std::abs(normal[k] * v[k]);
    }
    const double doubt = kRounding * magnitude;
    least = std::min(least, product - doubt);
    most = std::max(most, product + doubt);
  }
  const double distance = std::max(least, -most);
  return distance > 0 ? 0.999 * distance / size : 0;
}

// A bound for the corners of a simplex, at most `most`; 0: they must not change.
template <size_t d>
double bound_of(const Simplex<d>& corners, double most) {
  double best = 0;
  for (size_t k = 0; k < d; ++k) {
    Vector<d> normal{};
    normal[k] = 1;
    best = std::max(best, bound_of_side<d>(corners, normal));
    if (best >= most) return most;
  }
  Vector<d> mean{};
  double largest = 0;
  for (const Vector<d>& v : corners)
    for (size_t k = 0; k < d; ++k) {
      mean[k] += v[k];
      largest = std::max(largest, std::abs(v[k]));
    }
  if (!(largest < 1e100)) return 0;
  best = std::max(best, bound_of_side<d>(corners, mean));
  if (best >= most) return most;

  const double cap = std::min(most, largest);
  const auto signs = signs_of<d>(corners);
  std::array<double, d + 1> bounds;
  for (size_t i = 0; i <= d; ++i)
    bounds[i] = signs[i] == 0 ? 0 : bound_of_sign<d>(without<d>(corners, i), cap);
  if (holds_critical_point<d>(corners)) return std::ranges::min(bounds);
  // Two different signs already mean that the origin is outside.
  for (size_t i = 0; i <= d; ++i)
    for (size_t j = 0; j < i; ++j)
      if (signs[i] * signs[j] < 0) best = std::max(best, std::min(bounds[i], bounds[j]));
  return std::min(best, most);
}

// The vectors of an array and its simplices.
template <class T, size_t d>
class Grid {
 public:
  explicit Grid(const View& field) : field_(field) {
    const bool leads = field.shape[0] == d;
    components_ = leads ? 0 : d;
    for (size_t axis = 0; axis < d; ++axis) {
      axes_[axis] = leads ? axis + 1 : axis;
      extents_[axis] = field.shape[axes_[axis]];
    }
  }
  u64 layers() const { return extents_[0]; }

  // Calls f(corners, where they are) for the simplices of one layer of cells.
  template <class F>
  void for_each_simplex(u64 layer, F&& f) const {
    for (const u64 extent : extents_)
      if (extent < 2) return;
    Index first{};
    first[0] = layer;
    for (;;) {
      std::array<size_t, d> order;
      for (size_t k = 0; k < d; ++k) order[k] = k;
      do {
        Simplex<d> corners;
        std::array<Index, d + 1> places;
        Index at = first;
        for (size_t i = 0; i <= d; ++i) {
          if (i > 0) ++at[order[i - 1]];
          places[i] = at;
          corners[i] = vector_at(at);
        }
        f(corners, places);
      } while (std::next_permutation(order.begin(), order.end()));
      size_t axis = d;
      while (axis > 1 && ++first[axis - 1] + 1 == extents_[axis - 1]) first[--axis] = 0;
      if (axis == 1) return;
    }
  }

  // The position of a component of a vector in row-major order of the array.
  size_t place_of(const Index& at, size_t component) const {
    size_t place = 0;
    for (size_t axis = 0; axis <= d; ++axis) {
      u64 index = component;
      for (size_t k = 0; k < d; ++k)
        if (axes_[k] == axis) index = at[k];
      place = place * size_t(field_.shape[axis]) + size_t(index);
    }
    return place;
  }

 private:
  Vector<d> vector_at(const Index& at) const {
    Vector<d> v;
    for (size_t c = 0; c < d; ++c) {
      const std::byte* place = field_.data + std::ptrdiff_t(c) * field_.strides[components_];
      for (size_t k = 0; k < d; ++k) place += std::ptrdiff_t(at[k]) * field_.strides[axes_[k]];
      T value;
      std::memcpy(&value, place, sizeof value);
      v[c] = double(value);
    }
    return v;
  }

  const View& field_;
  size_t components_;
  std::array<size_t, d> axes_;
  std::array<u64, d> extents_;
};

// Calls f(Grid) with the grid of a vector field.
template <class F>
void with_grid(const View& field, F&& f) {
  check_vector_field(field);
  visit_dtype(field.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<T>) {
      if (field.shape.rank() == 3)
        f(Grid<T, 2>(field));
      else
        f(Grid<T, 3>(field));
    }
  });
}

float float_below(double e) {
  const auto narrow = float(std::min(e, double(std::numeric_limits<float>::max())));
  return double(narrow) > e ? std::nextafter(narrow, 0.0f) : narrow;
}

}  // namespace

void check_vector_field(const View& field) {
  if (field.dtype != DType::f32 && field.dtype != DType::f64)
    fail_argument("a vector field has values of type f32 or f64");
  const size_t rank = field.shape.rank();
  if ((rank != 3 && rank != 4) || (field.shape[0] != rank - 1 && field.shape[rank - 1] != rank - 1))
    fail_argument(
        "an array of shape " + to_string(field.shape) +
        " is no vector field: that has two components on a grid of two axes, or three on one of "
        "three, as its first axis or its last");
}

std::vector<float> critical_point_bounds(const View& field, double most,
                                         const Execution& execution) {
  const DefaultFloatingPoint environment;
  std::vector<float> bounds(size_t(field.shape.size()), float_below(most));
  with_grid(field, [&]<class T, size_t d>(const Grid<T, d>& grid) {
    // Each worker has vertices of its own, and visits all simplices around them.
    const u64 layers = grid.layers(), parts = std::min<u64>(layers, 16);
    for_each_index(parts, std::max(1u, execution.threads), execution.executor, [&](u64 part) {
      const u64 begin = layers * part / parts, end = layers * (part + 1) / parts;
      for (u64 layer = begin > 0 ? begin - 1 : 0; layer < end && layer + 1 < layers; ++layer) {
        grid.for_each_simplex(layer, [&](const Simplex<d>& corners, const auto& places) {
          const double e = bound_of<d>(corners, most);
          if (e >= most) return;
          for (const Index& place : places)
            for (size_t c = 0; c < d && place[0] >= begin && place[0] < end; ++c) {
              float& known = bounds[grid.place_of(place, c)];
              known = std::min(known, float_below(e));
            }
        });
        if (execution.pause) execution.pause();
      }
    });
  });
  return bounds;
}

CriticalPoints compare_critical_points(const View& original, const View& other) {
  const DefaultFloatingPoint environment;
  if (original.dtype != other.dtype || !(original.shape == other.shape))
    fail_argument("arrays to be compared have the same type and shape");
  CriticalPoints found;
  with_grid(original, [&]<class T, size_t d>(const Grid<T, d>& grid) {
    const Grid<T, d> second(other);
    for (u64 layer = 0; layer + 1 < grid.layers(); ++layer) {
      std::vector<bool> before;
      grid.for_each_simplex(layer, [&](const Simplex<d>& corners, const auto&) {
        before.push_back(holds_critical_point<d>(corners));
        found.before += before.back();
      });
      size_t i = 0;
      second.for_each_simplex(layer, [&](const Simplex<d>& corners, const auto&) {
        const bool was = before[i++], is = holds_critical_point<d>(corners);
        found.after += is;
        found.lost += was && !is;
        found.gained += is && !was;
      });
    }
  });
  return found;
}

}  // namespace leeway
