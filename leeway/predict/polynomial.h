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

#include "leeway/core/types.h"

namespace leeway {

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
      : shape_(shape), size_(shape[0] * shape[1] * shape[2] * shape[3]) {
    add_term({}, step);
    for (int k = 0; k < 4; ++k) add_term(powers(k, 1), step);
    if (degree < 2) return;
    for (int k = 0; k < 4; ++k) add_term(powers(k, 2), step);
    for (int k = 0; k < 4; ++k)
      for (int l = k + 1; l < 4; ++l) add_term(powers(k, 1, l), step);
  }

  size_t terms() const { return terms_.size(); }

  // Says whether numbers were found.
  bool fit(const C* values, Numbers& numbers) const {
    numbers.fill(0);
    for (const Term& term : terms_) {
      const double number = double(dot(values, term.basis.data())) / (term.norm * term.unit);
      if (!(std::abs(number) < 0x1p40)) return false;
      numbers[term.place] = i64(std::floor(number + 0.5));
    }
    return true;
  }

  void evaluate(const Numbers& numbers, C* out) const {
    std::fill_n(out, size_, C(0));
    for (const Term& term : terms_) {
      const C weight = C(double(numbers[term.place]) * term.unit);
      for (size_t i = 0; i < size_; ++i) out[i] += weight * term.basis[i];
    }
  }

 private:
  using Powers = std::array<int, 4>;
  static Powers powers(int k, int power, int l = -1) {
    Powers p{};
    p[size_t(k)] = power;
    if (l >= 0) p[size_t(l)] = 1;
    return p;
  }

  double basis(size_t axis, int power, size_t i) const {
    const auto n = double(shape_[axis]);
    const double u = double(i) - (n - 1) / 2;
    return power == 0 ? 1 : power == 1 ? u : u * u - (n * n - 1) / 12;
  }

  struct Term {
    size_t place;          // of its number
    std::vector<C> basis;  // for every value of the block
    double norm, unit;
  };

  // Terms that are 0 everywhere are left out.
  void add_term(const Powers& powers, double step) {
    Term term{places_++, {}, 0, 0};
    double largest = 0;
    for (size_t i = 0; i < shape_[0]; ++i)
      for (size_t j = 0; j < shape_[1]; ++j)
        for (size_t k = 0; k < shape_[2]; ++k)
          for (size_t l = 0; l < shape_[3]; ++l) {
            const double value = basis(0, powers[0], i) * basis(1, powers[1], j) *
                                 basis(2, powers[2], k) * basis(3, powers[3], l);
            term.basis.push_back(C(value));
            term.norm += value * value;
            largest = std::max(largest, std::abs(value));
          }
    if (largest == 0) return;
    term.unit = step * kPart / largest;
    terms_.push_back(std::move(term));
  }

  // In eight sums, so that every host has the same.
  C dot(const C* a, const C* b) const {
    std::array<C, 8> sums{};
    size_t i = 0;
    for (; i + 8 <= size_; i += 8)
      for (size_t j = 0; j < 8; ++j) sums[j] += a[i + j] * b[i + j];
    for (; i < size_; ++i) sums[0] += a[i] * b[i];
    for (size_t j = 4; j > 0; j /= 2)
      for (size_t k = 0; k < j; ++k) sums[k] += sums[k + j];
    return sums[0];
  }

  BlockShape shape_;
  size_t size_, places_ = 0;
  std::vector<Term> terms_;
};

}  // namespace leeway
