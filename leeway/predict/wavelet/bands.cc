// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/predict/wavelet/bands.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

namespace leeway::wavelet {
namespace {

// Norms of what one coefficient of 1 becomes, by filter, by means or differences, by halvings.
constexpr double kNorms[kFilters][2][kMostDepth] = {
    {{1.30613692, 1.84044288, 2.60255324, 3.68055962, 5.20509717, 7.36111901, 10.4101943, 14.722238,
      20.8203887, 29.444476, 41.6407773, 58.8889521},
     {0.791282589, 0.973918714, 1.36804604, 1.9343962, 2.73564039, 3.86877951, 5.47128045,
      7.73755901, 10.9425609, 15.475118, 21.8851218, 30.950236}},
    {{1.32111041, 1.86578884, 2.63859679, 3.73153911, 5.27719321, 7.46307821, 10.5543864,
      14.9261564, 21.1087728, 29.8523128, 42.2175457, 59.7046257},
     {0.78039109, 0.978735738, 1.38065465, 1.95250333, 2.76125634, 3.90500617, 5.52251269,
      7.81001234, 11.0450254, 15.6200247, 22.0900507, 31.2400494}},
};

using Depths = std::array<u8, kMaxRank>;

// Extents of the means along an axis after each halving.
std::vector<u64> lengths_of(u64 extent, size_t depth) {
  std::vector<u64> lengths{extent};
  for (size_t l = 0; l < depth; ++l) lengths.push_back((lengths.back() + 1) / 2);
  return lengths;
}

// What the halvings of one group of axes leave.
struct Part {
  Depths depth{};
  u32 high = 0;
};

class Maker {
 public:
  Maker(const Shape& shape, const Plan& plan) : rank_(shape.rank()), plan_(plan) {
    for (size_t axis = 0; axis < rank_; ++axis)
      lengths_[axis] = lengths_of(shape[axis], plan.depth[axis]);
  }

  Bands make() {
    std::vector<Part> products{{}};
    for (const auto& group : groups()) {
      add_halvings(group);
      std::vector<Part> next;
      for (const Part& before : products)
        for (const Part& part : parts_of(group)) next.push_back(joined(before, part));
      products = std::move(next);
    }
    for (const Part& part : products) add_band(part);
    std::ranges::stable_sort(bands_.all, std::ranges::greater(), total_depth);
    find_relatives();
    return std::move(bands_);
  }

 private:
  std::vector<std::vector<size_t>> groups() const {
    std::vector<std::vector<size_t>> groups;
    for (size_t axis = 0; axis < rank_; ++axis) {
      if (plan_.depth[axis] == 0) continue;
      const bool is_alone = groups.empty() || plan_.order == Order::tensor ||
                            (plan_.order == Order::packet && groups.size() == 1);
      if (is_alone)
        groups.push_back({axis});
      else
        groups.back().push_back(axis);
    }
    return groups;
  }
  size_t deepest(const std::vector<size_t>& group) const {
    size_t most = 0;
    for (const size_t axis : group) most = std::max<size_t>(most, plan_.depth[axis]);
    return most;
  }

  // From fine to coarse, the last axis of a group first.
  void add_halvings(const std::vector<size_t>& group) {
    for (size_t l = 0; l < deepest(group); ++l)
      for (size_t i = group.size(); i-- > 0;) {
        if (l >= plan_.depth[group[i]]) continue;
        Halving halving{group[i], {}};
        for (size_t axis = 0; axis < rank_; ++axis) halving.extents[axis] = lengths_[axis][0];
        for (const size_t axis : group)
          halving.extents[axis] = lengths_[axis][std::min<size_t>(l, plan_.depth[axis])];
        bands_.halvings.push_back(halving);
      }
  }
  // From coarse to fine, those with few axes of differences first.
  std::vector<Part> parts_of(const std::vector<size_t>& group) const {
    std::vector<Part> parts(1);
    for (const size_t axis : group) parts[0].depth[axis] = plan_.depth[axis];
    for (size_t l = deepest(group); l-- > 0;) {
      u32 possible = 0;
      Depths depth{};
      for (const size_t axis : group) {
        if (l < plan_.depth[axis]) possible |= 1u << axis;
        depth[axis] = u8(std::min<size_t>(l + 1, plan_.depth[axis]));
      }
      std::vector<u32> sets;
      for (u32 set = 1; set <= possible; ++set)
        if ((set & ~possible) == 0) sets.push_back(set);
      std::ranges::stable_sort(sets, {}, [](u32 set) { return std::popcount(set); });
      for (const u32 set : sets) parts.push_back({depth, set});
    }
    return parts;
  }
  static Part joined(Part a, const Part& b) {
    for (size_t axis = 0; axis < kMaxRank; ++axis)
      a.depth[axis] = u8(a.depth[axis] + b.depth[axis]);
    a.high |= b.high;
    return a;
  }

