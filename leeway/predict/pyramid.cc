// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/pyramid.h"

#include <algorithm>
#include <bit>

#include "leeway/predict/maker.h"
#include "leeway/predict/pyramid/taps.h"

namespace leeway {
namespace {

constexpr i32 kUsualTile = 19;

// Finds settings by trials on samples of an array.
class Search {
 public:
  Search(const Pyramid& asked, const Shape& shape, const Pyramid::Try& trial)
      : asked_(asked),
        shape_(shape),
        trial_(trial),
        all_axes_((1 << shape.rank()) - 1),
        frozen_(sets_of_axes()) {
    if (asked.params.tight >= 0) tight_ = {asked.params.tight};
    taps_ = {can_learn(shape.size() / 4) ? asked.params.taps : 0};
    if (asked.params.gain > 0 && taps_[0] > 0) taps_.insert(taps_.begin(), 0);
  }

  Pyramid run() {
    constexpr u64 kWorthATrial = 256;  // values
    if (shape_.size() < kWorthATrial) return with(frozen_[0], tight_[0], taps_[0]);
    if (const auto made_by = settings_of_decoded()) return *made_by;
    return cheapest();
  }

  // Settings that leave the array as it is: it may have been decoded with them. Larger steps first,
  // as their multiples are multiples of smaller ones, too.
  std::optional<Pyramid> settings_of_decoded() const {
    std::vector<Pyramid> candidates;
    for (const i32 tight : tight_)
      for (const i32 taps : taps_)
        for (const i32 frozen : frozen_)
          if (tight == tight_[0] || frozen != all_axes_)  // in flat mode there is but one level
            candidates.push_back(with(frozen, tight, taps));
    return maker_of(shape_, candidates, trial_);
  }

 private:
  // The sets of axes that may be frozen: none, each alone, the two slowest, all.
  std::vector<i32> sets_of_axes() const {
    const size_t rank = shape_.rank();
    if (asked_.params.frozen >= 0) return {asked_.params.frozen & all_axes_};
    std::vector<i32> sets{0};
    if (rank <= 1) return sets;
    // Without taps all is done for speed, which many short rows would spoil.
    const size_t may_freeze = rank - (asked_.params.taps == 0);
    for (size_t axis = 0; axis < may_freeze; ++axis) sets.push_back(1 << axis);
    if (rank > 3) sets.push_back(3);
    sets.push_back(all_axes_);
    return sets;
  }
  // Whether a class of this many values teaches enough for a first solution.
  bool can_learn(u64 values_of_class) const {
    return values_of_class / u64(asked_.params.every) >= LeastSquares<float>::kSolveEvery;
  }
  Pyramid with(i32 frozen, i32 tight, i32 taps) const {
    Pyramid result = asked_;
    result.params.frozen = frozen;
    result.params.tight = tight;
    result.params.taps = frozen == all_axes_ && shape_.rank() > 1 && can_learn(shape_.size())
                             ? std::max(taps, std::min(asked_.params.taps, 10))
                             : taps;
    // Every tile would have to learn from nothing.
    if (asked_.params.tile < 0) result.params.tile = result.params.taps > 0 ? 0 : kUsualTile;
    return result;
  }

  u64 cost_of(i32 frozen, i32 tight, i32 taps, const Sample& sample) const {
    Pyramid quick = with(frozen, tight, taps);
    quick.params.every = std::min(quick.params.every, 2);  // a sample is too short to learn slowly
    return trial_(quick, sample).cost;
  }
  static bool is_less(u64 cost, u64 than, i32 percent) {
    return cost < than / 100 * u64(100 - percent);
  }

  // Leaves the two best of more sets of axes, by a small sample. Returns their costs if the large
  // sample would give the same.
  std::vector<u64> choose_two_sets(const Sample& small, const Sample& large) {
    if (frozen_.size() <= 2) return {};
    std::vector<std::pair<u64, i32>> order;
    for (const i32 frozen : frozen_)
      order.emplace_back(cost_of(frozen, tight_[0], taps_[0], small), frozen);
    std::ranges::sort(order);
    order.resize(2);
    std::ranges::sort(order, {}, &std::pair<u64, i32>::second);
    frozen_ = {order[0].second, order[1].second};
    if (small.shape == large.shape && taps_.size() == 1) return {order[0].first, order[1].first};
    return {};
  }

