// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/interp.h"

#include <algorithm>

#include "leeway/predict/maker.h"

namespace leeway {
namespace {

constexpr size_t kGiven = std::size(kTightness);  // bounds of levels are those of the recipe

}  // namespace

// What may be chosen, the usual first but for the tightness: that is in the middle.
struct Interp::Choices {
  std::vector<i32> orders, curves;
  std::vector<size_t> tights;
  bool is_open() const { return orders.size() + curves.size() + tights.size() > 3; }
};

Interp::Choices Interp::choices(const Shape& shape) const {
  const auto all = [](i32 given) {
    return given < 0 ? std::vector<i32>{0, 1} : std::vector<i32>{given};
  };
  Choices result{all(params.reverse), all(params.cubic), {0, 1, 2}};
  std::ranges::reverse(result.curves);  // cubics first
  if (shape.rank() < 2) result.orders.resize(1);
  if (params.alpha > 0) result.tights = {kGiven};
  return result;
}

Interp Interp::with(i32 reverse, i32 cubic, size_t tight_bounds) const {
  Interp result = *this;
  result.params.reverse = reverse;
  result.params.cubic = cubic;
  result.tight = tight_bounds;
  return result;
}

std::optional<Interp> Interp::maker(const Shape& shape, const Try& trial) const {
  // Larger steps first, for their multiples are multiples of smaller ones, too.
  const Choices open = choices(shape);
  std::vector<Interp> candidates;
  for (const size_t k : open.tights)
    for (const i32 order : open.orders)
      for (const i32 curve : open.curves) candidates.push_back(with(order, curve, k));
  return maker_of(shape, candidates, trial);
}

Interp Interp::settled(const Shape& shape, const Try& trial) const {
  const auto [orders, curves, tights] = choices(shape);
  const size_t usual = tights[tights.size() / 2];
  constexpr u64 kWorthATrial = 1024;  // values
  if (shape.size() < kWorthATrial || !choices(shape).is_open())
    return with(orders[0], curves[0], usual);
  // What certain settings have made must stay as it is.
  if (const auto made_by = maker(shape, trial)) return *made_by;

  const Sample sample = middle_sample(shape, std::clamp<u64>(shape.size() / 64, 16384, 131072));
  Interp best = with(orders[0], curves[0], usual);
  u64 least = trial(best, sample).cost;
  const auto consider = [&](const Interp& other) {
    const u64 cost = trial(other, sample).cost;
    if (cost >= least - least / 100) return;
    least = cost;
    best = other;
  };
  if (orders.size() > 1) consider(with(orders[1], curves[0], usual));
  if (curves.size() > 1) consider(with(best.params.reverse, curves[1], usual));
  for (const size_t k : tights)
    if (k != usual) consider(with(best.params.reverse, best.params.cubic, k));
  return best;
}

void Interp::write(Writer& side) const {
  side.put(u8(size_t(params.cubic | params.reverse << 1) | tight << 2));
}

Interp Interp::read(const Shape&, Reader& side) const {
  const u8 settings = side.get<u8>();
  Interp result = *this;
  result.params.cubic = settings & 1;
  result.params.reverse = settings >> 1 & 1;
  result.tight = settings >> 2;
  if (result.tight > kGiven || (result.tight == kGiven && params.alpha == 0))
    fail_corrupt("settings of the interpolation");
  return result;
}

double Interp::tightening(size_t level) const {
  const auto [alpha, beta] =
      tight < kGiven ? kTightness[tight] : Tightness{params.alpha, params.beta};
  return tightening_at(level + first_level, alpha, beta);
}

}  // namespace leeway
