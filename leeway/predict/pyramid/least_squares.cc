// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/pyramid/least_squares.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/predict/pyramid/least_squares.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#ifndef LEEWAY_PREDICT_LEAST_SQUARES_LIMIT
#define LEEWAY_PREDICT_LEAST_SQUARES_LIMIT
namespace leeway::least_squares_kernels {
inline constexpr double kUsable = 1e6;  // steps
}
#endif

HWY_BEFORE_NAMESPACE();
namespace leeway::least_squares_kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kBatch = LeastSquares<float>::kBatch;

// All rows have room behind them: the last vector may reach over the end.
template <class C>
void weighted_sum(const C* const* taps, const C* weights, size_t k, const C* guess, C guess_weight,
                  size_t count, C* out) {
  const hn::ScalableTag<C> d;
  const size_t lanes = hn::Lanes(d);
  const auto w0 = hn::Set(d, guess_weight);
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    auto s0 = hn::Mul(hn::LoadU(d, guess + i), w0);
    auto s1 = hn::Mul(hn::LoadU(d, guess + i + lanes), w0);
    auto s2 = hn::Mul(hn::LoadU(d, guess + i + 2 * lanes), w0);
    auto s3 = hn::Mul(hn::LoadU(d, guess + i + 3 * lanes), w0);
    for (size_t t = 0; t < k; ++t) {
      const auto w = hn::Set(d, weights[t]);
      const C* at = taps[t] + i;
      s0 = hn::Add(s0, hn::Mul(hn::LoadU(d, at), w));
      s1 = hn::Add(s1, hn::Mul(hn::LoadU(d, at + lanes), w));
      s2 = hn::Add(s2, hn::Mul(hn::LoadU(d, at + 2 * lanes), w));
      s3 = hn::Add(s3, hn::Mul(hn::LoadU(d, at + 3 * lanes), w));
    }
    hn::StoreU(s0, d, out + i);
    hn::StoreU(s1, d, out + i + lanes);
    hn::StoreU(s2, d, out + i + 2 * lanes);
    hn::StoreU(s3, d, out + i + 3 * lanes);
  }
  for (; i < count; i += lanes) {
    auto s = hn::Mul(hn::LoadU(d, guess + i), w0);
    for (size_t t = 0; t < k; ++t)
      s = hn::Add(s, hn::Mul(hn::LoadU(d, taps[t] + i), hn::Set(d, weights[t])));
    hn::StoreU(s, d, out + i);
  }
}
void weighted_sum_f32(const float* const* taps, const float* weights, size_t k, const float* guess,
                      float guess_weight, size_t count, float* out) {
  weighted_sum(taps, weights, k, guess, guess_weight, count, out);
}
void weighted_sum_f64(const double* const* taps, const double* weights, size_t k,
                      const double* guess, double guess_weight, size_t count, double* out) {
  weighted_sum(taps, weights, k, guess, guess_weight, count, out);
}

// For eight values: taps and, last, the value itself, less the guess, in steps; the taps also with
// a weight. What is far off or no number teaches nothing.
template <class C>
void differences(const Samples<C>& in, size_t k, C* plain, C* weighted) {
  const hn::CappedTag<C, 8> d;
  const hn::Rebind<float, decltype(d)> df;
  const auto scale = hn::Set(d, in.inverse_step), most = hn::Set(d, C(kUsable));
  const auto usable = [&](auto v)
                          HWY_ATTR { return hn::IfThenElseZero(hn::Lt(hn::Abs(v), most), v); };
  for (size_t lane = 0; lane < 8; lane += hn::Lanes(d)) {
    const size_t i = in.first + lane;
    const auto g = hn::LoadU(d, in.guess + i), v = hn::LoadU(d, in.values + i);
    const auto error = usable(hn::Mul(hn::Sub(v, hn::LoadU(d, in.predicted + i)), scale));
    hn::Vec<decltype(d)> expected;
    if constexpr (sizeof(C) == 4)
      expected = hn::LoadU(d, in.expected + i);
    else
      expected = hn::PromoteTo(d, hn::LoadU(df, in.expected + i));
    const auto e = usable(expected);
    const auto squares = hn::Add(hn::Mul(hn::Mul(hn::Set(d, C(0.5)), error), error),
                                 hn::Mul(hn::Mul(hn::Set(d, C(4)), e), e));
    const auto weight = hn::Div(hn::Set(d, C(1)), hn::Add(squares, hn::Set(d, C(0.25))));
    for (size_t t = 0; t <= k; ++t) {
      const auto from = t < k ? hn::LoadU(d, in.taps[t] + i) : v;
      const auto difference = usable(hn::Mul(hn::Sub(from, g), scale));
      hn::StoreU(difference, d, plain + t * kBatch + lane);
      if (t < k) hn::StoreU(hn::Mul(difference, weight), d, weighted + t * kBatch + lane);
    }
  }
}
void differences_f32(const Samples<float>& in, size_t k, float* plain, float* weighted) {
  differences(in, k, plain, weighted);
}
void differences_f64(const Samples<double>& in, size_t k, double* plain, double* weighted) {
  differences(in, k, plain, weighted);
}

