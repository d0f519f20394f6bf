// SPDX-License-Identifier: BSD-3-Clause
// BestOf: for every block the best of several rules of prediction, which may be anybody's; the
// composite predictor of SZ3, for authors of predictors.
//
//   struct Slope {                                     // a rule
//     auto predict(const auto& at) const { return at(0, -1) + at(0, -1) - at(0, -2); }
//   };
//   struct Mine : leeway::BestOf<leeway::LorenzoRule, Slope> {
//     static constexpr std::string_view kName = "mine", kAbout = "Lorenzo, or along the slope";
//   };
//
// A rule gets the neighbours of a value (neighbours.h). Blocks are visited one after the other, and
// values of later blocks count as outside of the array. What a rule will cost is estimated from the
// original values of the block; estimated_bits() does so for anybody.
#pragma once

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "leeway/predict/block_costs.h"
#include "leeway/predict/neighbours.h"
#include "leeway/predict/number.h"
#include "leeway/stage/stage.h"

namespace leeway {

// The corner of neighbours before, in any rank.
struct LorenzoRule {
  auto predict(const auto& at) const { return at.lorenzo(); }
};
// The value before along one axis, counted from the slowest; the line through two of them.
struct BeforeRule {
  size_t axis = 0;
  auto predict(const auto& at) const { return at.back(axis); }
};
struct LineRule {
  size_t axis = 0;
  auto predict(const auto& at) const { return at.back(axis) + at.back(axis) - at.back(axis, 2); }
};

// A field in blocks, and which of its values are known.
template <class T>
class BlockOrder {
 public:
  BlockOrder(Field<T> field, size_t edge)
      : field_(field), edge_(edge), known_(field.size()), at_(field, known_.data()) {}

  // Calls f(box) for all blocks, in row-major order.
  template <class F>
  void for_each_block(F&& f) {
    if (field_.size() == 0) return;
    Box box;
    const size_t rank = field_.shape.rank();
    std::array<u64, kMaxRank> extents{};
    for (bool more = true; more;) {
      for (size_t axis = 0; axis < rank; ++axis)
        extents[axis] = std::min<u64>(edge_, field_.shape[axis] - box.first[axis]);
      box.shape = Shape(std::span<const u64>(extents.data(), rank));
      f(box);
      more = false;
      for (size_t axis = rank; axis-- > 0 && !more;) {
        box.first[axis] += edge_;
        more = box.first[axis] < field_.shape[axis];
        if (!more) box.first[axis] = 0;
      }
    }
  }
  // Calls f(neighbours) for the values of a block in order, each of which is known afterwards.
  template <class F>
  void visit(const Box& block, F&& f) {
    for_each_value(block, [&](u8& known) {
      f(std::as_const(at_));
      known = 1;
    });
  }
  // About how many bits the differences of a block to what a rule says will take, if quantized in
  // these steps. Afterwards the values of the block are not known yet.
  double estimated_bits(const Box& block, const auto& rule, double step) {
    using C = Number<T>;
    std::vector<C> differences;
    visit(block, [&](const auto& at) {
      differences.push_back(C(at.value()) - C(number_of(rule.predict(at))));
    });
    for_each_value(block, [](u8& known) { known = 0; });
    constexpr double kNoise = 0.5;  // of neighbours that were rounded
    return double(cost_of(differences.data(), differences.size(), step, kNoise)) /
           double(bits_as_cost(1));
  }

 private:
  template <class F>
  void for_each_value(const Box& block, F&& f) {
    for_each_outer(block.shape, 0, [&](const Index& inside) {
      Index index = inside;
      for (size_t axis = 0; axis < block.shape.rank(); ++axis) index[axis] += block.first[axis];
      at_.move_to(index);
      f(known_[at_.place()]);
    });
  }
  // Predictions of integers are modulo 2^64.
  static auto number_of(Predicted<T> p) {
    if constexpr (is_floating<T>)
      return p;
    else
      return T(p);
  }

  Field<T> field_;
  size_t edge_;
  std::vector<u8> known_;
  Neighbours<T> at_;
};

template <class... Rules>
struct BestOf {
  static_assert(sizeof...(Rules) >= 1 && sizeof...(Rules) <= 255);
  static constexpr Kind kKind = Kind::predictor;
  static constexpr Traits kTraits{
      .chunk_values = u64(1) << 18, .needs_step = true, .one_grid = true};
  struct Params {
    i32 block = 0;
    void fields(auto&& field) {
      field("block", block, 0, 1024, "edge of a block; 0: 128, 16, 6 by the number of axes");
    }
  } params;
  std::tuple<Rules...> rules{};

  template <class T, class Notes>
  void walk(Field<T> field, auto& coder, Notes& notes) const {
    static constexpr size_t kEdges[] = {128, 128, 16, 6};
    const size_t rank = field.shape.rank(),
                 edge = params.block ? size_t(params.block) : kEdges[std::min<size_t>(rank, 3)];
    BlockOrder<T> order(field, edge);
    order.for_each_block([&](const Box& block) {
      const u8 choice = chosen(order, block, coder.step(), notes);
      with_rule(choice, [&](const auto& rule) {
        order.visit(block, [&](const auto& at) { coder.point(at.value(), rule.predict(at)); });
      });
    });
  }

 private:
  template <class F>
  void with_rule(u8 number, F&& f) const {
    u8 k = 0;
    std::apply([&](const auto&... rule) { ((k++ == number ? f(rule) : void()), ...); }, rules);
  }
  template <class T>
  u8 chosen(BlockOrder<T>& order, const Box& block, double step, Writer& notes) const {
    u8 best = 0, k = 0;
    double least = 0;
    const auto look_at = [&](const auto& rule) {
      const double bits = order.estimated_bits(block, rule, step);
      if (k == 0 || bits < least) best = k, least = bits;
      ++k;
    };
    std::apply([&](const auto&... rule) { (look_at(rule), ...); }, rules);
    notes.put(best);
    return best;
  }
  template <class T>
  static u8 chosen(BlockOrder<T>&, const Box&, double, Reader& notes) {
    const u8 number = notes.get<u8>();
    if (number >= sizeof...(Rules)) fail_corrupt("there is no such rule");
    return number;
  }
};

}  // namespace leeway
