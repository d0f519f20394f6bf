// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/preprocess/dft.h"

#include <cmath>
#include <vector>

namespace leeway {
namespace {

constexpr double kScale = 3.5;

// cos(pi x), x >= 0, as a sum of doubles that every host forms alike.
double cosine(double x) {
  x -= 2 * std::floor(x / 2);
  if (x > 1) x = 2 - x;
  const double sign = x > 0.5 ? -1 : 1, t = (x > 0.5 ? 1 - x : x) * 0x1.921fb54442d18p1;
  double sum = 0;
  for (int k = 22; k >= 0; k -= 2) sum = 1 - sum * t * t / ((k + 1) * (k + 2));
  return sign * sum;
}

// Row k has the weights of coefficient k of n values.
std::vector<double> weights(size_t n) {
  std::vector<double> w;
  for (size_t k = 0; k < n; ++k)
    for (size_t i = 0; i < n; ++i)
      w.push_back(std::sqrt((k == 0 ? 1.0 : 2.0) / double(n)) *
                  cosine(double(k) * (double(i) + 0.5) / double(n)));
  return w;
}

// All lines along one axis. Coefficients of equal frequency stand together: coefficient k of block
// b at k * blocks + b; those of a shorter block at the end stand behind.
class AxisTransform {
 public:
  AxisTransform(size_t extent, size_t block)
      : extent_(extent),
        block_(std::min(block, extent)),
        blocks_(extent / block_),
        whole_(weights(block_)),
        rest_(weights(extent % block_)) {}

  void run(double* line, bool forward) {
    moved_.assign(extent_, 0);
    for (size_t b = 0; b < blocks_; ++b)
      product(
          line, whole_, block_, forward, [&](size_t i) { return b * block_ + i; },
          [&](size_t k) { return k * blocks_ + b; });
    const size_t done = blocks_ * block_;
    product(
        line, rest_, extent_ - done, forward, [&](size_t i) { return done + i; },
        [&](size_t k) { return done + k; });
    std::copy(moved_.begin(), moved_.end(), line);
  }

 private:
  void product(const double* line, const std::vector<double>& w, size_t n, bool forward,
               auto&& value_at, auto&& coefficient_at) {
    for (size_t a = 0; a < n; ++a) {
      double sum = 0;
      for (size_t b = 0; b < n; ++b)
        sum += forward ? w[a * n + b] * line[value_at(b)] : w[b * n + a] * line[coefficient_at(b)];
      moved_[forward ? coefficient_at(a) : value_at(a)] = sum;
    }
  }
  size_t extent_, block_, blocks_;
  std::vector<double> whole_, rest_, moved_;
};

// Along the first axis, then the next; back in the other order.
template <class T>
void transform(Field<T> field, size_t block, bool forward) {
  const size_t rank = field.shape.rank();
  if (field.size() == 0) return;
  std::vector<double> values(field.size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = double(field.data[i]);
  const Strides strides = contiguous_strides(field.shape, 1);
  for (size_t turn = 0; turn < rank; ++turn) {
    const size_t axis = forward ? turn : rank - 1 - turn;
    const auto extent = size_t(field.shape[axis]), step = size_t(strides[axis]);
    AxisTransform along(extent, block);
    std::vector<double> line(extent);
    for (size_t first = 0; first < values.size(); ++first) {
      if (first / step % extent != 0) continue;
      for (size_t i = 0; i < extent; ++i) line[i] = values[first + i * step];
      along.run(line.data(), forward);
      for (size_t i = 0; i < extent; ++i) values[first + i * step] = line[i];
    }
  }
  const double scale = forward ? kScale : 1 / kScale;
  for (size_t i = 0; i < values.size(); ++i) field.data[i] = T(values[i] * scale);
}

}  // namespace

template <class T>
requires is_floating<T>
void Dft::forward(Field<T> field, Writer&) const { transform(field, size_t(params.block), true); }
template <class T>
requires is_floating<T>
void Dft::backward(Field<T> field, Reader&) const { transform(field, size_t(params.block), false); }

#define LEEWAY_DFT(T)                                     \
  template void Dft::forward<T>(Field<T>, Writer&) const; \
  template void Dft::backward<T>(Field<T>, Reader&) const
LEEWAY_DFT(float);
LEEWAY_DFT(double);
LEEWAY_DFT(f16);
LEEWAY_DFT(bf16);
#undef LEEWAY_DFT

}  // namespace leeway
