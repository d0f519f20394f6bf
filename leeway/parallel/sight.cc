// SPDX-License-Identifier: BSD-3-Clause
#include "leeway/parallel/sight.h"

#include <map>

#include "leeway/choose/advise.h"
#include "leeway/choose/choose.h"
#include "leeway/engine/fills.h"

namespace leeway::parallel {
namespace {

// Moves a box of the array into one piece of memory of rank 0, which has the bytes of all values.
class BroughtToOne {
 public:
  BroughtToOne(const Team& team, DType dtype, const Box& box, std::span<const Held> held,
               std::span<const Block> blocks)
      : box_(box), values_(team.rank() == 0 ? size_t(box.shape.size() * size_of(dtype)) : 0) {
    const MutableView whole(reinterpret_cast<std::byte*>(values_.data()), dtype, box.shape);
    std::map<int, Bytes> parcels;  // from this rank, or by who sends them
    for (const Held& one : held) {
      if (!overlap(one.box, box)) continue;
      const Box both = intersection(one.box, box);
      const bool is_mine = one.rank == team.rank();
      if (is_mine && team.rank() == 0) {
        copy(inside(blocks[one.index], both), whole.part(shifted(both, box.first)));
      } else if (is_mine || team.rank() == 0) {
        Bytes& parcel = parcels[one.rank];
        const size_t start = parcel.size();
        parcel.resize(start + size_t(both.shape.size() * size_of(dtype)));
        if (is_mine) gather(inside(blocks[one.index], both), parcel.data() + start);
      }
    }
    std::vector<Team::Outgoing> outgoing;
    std::vector<Team::Incoming> incoming;
    for (auto& [rank, bytes] : parcels)
      if (team.rank() == 0)
        incoming.push_back({rank, bytes});
      else
        outgoing.push_back({0, bytes});
    team.exchange(outgoing, incoming, [] {});
    if (team.rank() > 0) return;
    std::map<int, size_t> read;
    for (const Held& one : held) {
      if (one.rank == 0 || !overlap(one.box, box)) continue;
      const Box both = intersection(one.box, box);
      size_t& at = read[one.rank];
      copy(View(reinterpret_cast<const std::byte*>(parcels.at(one.rank).data() + at), dtype,
                both.shape),
           whole.part(shifted(both, box.first)));
      at += size_t(both.shape.size() * size_of(dtype));
    }
  }
  View view(DType dtype) const {
    return {reinterpret_cast<const std::byte*>(values_.data()), dtype, box_.shape};
  }

 private:
  static Box shifted(Box box, const Index& origin) {
    for (size_t axis = 0; axis < box.shape.rank(); ++axis) box.first[axis] -= origin[axis];
    return box;
  }
  static View inside(const Block& block, const Box& box) {
    return block.view.part(shifted(box, block.first));
  }

  Box box_;
  Bytes values_;
};

}  // namespace

std::string recipe_for_all(const Team& team, DType dtype, const Shape& shape,
                           std::span<const Held> held, std::span<const Block> blocks,
                           const CompressOptions& options) {
  if (!looks_at_values(shape, options)) return options.recipe;
  const Summary all = summary_of_all(
      team, summary_of(blocks, dtype, declared_fills(options, dtype), options.execution), dtype);
  const BroughtToOne middle(team, dtype, middle_box(shape, kMiddleValues), held, blocks);
  Bytes name;
  if (team.rank() == 0) {
    const Choice choice = choose(Sight{dtype, shape, middle.view(dtype),
                                       [&] { return range_of_summary(all, dtype, options); }},
                                 options);
    name.assign(choice.recipe.begin(), choice.recipe.end());
  }
  team.bcast(name, 0);
  return {name.begin(), name.end()};
}

}  // namespace leeway::parallel
