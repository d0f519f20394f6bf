// SPDX-License-Identifier: BSD-3-Clause
// Neighbours: those of a value in an array of any rank, for authors of predictors. Borders are
// handled: what lies outside is 0.
//
//   walk_neighbours(field, coder, [](const auto& at) {
//     return at(0, -1) + at(-1, 0) - at(-1, -1);      // Lorenzo's rule in two dimensions
//   });
//
// Offsets belong to the last axes; axes without an offset stay where they are. In an array of fewer
// axes, neighbours along those that are missing are outside.
#pragma once

#include <array>
#include <bit>

#include "leeway/base/field.h"
#include "leeway/stage/coder.h"

namespace leeway {

template <class T>
class Neighbours {
 public:
  using P = Predicted<T>;

  // `known` says which values may be used, where they are not visited in row-major order; as long
  // as they are, it is null.
  explicit Neighbours(Field<T> field, const u8* known = nullptr) : field_(field), known_(known) {
    size_t step = 1;
    for (size_t axis = rank(); axis-- > 0; step *= size_t(field.shape[axis])) steps_[axis] = step;
  }

  size_t rank() const { return field_.shape.rank(); }
  // Where the value is.
  const Index& index() const { return index_; }
  T& value() const { return field_.data[place_]; }

  // A neighbour that is known: one that comes before the value.
  template <class... Offsets>
  P operator()(Offsets... offsets) const {
    constexpr size_t kCount = sizeof...(Offsets);
    const std::array<int, kCount> all{int(offsets)...};
    size_t place = place_;
    for (size_t k = 0; k < kCount; ++k) {
      const size_t from_last = kCount - 1 - k;
      if (from_last >= rank()) {
        if (all[k] != 0) return P(0);
        continue;
      }
      if (!moved(rank() - 1 - from_last, all[k], place)) return P(0);
    }
    return known_at(place);
  }
  // The value `steps` before along one axis, 0 the slowest.
  P back(size_t axis, int steps = 1) const {
    size_t place = place_;
    return axis < rank() && moved(axis, -steps, place) ? known_at(place) : P(0);
  }
  // What Lorenzo's rule says, in any rank: the corner of neighbours one step before.
  P lorenzo() const {
    P sum = 0;
    for (size_t corner = 1; corner < size_t(1) << rank(); ++corner) {
      size_t place = place_;
      bool inside = true;
      for (size_t axis = 0; axis < rank() && inside; ++axis)
        if (corner >> axis & 1) inside = moved(axis, -1, place);
      if (inside) sum = std::popcount(corner) % 2 ? sum + known_at(place) : sum - known_at(place);
    }
    return sum;
  }

  void move_to(const Index& index) {
    index_ = index;
    place_ = 0;
    for (size_t axis = 0; axis < rank(); ++axis) place_ += size_t(index[axis]) * steps_[axis];
  }
  size_t place() const { return place_; }
  // To the next value in row-major order.
  void next() {
    ++place_;
    for (size_t axis = rank(); axis-- > 0; index_[axis] = 0)
      if (++index_[axis] < field_.shape[axis]) return;
  }

 private:
  P known_at(size_t place) const {
    return (known_ ? known_[place] != 0 : place < place_) ? P(field_.data[place]) : P(0);
  }
  bool moved(size_t axis, int offset, size_t& place) const {
    const i64 to = i64(index_[axis]) + offset;
    if (to < 0 || to >= i64(field_.shape[axis])) return false;
    place = size_t(i64(place) + offset * i64(steps_[axis]));
    return true;
  }

  Field<T> field_;
  const u8* known_;
  std::array<size_t, kMaxRank> steps_{};
  Index index_{};
  size_t place_ = 0;
};

// Hands all values in row-major order to the coder, each with what predict(neighbours) says.
template <class T, class Predict>
void walk_neighbours(Field<T> field, auto& coder, Predict&& predict) {
  Neighbours<T> at(field);
  for (size_t i = 0; i < field.size(); ++i, at.next())
    coder.point(at.value(), predict(std::as_const(at)));
}

}  // namespace leeway
