// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/least_squares.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/predict/least_squares.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
  for (; i + lanes <= count; i += lanes) {
    auto s = hn::Mul(hn::LoadU(d, guess + i), w0);
    for (size_t t = 0; t < k; ++t)
      s = hn::Add(s, hn::Mul(hn::LoadU(d, taps[t] + i), hn::Set(d, weights[t])));
    hn::StoreU(s, d, out + i);
  }
  for (; i < count; ++i) {
    C s = guess[i] * guess_weight;
    for (size_t t = 0; t < k; ++t) s += taps[t][i] * weights[t];
    out[i] = s;
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

// Sum of a[i] * b[i] over 64 values: eight sums side by side, then those from the outside in.
template <class C>
double product_of(const C* HWY_RESTRICT a, const C* HWY_RESTRICT b) {
  C s[8] = {};
  for (size_t i = 0; i < 64; i += 8)
    for (size_t l = 0; l < 8; ++l) s[l] += a[i + l] * b[i + l];
  return double((s[0] + s[4]) + (s[2] + s[6])) + double((s[1] + s[5]) + (s[3] + s[7]));
}
template <class C>
void add_products(const C* plain, const C* weighted, size_t k, double* sums) {
  for (size_t r = 0; r < k; ++r)
    for (size_t c = r; c <= k; ++c)
      sums[r * (k + 1) + c] += product_of(weighted + 64 * r, plain + 64 * c);
}
void add_products_f32(const float* plain, const float* weighted, size_t k, double* sums) {
  add_products(plain, weighted, k, sums);
}
void add_products_f64(const double* plain, const double* weighted, size_t k, double* sums) {
  add_products(plain, weighted, k, sums);
}

}  // namespace leeway::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway {
namespace {

HWY_EXPORT(weighted_sum_f32);
HWY_EXPORT(weighted_sum_f64);
HWY_EXPORT(add_products_f32);
HWY_EXPORT(add_products_f64);

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
constexpr double kMemory = 3072;    // samples that count
constexpr double kInherited = 512;  // samples taken over from a coarser level
constexpr size_t kSolveEvery = 256;
constexpr double kRidge = 1e-5, kRidgeStep = 1e-4;

}  // namespace

template <class C>
LeastSquares<C>::LeastSquares(size_t taps)
    : taps_(taps), plain_(taps + 1), weighted_(taps), sums_(taps * (taps + 1)) {}

template <class C>
void LeastSquares<C>::inherit(const LeastSquares& other) {
  if (!(other.known_ > 0)) return;
  const double scale = std::min(1.0, kInherited / other.known_);
  for (size_t i = 0; i < sums_.size(); ++i) sums_[i] = other.sums_[i] * scale;
  known_ = other.known_ * scale;
  weights_ = other.weights_;
  guess_weight_ = other.guess_weight_;
  ready_ = other.ready_;
}

template <class C>
void LeastSquares<C>::sample(const C* const* taps, const C* guess, const C* predicted,
                             const C* values, const float* expected, size_t first,
                             C inverse_step) {
  // Differences in steps; what is far off or no number teaches nothing.
  const auto usable = [](C d) { return std::abs(d) < C(1e6) ? d : C(0); };
  std::array<C, kSampleGroup> weight;
  C* y = plain_[taps_].data() + waiting_;
  for (size_t i = 0; i < kSampleGroup; ++i) {
    const C error = usable((values[first + i] - predicted[first + i]) * inverse_step);
    const C e = usable(C(expected[first + i]));
    weight[i] = 1 / (C(0.5) * error * error + C(4) * e * e + C(0.25));
    y[i] = usable((values[first + i] - guess[first + i]) * inverse_step);
  }
  for (size_t k = 0; k < taps_; ++k) {
    C *plain = plain_[k].data() + waiting_, *weighted = weighted_[k].data() + waiting_;
    const C *tap = taps[k] + first, *g = guess + first;
    for (size_t i = 0; i < kSampleGroup; ++i) {
      plain[i] = usable((tap[i] - g[i]) * inverse_step);
      weighted[i] = plain[i] * weight[i];
    }
  }
  waiting_ += kSampleGroup;
  if (waiting_ == kBatch) add_batch();
}

template <class C>
void LeastSquares<C>::add_batch() {
  waiting_ = 0;
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

// Cholesky's decomposition, with a little added to the diagonal.
template <class C>
void LeastSquares<C>::solve() {
  const size_t n = taps_;
  std::array<std::array<double, kMostTaps>, kMostTaps> l;
  std::array<double, kMostTaps> x;
  const auto sum = [&](size_t r, size_t c) { return sums_[r * (n + 1) + c]; };
  for (size_t r = 0; r < n; ++r) {
    for (size_t c = 0; c <= r; ++c) {
      double s = sum(c, r);
      if (c == r) s += kRidge * s + kRidgeStep * known_;
      for (size_t k = 0; k < c; ++k) s -= l[r][k] * l[c][k];
      if (c < r)
        l[r][c] = s / l[c][c];
      else if (s > 0)
        l[r][r] = std::sqrt(s);
      else
        return;  // keep what was known
    }
    double s = sum(r, n);
    for (size_t k = 0; k < r; ++k) s -= l[r][k] * x[k];
    x[r] = s / l[r][r];
  }
  double total = 0;
  for (size_t r = n; r-- > 0;) {
    double s = x[r];
    for (size_t k = r + 1; k < n; ++k) s -= l[k][r] * x[k];
    x[r] = s / l[r][r];
    total += x[r];
  }
  for (size_t k = 0; k < n; ++k) weights_[k] = C(x[k]);
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