  void add_band(const Part& part) {
    Band band{.extents = {}, .high = part.high, .depth = part.depth};
    size_t finest = 2;
    for (size_t axis = 0; axis < rank_; ++axis) {
      const size_t depth = part.depth[axis];
      const u64 means = lengths_[axis][depth];
      const bool high = part.high >> axis & 1;
      band.first[axis] = high ? means : 0;
      band.extents[axis] = high ? lengths_[axis][depth - 1] - means : means;
      if (depth > 0) band.norm *= kNorms[plan_.filter][high][depth - 1];
      if (high) finest = std::min(finest, depth - 1);
    }
    band.level = finest;
    if (band.size(rank_) > 0) bands_.all.push_back(std::move(band));
  }
  static size_t total_depth(const Band& band) {
    size_t total = 0;
    for (const u8 depth : band.depth) total += depth;
    return total;
  }

  void find_relatives() {
    std::map<std::pair<u32, Depths>, size_t> found;
    for (size_t i = 0; i < bands_.all.size(); ++i)
      found[{bands_.all[i].high, bands_.all[i].depth}] = i;
    std::map<Depths, std::vector<size_t>> alike;
    for (size_t i = 0; i < bands_.all.size(); ++i) {
      Band& band = bands_.all[i];
      if (band.high == 0) continue;
      for (const auto& group : groups()) {
        Parent parent{};
        if (const auto depth = depth_of_parent(band, group, parent))
          if (const auto at = found.find({band.high, *depth}); at != found.end()) {
            parent.band = at->second;
            band.parents.insert(band.parents.begin(), parent);
          }
      }
      if (band.parents.size() > 2) band.parents.resize(2);
      auto& siblings = alike[band.depth];
      band.siblings = siblings;
      siblings.push_back(i);
    }
  }
  // One halving more along all axes of the group that can have it.
  std::optional<Depths> depth_of_parent(const Band& band, const std::vector<size_t>& group,
                                        Parent& parent) const {
    size_t level = 0;
    bool any_high = false;
    for (const size_t axis : group) {
      level = std::max<size_t>(level, band.depth[axis]);
      any_high |= band.high >> axis & 1;
    }
    if (!any_high) return {};
    Depths depth = band.depth;
    for (const size_t axis : group) {
      const auto coarser = u8(std::min<size_t>(level + 1, plan_.depth[axis]));
      if ((band.high >> axis & 1) && coarser == band.depth[axis]) return {};
      parent.shift[axis] = u8(coarser - band.depth[axis]);
      depth[axis] = coarser;
    }
    return depth;
  }

  size_t rank_;
  const Plan& plan_;
  std::array<std::vector<u64>, kMaxRank> lengths_;
  Bands bands_;
};

}  // namespace

u64 Band::size(size_t rank) const {
  u64 product = 1;
  for (size_t axis = 0; axis < rank; ++axis) product *= extents[axis];
  return product;
}
size_t Band::high_axes() const { return size_t(std::popcount(high)); }

Bands make_bands(const Shape& shape, const Plan& plan) { return Maker(shape, plan).make(); }

size_t depth_of(u64 extent, u64 least) {
  size_t depth = 0;
  for (; extent >= least && depth < kMostDepth; ++depth) extent = (extent + 1) / 2;
  return depth;
}

void Plan::write(size_t rank, Writer& out) const {
  out.put(u8(filter | u8(order) << 1));
  for (size_t axis = 0; axis < rank; ++axis) out.put(depth[axis]);
}

Plan Plan::read(const Shape& shape, Reader& in) {
  Plan plan;
  const u8 head = in.get<u8>();
  if (head >> 1 >= kOrders) fail_corrupt("order of a wavelet");
  plan.filter = head & 1;
  plan.order = Order(head >> 1);
  size_t active = 0;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    plan.depth[axis] = in.get<u8>();
    if (plan.depth[axis] > depth_of(shape[axis], 2)) fail_corrupt("depth of a wavelet");
    active += plan.depth[axis] > 0;
  }
  if (active > kMostActive) fail_corrupt("axes of a wavelet");
  return plan;
}

}  // namespace leeway::wavelet