// Solves the n equations in `a`, whose upper right half and n + 1 columns are filled in, by
// Cholesky's elimination; says false if there is no solution. Rows are kMostTaps + 8 long.
bool solve(double* a, size_t n, double* x) {
  constexpr size_t pitch = kMostTaps + 8;
  for (size_t r = 0; r < n; ++r) {
    double* HWY_RESTRICT row = a + r * pitch;
    if (!(row[r] > 0)) return false;
    const double inverse = 1 / row[r];
    for (size_t s = r + 1; s < n; ++s) {
      double* HWY_RESTRICT other = a + s * pitch;
      const double factor = row[s] * inverse;
      for (size_t c = s; c <= n; ++c) other[c] -= factor * row[c];
    }
  }
  for (size_t r = n; r-- > 0;) {
    const double* row = a + r * pitch;
    double s = row[n];
    for (size_t c = r + 1; c < n; ++c) s -= row[c] * x[c];
    x[r] = s / row[r];
  }
  return true;
}

// Adds the sums of weighted[r][i] * plain[c][i] for the pairs r <= c, each as eight sums side by
// side, i mod 8, and then those from the outside in. Two rows by four columns at a time; there are
// rows enough behind the last for that.
template <class C>
void add_products(const C* plain, const C* weighted, size_t k, double* sums) {
  constexpr size_t kRows = 2, kColumns = 4;
  const hn::CappedTag<C, 8> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t r = 0; r < k; r += kRows) {
    const C* a = weighted + kBatch * r;
    for (size_t c = r; c <= k; c += kColumns) {
      const C* b = plain + kBatch * c;
      HWY_ALIGN C part[kRows][kColumns][8];
      for (size_t lane = 0; lane < 8; lane += lanes) {
        auto s00 = hn::Zero(d), s01 = s00, s02 = s00, s03 = s00;
        auto s10 = s00, s11 = s00, s12 = s00, s13 = s00;
        for (size_t i = lane; i < kBatch; i += 8) {
          const auto a0 = hn::LoadU(d, a + i), a1 = hn::LoadU(d, a + kBatch + i);
          const auto b0 = hn::LoadU(d, b + i), b1 = hn::LoadU(d, b + kBatch + i);
          const auto b2 = hn::LoadU(d, b + 2 * kBatch + i), b3 = hn::LoadU(d, b + 3 * kBatch + i);
          s00 = hn::Add(s00, hn::Mul(a0, b0));
          s01 = hn::Add(s01, hn::Mul(a0, b1));
          s02 = hn::Add(s02, hn::Mul(a0, b2));
          s03 = hn::Add(s03, hn::Mul(a0, b3));
          s10 = hn::Add(s10, hn::Mul(a1, b0));
          s11 = hn::Add(s11, hn::Mul(a1, b1));
          s12 = hn::Add(s12, hn::Mul(a1, b2));
          s13 = hn::Add(s13, hn::Mul(a1, b3));
        }
        hn::StoreU(s00, d, part[0][0] + lane);
        hn::StoreU(s01, d, part[0][1] + lane);
        hn::StoreU(s02, d, part[0][2] + lane);
        hn::StoreU(s03, d, part[0][3] + lane);
        hn::StoreU(s10, d, part[1][0] + lane);
        hn::StoreU(s11, d, part[1][1] + lane);
        hn::StoreU(s12, d, part[1][2] + lane);
        hn::StoreU(s13, d, part[1][3] + lane);
      }
      for (size_t y = 0; y < kRows && r + y < k; ++y)
        for (size_t x = 0; x < kColumns && c + x <= k; ++x) {
          const C* s = part[y][x];
          sums[(r + y) * (k + 1) + c + x] +=
              double(((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])));
        }
    }
  }
}
void add_products_f32(const float* plain, const float* weighted, size_t k, double* sums) {
  add_products(plain, weighted, k, sums);
}
void add_products_f64(const double* plain, const double* weighted, size_t k, double* sums) {
  add_products(plain, weighted, k, sums);
}

}  // namespace leeway::least_squares_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::least_squares_kernels {
HWY_EXPORT(weighted_sum_f32);
HWY_EXPORT(weighted_sum_f64);
HWY_EXPORT(add_products_f32);
HWY_EXPORT(add_products_f64);
HWY_EXPORT(differences_f32);
HWY_EXPORT(differences_f64);
HWY_EXPORT(solve);
}  // namespace leeway::least_squares_kernels

