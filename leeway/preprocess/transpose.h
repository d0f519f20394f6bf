// SPDX-License-Identifier: BSD-3-Clause
// Transpose: axes in another order, for predictors that look along the last one, like SZ3's
// pipeline for stacks of X-ray images, which vary less from image to image than inside one.
#pragma once

#include <array>

#include "leeway/base/export.h"
#include "leeway/stage/stage.h"

namespace leeway {

struct Transpose {
  static constexpr std::string_view kName = "transpose";
  static constexpr std::string_view kAbout = "axes in another order";
  static constexpr Kind kKind = Kind::preprocessor;
  static constexpr Traits kTraits{.moves_only = true};
  struct Params {
    i32 order = 0;
    void fields(auto&& field) {
      field("order", order, 0, 87654321,
            "numbers of the axes, 1 the slowest: 231 makes the first the fastest, where there are "
            "three longer than 1; 0: the smoothest becomes the fastest");
    }
    LEEWAY_EXPORT void check() const;
  } params;

  // Whether the order depends on the values.
  bool decides() const { return params.order == 0; }

  template <class T>
  void forward(Field<T>& field, std::vector<u8>& special, Writer& side) const {
    const Axes axes = params.order ? given(field.shape.rank()) : smoothest_last(field, special);
    side.put_array(std::span<const u8>(axes.data(), field.shape.rank()));
    const Shape before = field.shape;
    if (!special.empty()) permute(mutable_view_of(special.data(), before), axes);
    field.shape = permute(mutable_view_of(field.data, before), axes);
  }
  LEEWAY_EXPORT Shape inner_shape(const Shape& shape, Reader& side) const;
  template <class T>
  void backward(Field<T>& field, Reader& side) const {
    field.shape = permute_back(mutable_view_of(field.data, field.shape), side);
  }

 private:
  using Axes = std::array<u8, kMaxRank>;  // which axis comes first, second, ...
  LEEWAY_EXPORT Axes given(size_t rank) const;
  LEEWAY_EXPORT static Shape permute(const MutableView& values, const Axes& axes);
  LEEWAY_EXPORT static Shape permute_back(const MutableView& values, Reader& side);
  LEEWAY_EXPORT static Axes last(size_t rank, size_t axis);

  // Where neighbours differ least, in a sample.
  template <class T>
  static Axes smoothest_last(const Field<T>& field, const std::vector<u8>& special) {
    const size_t rank = field.shape.rank();
    if (rank < 2 || field.size() == 0) return last(rank, rank - 1);
    const Strides strides = contiguous_strides(field.shape, 1);
    std::array<double, kMaxRank> sums{};
    constexpr size_t kSamples = 4096;
    const size_t step = std::max<size_t>(1, field.size() / kSamples) | 1;
    for (size_t axis = 0; axis < rank; ++axis) {
      size_t count = 0;
      for (size_t i = 0; i < field.size(); i += step) {
        const auto distance = size_t(strides[axis]);
        if (i / distance % field.shape[axis] == 0) continue;
        if (!special.empty() && (special[i] || special[i - distance])) continue;
        sums[axis] += std::abs(double(field.data[i]) - double(field.data[i - distance]));
        ++count;
      }
      sums[axis] /= double(std::max<size_t>(count, 1));
    }
    size_t best = rank - 1;
    for (size_t axis = 0; axis < rank; ++axis)
      if (sums[axis] < kGain * sums[best]) best = axis;
    return last(rank, best);
  }
  static constexpr double kGain = 0.95;  // differences must shrink to this part to move values
};

}  // namespace leeway
