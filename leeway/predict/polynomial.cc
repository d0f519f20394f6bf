// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/polynomial.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "leeway/predict/polynomial.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace leeway::polynomial_kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// In eight sums, so that every host has the same; four terms at a time, so that they need not wait
// for each other.
template <size_t terms, class C>
HWY_INLINE void some_products(const C* HWY_RESTRICT values, const C* HWY_RESTRICT basis,
                              size_t size, C* HWY_RESTRICT out) {
  const hn::CappedTag<C, 8> d;
  constexpr size_t lanes = hn::MaxLanes(d), parts = 8 / lanes;
  hn::Vec<decltype(d)> sums[terms][parts];
  for (auto& sum : sums)
    for (auto& part : sum) part = hn::Zero(d);
  for (size_t i = 0; i < size; i += 8)
    for (size_t k = 0; k < parts; ++k) {
      const auto v = hn::LoadU(d, values + i + k * lanes);
      for (size_t t = 0; t < terms; ++t)
        sums[t][k] =
            hn::Add(sums[t][k], hn::Mul(v, hn::LoadU(d, basis + t * size + i + k * lanes)));
    }
  for (size_t t = 0; t < terms; ++t) {
    std::array<C, 8> eight;
    for (size_t k = 0; k < parts; ++k) hn::StoreU(sums[t][k], d, eight.data() + k * lanes);
    for (size_t j = 4; j > 0; j /= 2)
      for (size_t k = 0; k < j; ++k) eight[k] += eight[k + j];
    out[t] = eight[0];
  }
}
template <class C>
void products(const C* values, const C* basis, size_t terms, size_t size, C* out) {
  for (; terms >= 4; terms -= 4, basis += 4 * size, out += 4)
    some_products<4>(values, basis, size, out);
  for (; terms > 0; --terms, basis += size, ++out) some_products<1>(values, basis, size, out);
}

template <class C>
void weighted_sum(const C* HWY_RESTRICT weights, const C* HWY_RESTRICT basis, size_t terms,
                  size_t size, C* HWY_RESTRICT out) {
  for (size_t i = 0; i < size; i += 8) {
    std::array<C, 8> sums{};
    for (size_t t = 0; t < terms; ++t)
      for (size_t j = 0; j < 8; ++j) sums[j] += weights[t] * basis[t * size + i + j];
    for (size_t j = 0; j < 8; ++j) out[i + j] = sums[j];
  }
}

void products_f32(const float* values, const float* basis, size_t terms, size_t size, float* out) {
  products(values, basis, terms, size, out);
}
void products_f64(const double* values, const double* basis, size_t terms, size_t size,
                  double* out) {
  products(values, basis, terms, size, out);
}
void weighted_sum_f32(const float* weights, const float* basis, size_t terms, size_t size,
                      float* out) {
  weighted_sum(weights, basis, terms, size, out);
}
void weighted_sum_f64(const double* weights, const double* basis, size_t terms, size_t size,
                      double* out) {
  weighted_sum(weights, basis, terms, size, out);
}

}  // namespace leeway::polynomial_kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace leeway::polynomial_kernels {
HWY_EXPORT(products_f32);
HWY_EXPORT(products_f64);
HWY_EXPORT(weighted_sum_f32);
HWY_EXPORT(weighted_sum_f64);
}  // namespace leeway::polynomial_kernels

namespace leeway {
using namespace polynomial_kernels;

void kernel::products(const float* values, const float* basis, size_t terms, size_t size,
                      float* out) {
  HWY_DYNAMIC_DISPATCH(products_f32)(values, basis, terms, size, out);
}
void kernel::products(const double* values, const double* basis, size_t terms, size_t size,
                      double* out) {
  HWY_DYNAMIC_DISPATCH(products_f64)(values, basis, terms, size, out);
}
void kernel::weighted_sum(const float* weights, const float* basis, size_t terms, size_t size,
                          float* out) {
  HWY_DYNAMIC_DISPATCH(weighted_sum_f32)(weights, basis, terms, size, out);
}
void kernel::weighted_sum(const double* weights, const double* basis, size_t terms, size_t size,
                          double* out) {
  HWY_DYNAMIC_DISPATCH(weighted_sum_f64)(weights, basis, terms, size, out);
}

}  // namespace leeway
#endif
