// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/preprocess/dft.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "leeway/base/buffer.h"

namespace leeway {
namespace {

constexpr double kScale = 3.5;

// cos(pi x), x >= 0, as a sum of doubles that is the same on every host.
double cosine(double x) {
  x -= 2 * std::floor(x / 2);
  if (x > 1) x = 2 - x;
  const double sign = x > 0.5 ? -1 : 1, t = (x > 0.5 ? 1 - x : x) * 0x1.921fb54442d18p1;
  double sum = 0;
  for (int k = 22; k >= 0; k -= 2) sum = 1 - sum * t * t / ((k + 1) * (k + 2));
  return sign * sum;
}

// Value i of wave k, over n values. Fourier's waves are a constant, then the cosine and the sine of
// one period, of two, ...; with an even n the last is a cosine alone.
double wave(Waves waves, size_t k, size_t i, size_t n) {
  if (waves == Waves::cosine)
    return std::sqrt((k == 0 ? 1.0 : 2.0) / double(n)) *
           cosine(double(k) * (double(i) + 0.5) / double(n));
  const size_t periods = (k + 1) / 2;
  const bool is_sine = k > 0 && k % 2 == 0, is_alone = k == 0 || 2 * periods == n;
  // The same angle between 0 and two periods of pi; the sine is a cosine, a quarter later.
  const double angle = double(2 * (periods * i % n)) / double(n);
  return std::sqrt((is_alone ? 1.0 : 2.0) / double(n)) *
         cosine(is_sine ? std::abs(angle - 0.5) : angle);
}

// The matrix of a transform of n numbers: entry [from * n + to] is a weight.
std::vector<double> weights(Waves waves, size_t n, bool forward) {
  std::vector<double> w(n * n);
  for (size_t k = 0; k < n; ++k)
    for (size_t i = 0; i < n; ++i) w[forward ? i * n + k : k * n + i] = wave(waves, k, i, n);
  return w;
}

// Transforms all lines along one axis, `step` lines side by side. Coefficients of equal frequency
// are stored together: coefficient k of block b at k * blocks + b; a shorter block at the end comes
// last.
class AxisTransform {
 public:
  AxisTransform(size_t extent, size_t step, const Dft::Params& params, bool forward)
      : extent_(extent),
        step_(step),
        block_(std::min(size_t(params.block), extent)),
        blocks_(extent / block_),
        forward_(forward),
        whole_(weights(params.waves, block_, forward)),
        rest_(weights(params.waves, extent % block_, forward)) {}

  void run(const double* from, double* to) const {
    for (size_t b = 0; b < blocks_; ++b) product(from, to, whole_, block_, b * block_, b, blocks_);
    const size_t done = blocks_ * block_;
    product(from, to, rest_, extent_ - done, done, done, 1);
  }

 private:
  // Values start at first_value, coefficients at first_coefficient; both are `apart` from the next.
  void product(const double* from, double* to, const std::vector<double>& w, size_t n,
               size_t first_value, size_t first_coefficient, size_t apart) const {
    const auto value = [&](size_t i) { return (first_value + i) * step_; };
    const auto coefficient = [&](size_t k) { return (first_coefficient + k * apart) * step_; };
    const auto source = [&](size_t i) { return forward_ ? value(i) : coefficient(i); };
    const auto target = [&](size_t i) { return forward_ ? coefficient(i) : value(i); };
    if (step_ < kSideBySide) {  // vectors of results of one line
      std::array<double, Dft::kMostBlock> sums;
      for (size_t line = 0; line < step_; ++line) {
        sums.fill(0);
        for (size_t i = 0; i < n; ++i) {
          const double x = from[source(i) + line];
          for (size_t k = 0; k < n; ++k) sums[k] += w[i * n + k] * x;
        }
        for (size_t k = 0; k < n; ++k) to[target(k) + line] = sums[k];
      }
      return;
    }
    std::array<double, kSideBySide> sums;
    for (size_t first = 0; first < step_; first += kSideBySide) {
      const size_t lines = std::min(kSideBySide, step_ - first);
      for (size_t k = 0; k < n; ++k) {
        sums.fill(0);
        for (size_t i = 0; i < n; ++i) {
          const double weight = w[i * n + k], *x = from + source(i) + first;
          for (size_t line = 0; line < lines; ++line) sums[line] += weight * x[line];
        }
        std::copy_n(sums.data(), lines, to + target(k) + first);
      }
    }
  }
  static constexpr size_t kSideBySide = 32;
  size_t extent_, step_, block_, blocks_;
  bool forward_;
  std::vector<double> whole_, rest_;
};

// Forward: along the first axis, then the next. Backward: in the opposite order.
template <class T>
void transform(Field<T> field, const Dft::Params& params, bool forward) {
  const size_t rank = field.shape.rank();
  if (field.size() == 0) return;
  Buffer<double> values(field.size()), moved(field.size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = double(field.data[i]);
  const Strides strides = contiguous_strides(field.shape, 1);
  for (size_t turn = 0; turn < rank; ++turn) {
    const size_t axis = forward ? turn : rank - 1 - turn;
    const auto extent = size_t(field.shape[axis]), step = size_t(strides[axis]);
    const AxisTransform along(extent, step, params, forward);
    for (size_t first = 0; first < values.size(); first += extent * step)
      along.run(values.data() + first, moved.data() + first);
    std::swap(values, moved);
  }
  const double scale = forward ? kScale : 1 / kScale;
  for (size_t i = 0; i < values.size(); ++i) field.data[i] = T(values[i] * scale);
}

}  // namespace

template <class T>
  requires is_floating<T>
void Dft::forward(Field<T> field, Writer&) const {
  transform(field, params, true);
}
template <class T>
  requires is_floating<T>
void Dft::backward(Field<T> field, Reader&) const {
  transform(field, params, false);
}

#define LEEWAY_DFT(T)                                     \
  template void Dft::forward<T>(Field<T>, Writer&) const; \
  template void Dft::backward<T>(Field<T>, Reader&) const
LEEWAY_DFT(float);
LEEWAY_DFT(double);
LEEWAY_DFT(f16);
LEEWAY_DFT(bf16);
#undef LEEWAY_DFT

}  // namespace leeway
