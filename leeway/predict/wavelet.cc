// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/wavelet.h"

#include <algorithm>
#include <limits>

#include "leeway/predict/wavelet/coefficients.h"
#include "leeway/predict/wavelet/lifting.h"

namespace leeway {
namespace {

using namespace wavelet;

constexpr i32 kNone = -9;

// Axes are halved while they have at least so many values; the first one perhaps longer.
constexpr u64 kLeast = 9, kLeastOnceMore = 5;

// The axes that may be halved: the last four.
size_t first_active(const Shape& shape) {
  return shape.rank() > kMostActive ? shape.rank() - kMostActive : 0;
}

template <class C>
u64 cost_of(const Wavelet::Choice& choice, Field<const C> sample, double step) {
  const Plan plan = Wavelet::plan_for(choice, sample.shape);
  const Bands bands = make_bands(sample.shape, plan);
  Buffer<C> values(sample.size());
  std::ranges::copy(sample.values(), values.data());
  forward(values.data(), sample.shape, bands, plan.filter);
  return cost(values.data(), sample.shape, bands, step);
}

}  // namespace

Plan Wavelet::plan_for(const Choice& choice, const Shape& shape) {
  Plan plan{.filter = choice.filter, .order = choice.order, .depth = {}};
  for (size_t axis = first_active(shape); axis < shape.rank(); ++axis)
    plan.depth[axis] = u8(depth_of(shape[axis], kLeast));
  if (shape.rank() == 0) return plan;
  const size_t first = first_active(shape);
  if (choice.more == kNone) plan.depth[first] = 0;
  if (choice.more > 0) plan.depth[first] = u8(depth_of(shape[first], kLeastOnceMore));
  return plan;
}

template <class C>
Wavelet::Choice Wavelet::choose(Field<const C> sample, double step) const {
  Choice best{u8(std::max(params.filter, 0)), Order(std::max(params.order, 0)), 0};
  const size_t rank = sample.shape.rank();
  u64 least = std::numeric_limits<u64>::max();
  const auto consider = [&](const Choice& choice) {
    const u64 found = cost_of(choice, sample, step);
    if (found >= least) return;
    least = found;
    best = choice;
  };
  consider(best);
  for (const Order order : {Order::packet, Order::tensor})
    if (params.order < 0 && rank >= (order == Order::packet ? 3 : 2)) {
      Choice other = best;
      other.order = order;
      consider(other);
    }
  if (rank > 1)
    for (const i32 more : {1, kNone}) {
      Choice other = best;
      other.more = more;
      if (!(plan_for(other, sample.shape) == plan_for(best, sample.shape))) consider(other);
    }
  if (params.filter < 0) {
    Choice other = best;
    other.filter = 1;
    consider(other);
  }
  return best;
}

template <class C>
bool Wavelet::encode(Field<C> values, const Plan& plan, double step, AnySink& codes,
                     Writer& notes) const {
  const Bands bands = make_bands(values.shape, plan);
  forward(values.data, values.shape, bands, plan.filter);
  if (!wavelet::encode(values.data, values.shape, bands, step, params.trade, codes, notes))
    return false;
  codes.finish();
  backward(values.data, values.shape, bands, plan.filter);
  return true;
}

template <class C>
void Wavelet::decode(Field<C> values, const Plan& plan, double step, AnySource& codes,
                     Reader& notes) const {
  const Bands bands = make_bands(values.shape, plan);
  wavelet::decode(values.data, values.shape, bands, step, codes, notes);
  backward(values.data, values.shape, bands, plan.filter);
}

template Wavelet::Choice Wavelet::choose(Field<const float>, double) const;
template Wavelet::Choice Wavelet::choose(Field<const double>, double) const;
template bool Wavelet::encode(Field<float>, const Plan&, double, AnySink&, Writer&) const;
template bool Wavelet::encode(Field<double>, const Plan&, double, AnySink&, Writer&) const;
template void Wavelet::decode(Field<float>, const Plan&, double, AnySource&, Reader&) const;
template void Wavelet::decode(Field<double>, const Plan&, double, AnySource&, Reader&) const;

}  // namespace leeway