  // All sets of axes on a small sample, the best two on a larger one, then the other settings.
  Pyramid cheapest() {
    const bool thorough = asked_.params.gain == 0;
    const u64 values = thorough ? std::clamp<u64>(shape_.size() / 16, 16384, 131072)
                                : std::clamp<u64>(shape_.size() / 64, 16384, 32768);
    const Sample sample = middle_sample(shape_, values);
    const std::vector<u64> costs = choose_two_sets(middle_sample(shape_, values / 4), sample);
    i32 frozen = frozen_[0], tight = tight_[0], taps = taps_.back();
    if (frozen_.size() == 1 && taps_.size() == 1 && tight_.size() == 1)
      return with(frozen, tight, taps);
    u64 cost = costs.empty() ? cost_of(frozen, tight, taps, sample) : costs[0];
    if (frozen_.size() > 1) {
      const u64 other = costs.empty() ? cost_of(frozen_[1], tight, taps, sample) : costs[1];
      if (is_less(other, cost, 1)) cost = other, frozen = frozen_[1];
    }
    if (taps_.size() > 1) {
      const u64 plain = cost_of(frozen, tight, 0, sample);
      if (!is_less(cost, plain, asked_.params.gain)) cost = plain, taps = 0;
    }
    for (size_t i = 1; i < tight_.size(); ++i) {
      const u64 tighter = cost_of(frozen, tight_[i], taps, sample);
      if (!is_less(tighter, cost, 1)) break;
      cost = tighter, tight = tight_[i];
    }
    return with(frozen, tight, taps);
  }

  const Pyramid& asked_;
  const Shape& shape_;
  const Pyramid::Try& trial_;
  i32 all_axes_;
  // The candidates, the preferred ones first.
  std::vector<i32> frozen_, tight_{0, 1, 2}, taps_;
};

}  // namespace

u32 Pyramid::active_axes(const Shape& shape) const {
  u32 active = 0;
  size_t count = 0;
  for (size_t axis = shape.rank(); axis-- > 0;)
    if (!(params.frozen >> axis & 1) && count < kMaxActive) {
      active |= 1u << axis;
      ++count;
    }
  return active;
}

u32 Pyramid::frozen_axes(const Shape& shape) const {
  return ((1u << shape.rank()) - 1) & ~active_axes(shape);
}

size_t Pyramid::level_of_first(const Shape& shape) const {
  const u32 active = active_axes(shape);
  size_t level = 0;
  for (size_t axis = 0; axis < shape.rank(); ++axis)
    if (active >> axis & 1) level = std::max(level, size_t(std::bit_width(shape[axis] - 1)));
  return level;
}

size_t Pyramid::learned_levels() const { return params.taps > 0 ? pyramid::kLearnedLevels : 0; }

double Pyramid::tightening(size_t level) const {
  const auto [alpha, beta] = kTightness[std::max(params.tight, 0)];
  return tightening_at(level + first_level, alpha, beta);
}

Pyramid Pyramid::settled(const Shape& shape, const Try& trial) const {
  return Search(*this, shape, trial).run();
}

std::optional<Pyramid> Pyramid::maker(const Shape& shape, const Try& trial) const {
  return Search(*this, shape, trial).settings_of_decoded();
}

void Pyramid::write(Writer& side) const {
  side.put(u8(params.frozen));
  side.put(u8(params.tight));
  side.put(u8(params.taps));
  side.put(u8(params.tile));
}

Pyramid Pyramid::read(const Shape& shape, Reader& side) const {
  Pyramid result = *this;
  result.params.frozen = side.get<u8>();
  result.params.tight = side.get<u8>();
  result.params.taps = side.get<u8>();
  result.params.tile = side.get<u8>();
  if (result.params.frozen >> shape.rank() != 0 || result.params.tight > 2 ||
      size_t(result.params.taps) > kMostTaps || result.params.tile > kMostTile)
    fail_corrupt("settings of the pyramid");
  return result;
}

}  // namespace leeway
