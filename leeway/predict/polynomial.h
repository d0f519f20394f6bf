// SPDX-License-Identifier: BSD-3-Clause
// Polynomial: least-squares polynomials of degree 1 or 2 on a block of up to four axes.
//
// Every term is a product of polynomials that are orthogonal on an axis of n points,
//
//   1,   u = i - (n - 1) / 2,   v = u^2 - (n^2 - 1) / 12
//
// so a coefficient is a sum of products divided by a constant, and there is no system to solve.
// Coefficients are integers: multiples of `unit`, a part of the quantizer's step over the largest
// value of the term.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "leeway/base/export.h"
#include "leeway/base/types.h"

namespace leeway {

namespace kernel {

// out[t] = the sum of values[i] * basis[t * size + i]; sizes are multiples of eight.
LEEWAY_EXPORT void products(const float* values, const float* basis, size_t terms, size_t size,
                            float* out);
LEEWAY_EXPORT void products(const double* values, const double* basis, size_t terms, size_t size,
                            double* out);
// out[i] = the sum of weights[t] * basis[t * size + i], in the order of t.
LEEWAY_EXPORT void weighted_sum(const float* weights, const float* basis, size_t terms, size_t size,
                                float* out);
LEEWAY_EXPORT void weighted_sum(const double* weights, const double* basis, size_t terms,
                                size_t size, double* out);

}  // namespace kernel

// Slowest axis first; axes that are not there have extent 1.
using BlockShape = std::array<size_t, 4>;

// C is float or double.
template <class C>
class Polynomial {
 public:
  static constexpr size_t kMostTerms = 15;  // 1, four u, four v, six u u
  // What rounding one coefficient may change, as a part of the step.
  static constexpr double kPart = 0.25;
  using Numbers = std::array<i64, kMostTerms>;

  Polynomial(const BlockShape& shape, int degree, double step)
      : shape_(shape), padded_((shape[0] * shape[1] * shape[2] * shape[3] + 7) / 8 * 8) {
    add_term({}, step);
    for (int k = 0; k < 4; ++k) add_term(powers(k, 1), step);
    if (degree < 2) return;
    for (int k = 0; k < 4; ++k) add_term(powers(k, 2), step);
    for (int k = 0; k < 4; ++k)
      for (int l = k + 1; l < 4; ++l) add_term(powers(k, 1, l), step);
  }

  size_t terms() const { return terms_.size(); }

  // The size of a block, up to a multiple of eight.
  size_t padded() const { return padded_; }

  // The coefficients, not yet rounded; says whether they are within reach. Behind the block, values
  // up to padded() are zeros.
  using Fit = std::array<double, kMostTerms>;
  bool fit(const C* values, Fit& found) const {
    found.fill(0);
    std::array<C, kMostTerms> sums;
    kernel::products(values, basis_.data(), terms_.size(), padded_, sums.data());
    for (size_t t = 0; t < terms_.size(); ++t) {
      const double number = double(sums[t]) / (terms_[t].norm * terms_[t].unit);
      if (!(std::abs(number) < 0x1p40)) return false;
      found[terms_[t].place] = number;
    }
    return true;
  }
  // To multiples of the grain, a power of two.
  Numbers rounded(const Fit& fit, i64 grain) const {
    Numbers numbers{};
    for (const Term& term : terms_)
      numbers[term.place] = grain * rounded(fit[term.place] / double(grain));
    return numbers;
  }

  // Has room for padded() values.
  void evaluate(const Numbers& numbers, C* out) const {
    std::array<C, kMostTerms> weights;
    for (size_t t = 0; t < terms_.size(); ++t) weights[t] = weight(numbers, t);
    kernel::weighted_sum(weights.data(), basis_.data(), terms_.size(), padded_, out);
  }
  // out[0] alone.
  C first_value(const Numbers& numbers) const {
    C sum = 0;
    for (size_t t = 0; t < terms_.size(); ++t) sum += weight(numbers, t) * basis_[t * padded_];
    return sum;
  }

 private:
  using Powers = std::array<int, 4>;
  static Powers powers(int k, int power, int l = -1) {
    Powers p{};
    p[size_t(k)] = power;
    if (l >= 0) p[size_t(l)] = 1;
    return p;
  }

  C weight(const Numbers& numbers, size_t t) const {
    return C(double(numbers[terms_[t].place]) * terms_[t].unit);
  }

  double basis(size_t axis, int power, size_t i) const {
    const auto n = double(shape_[axis]);
    const double u = double(i) - (n - 1) / 2;
    return power == 0 ? 1 : power == 1 ? u : u * u - (n * n - 1) / 12;
  }

  // Halves up.
  static i64 rounded(double number) {
    const double up = number + 0.5;
    const auto whole = i64(up);
    return whole - (double(whole) > up);
  }

  struct Term {
    size_t place;  // of its number
    double norm, unit;
  };

  // Terms that are 0 everywhere are left out.
  void add_term(const Powers& powers, double step) {
    Term term{places_++, 0, 0};
    double largest = 0;
    std::vector<C> values;
    for (size_t i = 0; i < shape_[0]; ++i)
      for (size_t j = 0; j < shape_[1]; ++j)
        for (size_t k = 0; k < shape_[2]; ++k)
          for (size_t l = 0; l < shape_[3]; ++l) {
            const double value = basis(0, powers[0], i) * basis(1, powers[1], j) *
                                 basis(2, powers[2], k) * basis(3, powers[3], l);
            values.push_back(C(value));
            term.norm += value * value;
            largest = std::max(largest, std::abs(value));
          }
    if (largest == 0) return;
    values.resize(padded_);
    basis_.insert(basis_.end(), values.begin(), values.end());
    term.unit = step * kPart / largest;
    terms_.push_back(term);
  }

  BlockShape shape_;
  size_t padded_, places_ = 0;
  std::vector<Term> terms_;
  std::vector<C> basis_;  // of every term, for every value of the block
};

}  // namespace leeway