namespace leeway {
using namespace least_squares_kernels;
namespace {

void differences(const Samples<float>& in, size_t k, float* plain, float* weighted) {
  HWY_DYNAMIC_DISPATCH(differences_f32)(in, k, plain, weighted);
}
void differences(const Samples<double>& in, size_t k, double* plain, double* weighted) {
  HWY_DYNAMIC_DISPATCH(differences_f64)(in, k, plain, weighted);
}
void weighted_sum(const float* const* taps, const float* weights, size_t k, const float* guess,
                  float guess_weight, size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(weighted_sum_f32)(taps, weights, k, guess, guess_weight, count, out);
}
void weighted_sum(const double* const* taps, const double* weights, size_t k, const double* guess,
                  double guess_weight, size_t count, double* out) {
  HWY_DYNAMIC_DISPATCH(weighted_sum_f64)(taps, weights, k, guess, guess_weight, count, out);
}
void add_products(const float* plain, const float* weighted, size_t k, double* sums) {
  HWY_DYNAMIC_DISPATCH(add_products_f32)(plain, weighted, k, sums);
}
void add_products(const double* plain, const double* weighted, size_t k, double* sums) {
  HWY_DYNAMIC_DISPATCH(add_products_f64)(plain, weighted, k, sums);
}
constexpr double kMemory = 1536;    // samples that count
constexpr double kInherited = 512;  // samples taken over from a coarser level
constexpr double kRidge = 1e-5, kRidgeStep = 1e-4;

}  // namespace

template <class C>
LeastSquares<C>::LeastSquares(size_t taps) : taps_(taps) {}

template <class C>
bool LeastSquares<C>::is_full() const {
  return known_ >= kMemory;
}

template <class C>
void LeastSquares<C>::inherit(const LeastSquares& other) {
  if (!(other.known_ > 0)) return;
  const double scale = std::min(1.0, kInherited / other.known_);
  sums_ = other.sums_;
  for (double& sum : sums_) sum *= scale;
  known_ = other.known_ * scale;
  weights_ = other.weights_;
  guess_weight_ = other.guess_weight_;
  ready_ = other.ready_;
}

template <class C>
void LeastSquares<C>::settle() {
  plain_ = {};
  weighted_ = {};
}

template <class C>
void LeastSquares<C>::sample(const Samples<C>& samples) {
  if (plain_.empty()) {
    plain_.resize(taps_ + 1 + 4);
    weighted_.resize(taps_ + 1);
  }
  differences(samples, taps_, plain_[0].data() + waiting_, weighted_[0].data() + waiting_);
  waiting_ += kSampleGroup;
  if (waiting_ == kBatch) add_batch();
}

template <class C>
void LeastSquares<C>::add_batch() {
  waiting_ = 0;
  sums_.resize(taps_ * (taps_ + 1));
  add_products(plain_[0].data(), weighted_[0].data(), taps_, sums_.data());
  known_ += kBatch;
  since_ += kBatch;
  if (since_ < kSolveEvery || known_ < 8 * double(taps_)) return;
  since_ = 0;
  solve();
  if (known_ > kMemory) {
    const double scale = kMemory / known_;
    for (double& sum : sums_) sum *= scale;
    known_ = kMemory;
  }
}

template <class C>
void LeastSquares<C>::solve() {
  constexpr size_t pitch = kMostTaps + 8;
  std::array<double, kMostTaps * pitch> a;
  std::array<double, kMostTaps> x;
  const size_t n = taps_;
  for (size_t r = 0; r < n; ++r) {
    std::copy_n(sums_.data() + r * (n + 1) + r, n + 1 - r, a.data() + r * pitch + r);
    // A little more on the diagonal, so that there is a solution, and a small one.
    a[r * pitch + r] += kRidge * a[r * pitch + r] + kRidgeStep * known_;
  }
  if (!HWY_DYNAMIC_DISPATCH(solve)(a.data(), n, x.data())) return;  // keep what was known
  double total = 0;
  for (size_t k = 0; k < n; ++k) {
    weights_[k] = C(x[k]);
    total += x[k];
  }
  guess_weight_ = C(1 - total);
  ready_ = true;
}

template <class C>
void LeastSquares<C>::apply(const C* const* taps, const C* guess, size_t count, C* out) const {
  weighted_sum(taps, weights_.data(), taps_, guess, guess_weight_, count, out);
}

template class LeastSquares<float>;
template class LeastSquares<double>;

}  // namespace leeway
#endif
